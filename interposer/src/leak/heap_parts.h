/*
 * Functions by which a search of memory learns about a heap that moves objects and does not clear its free parts (a
 * Java heap). The caller that starts the search supplies the functions. The argument `by` says how a function reads
 * memory.
 */
#ifndef MALLOMETER_LEAK_HEAP_PARTS_H
#define MALLOMETER_LEAK_HEAP_PARTS_H

#include <stdbool.h>
#include <stdint.h>

#include "platform/resident_memory.h"

struct heap_parts {
  /* Stores the number of collections so far, for is_unmoved(). Returns false if a collection is under way. */
  bool (*begin)(enum memory_copying by);
  /*
   * Returns where the used part of the range from `begin` to *end ends: no object lies from there to *end. Lowers *end
   * if a region or space of the heap ends before *end, so that the range has at most one free part. Returns *end for
   * memory outside of the heap.
   */
  uintptr_t (*used)(enum memory_copying by, uintptr_t begin, uintptr_t *end);
  /* Returns whether no collection has begun since begin(). */
  bool (*is_unmoved)(enum memory_copying by);
};

#endif
