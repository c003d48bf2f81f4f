/* The move of a sampled object into a slot, where accesses are observed (src/leak), before its program has seen it. */
#ifndef MALLOMETER_SAMPLE_MOVE_H
#define MALLOMETER_SAMPLE_MOVE_H

#include <stddef.h>

struct move {
  /* The alignment of the new address, a power of two; 0: the object must not be moved. */
  size_t alignment;
  /* The leading bytes that the program wrote; the rest is zero or undefined. */
  size_t contents;
};

#endif
