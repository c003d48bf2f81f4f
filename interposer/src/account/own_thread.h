/* The library's own threads. Their events are not counted, they block all signals, and their stacks are small. */
#ifndef MALLOMETER_ACCOUNT_OWN_THREAD_H
#define MALLOMETER_ACCOUNT_OWN_THREAD_H

#include <stddef.h>

/* Starts a detached thread with a stack of 128 KiB. Returns the bytes of the stack, or 0 if the thread cannot be
 * started. `run` must first call own_thread_begin(). Must not be called in signal handlers. */
size_t own_thread_start(void *(*run)(void *));

/* Starts a thread with a given stack size, for threads that run code of the JVM. */
size_t own_thread_start_with(void *(*run)(void *), size_t stack_bytes);

void own_thread_begin(const char *name);

/* Must be the last call of a thread of the library, if the thread ends before the process. */
void own_thread_end(void);

#endif
