/*
 * A thread of the library that is attached to the JVM, so it may ask the JVM for names and wait for a safepoint. It
 * sleeps until java_thread_wake() is called. It is a daemon, so the JVM can end while it runs. No other thread of the
 * library waits for its work.
 */
#ifndef MALLOMETER_JVM_JAVA_THREAD_H
#define MALLOMETER_JVM_JAVA_THREAD_H

#include <jni.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Starts the thread, which calls `work` each time that it is woken. Does nothing if the thread runs already, if
 * `jvm` is NULL, if the JVM has refused to attach the thread, or if the JVM has ended. Only one thread may call
 * this. Allocates. */
void java_thread_start(JavaVM *jvm, void (*work)(void));

/* Wakes the thread. Must not be called inside of malloc. Does nothing without the thread. */
void java_thread_wake(void);

/* Makes the thread leave the JVM and end. Does not wait for the thread. */
void java_thread_end(void);

/* Ends the thread for good, because the JVM ends. Waits at most a tenth of a second. */
void java_thread_close_and_wait(void);

void java_thread_forked(void);

/* Returns the CPU time of all threads that java_thread_start() has started, in nanoseconds. */
uint64_t java_thread_overhead_ns(void);

/* Returns the bytes of the thread's stack; 0 without a thread. */
size_t java_thread_footprint(void);

#endif
