/*
 * The place of an allocation in the program. The hook records it at its first instruction; it distinguishes stacks and
 * call paths.
 */
#ifndef MALLOMETER_SAMPLE_ORIGIN_H
#define MALLOMETER_SAMPLE_ORIGIN_H

struct origin {
  /* The return address into the calling code. */
  const void *caller;
  /* The end of that code's stack at the call, just above the return address. */
  const void *stack;
};

#endif
