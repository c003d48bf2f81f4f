/*
 * Where in the program an allocation was asked for: what the hook takes down at its first instruction, and what stacks
 * and call paths are told apart by.
 */
#ifndef MALLOMETER_SAMPLE_ORIGIN_H
#define MALLOMETER_SAMPLE_ORIGIN_H

struct origin {
  /* The return address into the calling code. */
  const void *caller;
  /* Where that code's stack ends then, just above the return address. */
  const void *stack;
};

#endif
