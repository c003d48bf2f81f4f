/*
 * Finds the stack that the system gave the calling thread, without a system call or a lock, so that it works inside
 * of malloc.
 *
 * glibc's pthread_getattr_np() would allocate. Instead, the stack's beginning and size are searched in the thread's
 * control block, which lies at the top of the stack: their sum must be an address right after the control block,
 * which is checked in each thread. musl's function is called, because it only copies words. The process's first
 * thread has a stack of the kernel, which may grow up to the RLIMIT_STACK of the start of the process. With other C
 * libraries, the stacks of later threads are unknown.
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
