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
   * Returns where the used part of the range from `begin` to *end ends. The range shall not cross the end of a region
   * or space of the heap, so that it has at most one free part. If the region or space that contains `begin` ends
   * before *end, its end is therefore first stored in *end. Memory outside of the heap counts as used.
   */
  uintptr_t (*used)(enum memory_copying by, uintptr_t begin, uintptr_t *end);
  bool (*is_unmoved)(enum memory_copying by);
};

#endif
