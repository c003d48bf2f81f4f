/*
 * How a sampled object may be moved before its program has seen it: to where its use can be observed (src/leak), which
 * needs to know what must come along.
 */
#ifndef MALLOMETER_SAMPLE_MOVE_H
#define MALLOMETER_SAMPLE_MOVE_H

#include <stddef.h>

struct move {
  /* That of its new address, a power of two; 0: it stays. */
  size_t alignment;
  /* The program's bytes in it, from its begin; the rest is zero or indeterminate. */
  size_t contents;
};

#endif
