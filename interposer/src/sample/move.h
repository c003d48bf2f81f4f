/* Describes how a sampled object may be moved to pages of its own (a slot, leak/slots.h) before the program receives
 * its address. Accesses to objects in slots are observed. */
#ifndef MALLOMETER_SAMPLE_MOVE_H
#define MALLOMETER_SAMPLE_MOVE_H

#include <stddef.h>

struct move {
  /* The alignment that the new address needs, a power of two; 0 if the object must not be moved. */
  size_t alignment;
  /* The number of bytes at the beginning that the program may have written; the rest is zero or undefined. */
  size_t contents;
};

#endif
