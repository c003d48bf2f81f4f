/*
 * The free chunks on both sides of an object in glibc's heap.
 *
 * glibc joins free chunks that touch, so each lies between two objects in use (or the end of its heap). An object's own
 * size word says whether the chunk before it is free, and the word before that how long it is; the size word of the
 * chunk behind it leads to the one after that, which says whether the one between is free. So three words that lie
 * beside an object tell what it separates, without a walk over chunks of others. Small chunks that were freed lately
 * (thread caches, fast bins) say of themselves that they are in use, and are taken for that.
 *
 * Others allocate and free meanwhile. Memory is read through /proc/self/mem, so what is gone is no fault; words that do
 * not fit together are told as unknown.
 */
#ifndef MALLOMETER_ALLOCATOR_GLIBC_NEIGHBOURS_H
#define MALLOMETER_ALLOCATOR_GLIBC_NEIGHBOURS_H

#include <stdbool.h>
#include <stdint.h>

/* Bytes; all 0 if the chunk there is in use. */
struct free_chunk {
  uint64_t bytes;
  /* Of that what is in memory, by whole and part pages. */
  uint64_t resident_bytes;
  /* Of that whole pages inside, which a trim gives back. */
  uint64_t returnable_bytes;
};

struct neighbours {
  struct free_chunk before, after;
  /* Behind the object its heap ends: what is free there separates it from nothing. */
  bool is_last;
  bool is_of_main_arena;
};

/* Before and after. False if the kernel does not let the process read its memory, or another thread does so now. */
bool glibc_neighbours_open(void);
void glibc_neighbours_close(void);

/*
 * False if nothing is known: the object is mapped singly, or was freed meanwhile. glibc serves and its chunks are
 * readable. A few microseconds, and one for each 2 MiB that are free.
 */
bool glibc_neighbours(const void *object, struct neighbours *out);

#endif
