/* Finds loaded classes of the JVM by name, for the Java code that reads the memory pools of other libraries. Only
 * threads of the JVM may call this. */
#ifndef MALLOMETER_JVM_LOADED_CLASSES_H
#define MALLOMETER_JVM_LOADED_CLASSES_H

#include <jvmti.h>

/*
 * Returns an array of java.lang.Class with the initialized classes, of all class loaders, whose signature ends with
 * one of `endings` (strings such as "/buffer/ByteBufUtil;"). Returns NULL without a JVM, or if the JVM refuses. Loads
 * no class and runs no Java code. May allocate.
 */
jobjectArray loaded_classes(JNIEnv *thread, jobjectArray endings);

#endif
