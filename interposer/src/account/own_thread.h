/* The library's own threads: their events are in no sum, they block all signals, and their stack is small. */
#ifndef MALLOMETER_ACCOUNT_OWN_THREAD_H
#define MALLOMETER_ACCOUNT_OWN_THREAD_H

#include <stddef.h>

/*
 * Starts a detached thread, which first calls own_thread_begin(). Returns the bytes of its stack; 0 if it cannot be
 * started. Not for signal handlers.
 */
size_t own_thread_start(void *(*run)(void *));

/* Starts such a thread with so many bytes of stack, for code of the JVM. */
size_t own_thread_start_with(void *(*run)(void *), size_t stack_bytes);

void own_thread_begin(const char *name);

/* Called last by a thread that ends before the process. */
void own_thread_end(void);

#endif
