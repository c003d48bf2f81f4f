/* Reads the address ranges of the stacks of Java threads from the JVM's structures. Only threads of the JVM may call
 * this function. */
#ifndef MALLOMETER_JVM_THREAD_STACKS_H
#define MALLOMETER_JVM_THREAD_STACKS_H

#include <jni.h>

/*
 * Returns two numbers for each of `threads` (java.lang.Thread): the lowest address of its stack, and the address
 * after the highest. Both are 0 if they are unknown, for example if the thread has ended. Returns NULL if this JVM
 * does not describe its threads, or if the process may not read its own memory by a system call. Runs no Java code.
 * Only one thread may call this at a time.
 */
jlongArray thread_stacks(JNIEnv *thread, jobjectArray threads);

#endif
