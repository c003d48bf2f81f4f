/* Threads of the library's own: left out of all sums, deaf to signals, which are the program's, and of a small stack.
 */
#ifndef MALLOMETER_ACCOUNT_OWN_THREAD_H
#define MALLOMETER_ACCOUNT_OWN_THREAD_H

#include <stddef.h>

/*
 * Starts one that nobody joins, and that begins with own_thread_begins(). Returns the bytes of its stack; 0 if it
 * cannot be started. Not for signal handlers.
 */
size_t own_thread_start(void *(*run)(void *));

void own_thread_begins(const char *name);

/* The last that it does, if it ends before the process. */
void own_thread_ends(void);

#endif
