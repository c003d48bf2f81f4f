/* The identity and state of threads, and the start of a thread of this library. */
#ifndef MALLOMETER_PLATFORM_THREAD_H
#define MALLOMETER_PLATFORM_THREAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The bytes of a thread's name, including NUL. */
#define THREAD_NAME_BYTES 16

/* Returns the kernel's ID of the calling thread. Preserves errno; may be called inside of malloc and in signal
 * handlers. */
uint32_t thread_id(void);

/* Makes no system call. Returns 0 if the C library does not store the ID. */
uint32_t thread_id_known(void);

/* Stores at most `capacity` thread IDs of this process in `ids`, and returns their number; 0 if the kernel does not
 * report the threads. Does not allocate. May change errno. */
size_t thread_ids(uint32_t *ids, size_t capacity);

/* Returns the address of a thread's list of robust locks (set_robust_list(2)); 0 if there is none, or the kernel
 * does not report it. glibc has the list at the same offset in each thread's control block. May change errno. */
uintptr_t thread_robust_list(uint32_t id);

struct waiting_thread {
  long call;
  uintptr_t arguments[6];
  uintptr_t stack_pointer, pc;
};

/* Describes a waiting thread without stopping it. Returns false if the thread is running or has ended, or if the
 * kernel does not describe it. May change errno. */
bool thread_waits(uint32_t id, struct waiting_thread *thread);

/*
 * Returns whether another thread of this process sleeps until an event or a signal, or has ended. A thread that waits
 * for memory does not count, because it may be in the middle of malloc. Returns false if the state is unknown. Does
 * not allocate. May change errno.
 */
bool thread_sleeps(uint32_t id);

/*
 * Returns whether a waiting thread has stored all callee-saved registers on its stack. pthread_cond_wait(3) stores
 * these registers first, so a thread that waits for a condition, such as a parked thread of a JVM, has stored them.
 * `words` is the thread's stack from its stack pointer on. The first call enters the loader. Only one thread may call
 * this at a time.
 */
bool thread_has_stored_registers(const struct waiting_thread *thread, const uintptr_t *words, size_t count);

/* Copies the calling thread's name; empty if unknown. Preserves errno; may be called inside of malloc and in signal
 * handlers. */
void thread_name(char name[THREAD_NAME_BYTES]);

/* The name is empty if the kernel does not report it. May change errno. */
void thread_name_of(uint32_t id, char name[THREAD_NAME_BYTES]);

/* A longer name is cut off. */
void thread_set_name(const char *name);

/*
 * Starts a detached thread that blocks all signals. Returns the size of its stack: `stack_bytes` plus the bytes that
 * the C library needs; 0 if the thread cannot be started. Allocates and enters the loader. Must not be called in
 * signal handlers.
 */
size_t thread_start(void *(*run)(void *), size_t stack_bytes);

#endif
