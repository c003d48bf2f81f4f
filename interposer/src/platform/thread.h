/* The identity and state of the process's threads, and the start of a thread of the library. */
#ifndef MALLOMETER_PLATFORM_THREAD_H
#define MALLOMETER_PLATFORM_THREAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The bytes of a thread's name, with NUL. */
#define THREAD_NAME_BYTES 16

/* Returns the kernel's ID of the calling thread. Preserves errno; may be called inside of malloc and in signal
 * handlers. */
uint32_t thread_id(void);

/* Returns the kernel's ID of the calling thread without a system call; 0 if the C library does not store it. */
uint32_t thread_id_known(void);

/*
 * Copies the IDs of the process's threads, at most `capacity`. Returns the count; 0 if the kernel does not report them.
 * Does not allocate. May change errno.
 */
size_t thread_ids(uint32_t *ids, size_t capacity);

/*
 * Returns the address of a thread's list of robust locks (set_robust_list(2)), which glibc has at the same offset in
 * each thread's control block. Returns 0 if the thread has none, or if the kernel does not report it. May change errno.
 */
uintptr_t thread_robust_list(uint32_t id);

/* A thread that waits in a system call. */
struct waiting_thread {
  long call;
  uintptr_t arguments[6];
  uintptr_t stack_pointer, pc;
};

/*
 * Describes another thread of this process without stopping it. Returns false if the thread is running or has ended, or
 * if the kernel does not describe it. May change errno.
 */
bool thread_waits(uint32_t id, struct waiting_thread *thread);

/*
 * Returns whether another thread of this process sleeps until an event or a signal, or has ended. A thread that waits
 * for memory or for the lock of the address space, as in the middle of malloc, does not sleep. Returns false if the
 * kernel does not report the state. Does not allocate. May change errno.
 */
bool thread_sleeps(uint32_t id);

/*
 * Returns whether a waiting thread has stored all callee-saved registers on its stack. This is so if the thread waits
 * for a condition (pthread_cond_wait(3), as a parked thread of a JVM does) and the C library's code for that begins by
 * storing these registers. `words` are the words of the thread's stack from its stack pointer on. The first call enters
 * the loader. Only one thread may call this at a time.
 */
bool thread_has_stored_registers(const struct waiting_thread *thread, const uintptr_t *words, size_t count);

/* Copies the calling thread's name, NUL-terminated; empty if unknown. Preserves errno; may be called inside of malloc
 * and in signal handlers. */
void thread_name(char name[THREAD_NAME_BYTES]);

/* Copies the name of another thread of this process; empty if the kernel does not report it. May change errno. */
void thread_name_of(uint32_t id, char name[THREAD_NAME_BYTES]);

/* Names the calling thread; a longer name is cut off. */
void thread_set_name(const char *name);

/*
 * Starts a detached thread that blocks all signals. Its stack has this many bytes plus those that the C library needs
 * there. Returns the size of the stack; 0 if the thread cannot be started, as in a process without threads. Allocates
 * and enters the loader. Must not be called in signal handlers.
 */
size_t thread_start(void *(*run)(void *), size_t stack_bytes);

#endif
