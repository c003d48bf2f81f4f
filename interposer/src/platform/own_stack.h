/*
 * Where the stack lies that the system gave the calling thread, known without asking the kernel or taking a lock, so
 * that it is known inside of malloc too: pthread_getattr_np() allocates.
 *
 * A thread's control block lies at the top of its stack, and in it the C library keeps where the stack begins and how
 * large it is. Which of its words these are is found by what they say: together they must end right behind the control
 * block itself, in each thread anew. The process's first thread has the kernel's stack, which may grow as far as
 * RLIMIT_STACK said when the process started. Where neither is so, such as with a C library that keeps other books,
 * nothing is known.
 */
#ifndef MALLOMETER_PLATFORM_OWN_STACK_H
#define MALLOMETER_PLATFORM_OWN_STACK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct own_stack {
  uintptr_t begin; /* what is below is a guard page, or somebody else's */
  uintptr_t end;   /* from the stack pointer up to here all can be read */
};

/* Called once at start. Enters the loader. */
void own_stacks_start(void);

/*
 * Sets `own`. False if it does not hold the address `stack`, which is one of the stack that the thread is on: that of a
 * coroutine or a signal handler then, or nothing is known.
 */
bool own_stack_holds(uintptr_t stack, struct own_stack *own);

/* Bytes of the thread's own stack below that address; 0 if it does not hold it. */
size_t own_stack_left(uintptr_t stack);

/* The most that the kernel puts on a stack before a signal handler runs there, as the processor has registers. */
size_t signal_frame_bytes(void);

#endif
