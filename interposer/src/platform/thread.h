/*
 * Threads: who the calling one is, and how the library starts one of its own beside the program's.
 */
#ifndef MALLOMETER_PLATFORM_THREAD_H
#define MALLOMETER_PLATFORM_THREAD_H

#include <stddef.h>
#include <stdint.h>

/* Of a thread's name, NUL included. */
#define THREAD_NAME_BYTES 16

/* The system's number of the calling thread. Keeps errno; may be called inside of malloc and in signal handlers. */
uint32_t thread_id(void);

/* The same without a system call, for threads that may make none; 0 if the C library does not tell. */
uint32_t thread_id_known(void);

/* The numbers of the process's threads, at most `capacity`. Returns how many; 0 if the kernel does not tell. Allocates
 * nothing. May change errno. */
size_t thread_ids(uint32_t *ids, size_t capacity);

/*
 * Where a thread of this process has its list of locks that are released when it ends (set_robust_list(2)), which glibc
 * keeps at the same place of each thread's description. 0 if it has none, does not exist, or the kernel does not tell.
 * May change errno.
 */
uintptr_t thread_robust_list(uint32_t id);

/* Copies the calling thread's name, NUL-terminated; empty if unknown. As thread_id(). */
void thread_name(char name[THREAD_NAME_BYTES]);

/* Names the calling thread; what is longer than a name may be is cut off. */
void thread_set_name(const char *name);

/*
 * Starts a thread that nobody joins, that blocks all signals, and that has so many bytes of stack beside what the C
 * library puts there. Returns the bytes of its stack in all; 0 if it cannot be started, as in a process without
 * threads. Allocates, and enters the loader. Not for signal handlers.
 */
size_t thread_start(void *(*run)(void *), size_t stack_bytes);

#endif
