/*
 * Reads the output of glibc's malloc_info() while it is being written. One walk over the arenas yields the sums of
 * mallinfo2(), the figures of each arena, and the bytes that a trim would give back. malloc_info() works on every
 * glibc, while mallinfo2() needs 2.33, and mallinfo() overflows at 2 GiB.
 *
 * The text is XML of a fixed form (version 1, unchanged since glibc 2.10). Unknown elements are skipped.
 *
 * malloc_trim() gives two kinds of memory back to the kernel: the end of the main heap, and the whole pages inside each
 * free chunk that is not in a fast bin. The text states the size and number of the free chunks of each class. Each
 * chunk is assumed to keep 48 bytes and, on average, one page at its two edges. The estimate is too low for a class
 * that also has chunks smaller than these kept bytes.
 */
#ifndef MALLOMETER_ALLOCATOR_MALLOC_INFO_H
#define MALLOMETER_ALLOCATOR_MALLOC_INFO_H

#include <stddef.h>
#include <stdint.h>

#include "mallometer.h"

struct malloc_info {
  /* The sums over the arenas read so far. `arenas` may exceed `capacity`. `mapped_bytes` are the bytes of chunks with
   * their own mapping. */
  struct mallometer_arena sum;
  uint64_t arenas;
  uint64_t mapped_bytes;

  /* Receives the first `capacity` arenas that malloc_info() reports. */
  struct mallometer_arena *rows;
  uint32_t capacity;

  /* The arena that is being read, and the bytes of its free chunks except the chunk at the arena's end. */
  struct mallometer_arena current;
  uint64_t in_bins;
  /* The bytes to subtract from the arena's sum, because glibc added up size words with their flags. */
  uint64_t flags;
  int inside;

  /* The element that is being read, without brackets, cut to the length of the longest known element. */
  char element[160];
  size_t length;
  int in_element;
};

void malloc_info_feed(struct malloc_info *info, const char *text, size_t length);

#endif
