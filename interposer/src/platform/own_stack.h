/*
 * Finds the stack that the system gave the calling thread. Makes no system call and takes no lock, so it works inside
 * of malloc.
 *
 * With glibc, pthread_getattr_np() would allocate. Instead, the thread's control block, which lies at the top of the
 * stack, is searched for the stack's lowest address and size. Their sum must lie a little above the address of the
 * control block; this is checked in each thread. With musl, pthread_getattr_np() is called, because it only copies
 * words. With other C libraries, only the stack of the process's first thread is known.
 *
 * The process's first thread runs on the stack that the kernel maps at execve(2). This stack may grow up to the
 * RLIMIT_STACK of the start of the process.
 */
#ifndef MALLOMETER_PLATFORM_OWN_STACK_H
#define MALLOMETER_PLATFORM_OWN_STACK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct own_stack {
  uintptr_t begin; /* a guard page or other memory lies below it */
  uintptr_t end;   /* the memory from the stack pointer up to here can be read */
};

/* Call this once, at the start. Enters the loader. */
void own_stacks_start(void);

/* Sets `own` to the thread's own stack. `stack` is an address in the current stack. Returns false if the thread's own
 * stack is unknown, or if the thread runs on another stack (coroutine, signal handler). */
bool own_stack_at(uintptr_t stack, struct own_stack *own);

/* Returns the bytes of the thread's own stack below the address; 0 if the address is not in it. */
size_t own_stack_left(uintptr_t stack);

/* Returns the most bytes that the kernel stores on a stack before a signal handler runs. They depend on the
 * processor's registers. */
size_t signal_frame_bytes(void);

#endif
