/* The place where the program called an allocation function, which the hook reads at its first instruction. Stack
 * walks of samples begin there. */
#ifndef MALLOMETER_SAMPLE_ORIGIN_H
#define MALLOMETER_SAMPLE_ORIGIN_H

struct origin {
  const void *caller;
  /* The stack pointer of the calling code before the call: the lowest address of its stack frame. */
  const void *stack;
};

#endif
