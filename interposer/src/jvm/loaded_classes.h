/* Finds loaded classes of the JVM by name, for the Java code that reads the memory pools of other libraries. Only
 * threads of the JVM may call this function. */
#ifndef MALLOMETER_JVM_LOADED_CLASSES_H
#define MALLOMETER_JVM_LOADED_CLASSES_H

#include <jvmti.h>

/*
 * Returns the initialized classes of all class loaders whose signature ends with one of `endings` (an array of strings
 * such as "/buffer/ByteBufUtil;"), as an array of java.lang.Class. NULL without a JVM, or if the JVM refuses. It loads
 * and initializes no class, and runs no Java code. May allocate: the JVM copies each signature.
 */
jobjectArray loaded_classes(JNIEnv *thread, jobjectArray endings);

#endif
