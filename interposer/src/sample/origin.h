/* The place where the program called an allocation function. The hook reads this place at its first instruction.
 * Samples walk the stack from there, and the sampler distinguishes call paths by the place. */
#ifndef MALLOMETER_SAMPLE_ORIGIN_H
#define MALLOMETER_SAMPLE_ORIGIN_H

struct origin {
  /* The return address into the calling code. */
  const void *caller;
  /* The stack pointer of the calling code before the call: the lowest address of its stack frame. */
  const void *stack;
};

#endif
