/* The program's call of an allocation function: its return address and stack pointer. The hook of the function reads
 * both on entry, and the stack walk of a sample begins there. */
#ifndef MALLOMETER_SAMPLE_ORIGIN_H
#define MALLOMETER_SAMPLE_ORIGIN_H

struct origin {
  const void *caller;
  /* The stack pointer of the calling code before the call: the lowest address of its stack frame. */
  const void *stack;
};

#endif
