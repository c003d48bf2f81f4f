/* Threads: identity and state of the process's threads, and starting a thread of the library. */
#ifndef MALLOMETER_PLATFORM_THREAD_H
#define MALLOMETER_PLATFORM_THREAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The bytes of a thread's name, with NUL. */
#define THREAD_NAME_BYTES 16

/* Returns the system's number of the calling thread. Keeps errno; also for use inside of malloc and signal handlers. */
uint32_t thread_id(void);

/* Returns the system's number of the calling thread without a system call; 0 if the C library does not have it. */
uint32_t thread_id_known(void);

/*
 * Copies the numbers of the process's threads, at most `capacity`. Returns the count; 0 if the kernel does not report
 * them. Allocates nothing. May change errno.
 */
size_t thread_ids(uint32_t *ids, size_t capacity);

/*
 * Returns the address of a thread's list of locks that are released when it ends (set_robust_list(2)), which glibc
 * keeps at the same offset of each thread's control block; 0 if it has none, or the kernel does not report it. May
 * change errno.
 */
uintptr_t thread_robust_list(uint32_t id);

/* A thread that waits in a system call. */
struct waiting_thread {
  long call;
  uintptr_t arguments[6]; /* arguments of the call */
  uintptr_t stack_pointer, pc;
};

/*
 * Describes another thread of this process, without stopping it. Returns false if it runs, has ended, or the kernel
 * does not describe it. May change errno.
 */
bool thread_waits(uint32_t id, struct waiting_thread *thread);

/*
 * Returns whether a waiting thread has stored all callee-saved registers on its stack. That is so if it waits for a
 * condition (pthread_cond_wait(3), as a parked thread of a JVM does), and the C library's code for that begins by
 * storing them. `words` are the top of its stack. The first call enters the loader. Only one thread may call this at a
 * time.
 */
bool thread_has_stored_registers(const struct waiting_thread *thread, const uintptr_t *words, size_t count);

/* Copies the calling thread's name, NUL-terminated; empty if unknown. May be called where thread_id() may be. */
void thread_name(char name[THREAD_NAME_BYTES]);

/* Copies the name of another thread of this process; empty if the kernel does not report it. May change errno. */
void thread_name_of(uint32_t id, char name[THREAD_NAME_BYTES]);

/* Names the calling thread; a longer name is cut off. */
void thread_set_name(const char *name);

/*
 * Starts a detached thread that blocks all signals, with this many bytes of stack plus those that the C library needs
 * there. Returns the size of its stack; 0 if it cannot be started, as in a process without threads. Allocates, and
 * enters the loader. Not for signal handlers.
 */
size_t thread_start(void *(*run)(void *), size_t stack_bytes);

#endif
