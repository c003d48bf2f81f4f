/* Functions that describe a heap with moving objects, such as the Java heap, to a search of memory. The caller that
 * starts the search supplies them. The argument `by` says how a function reads memory. */
#ifndef MALLOMETER_LEAK_HEAP_PARTS_H
#define MALLOMETER_LEAK_HEAP_PARTS_H

#include <stdbool.h>
#include <stdint.h>

#include "platform/resident_memory.h"

struct heap_parts {
  /* Stores the number of collections so far, for a later is_unmoved(). Returns false if a collection is under way. */
  bool (*begin)(enum memory_copying by);
  /*
   * Returns where the used part of the range from `begin` to *end ends. Memory outside of the heap counts as used.
   *
   * A range that goes beyond the region or space of the heap in which `begin` lies could have several free parts. This
   * function therefore first lowers *end to the end of that region or space.
   */
  uintptr_t (*used)(enum memory_copying by, uintptr_t begin, uintptr_t *end);
  bool (*is_unmoved)(enum memory_copying by);
};

#endif
