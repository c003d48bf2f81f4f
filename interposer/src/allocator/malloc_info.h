/*
 * Reads what glibc's malloc_info() writes, while it is being written: one walk over the arenas yields what mallinfo2()
 * sums up, the figures of each arena, and what a trim would give back. It works on every glibc, in 64 bits; mallinfo2
 * needs 2.33, and its predecessor overflows at 2 GiB.
 *
 * The text is XML of a fixed form (version 1, unchanged since glibc 2.10). Elements that are not known are passed over.
 *
 * What a trim gives back: malloc_trim() returns the whole pages that lie inside each free chunk of at least
 * a page, fast bins excepted, and the end of the main heap. The text tells size and number of the free chunks, class by
 * class. A chunk of s bytes holds s - 48 bytes behind its links, of which on average one page is lost at the two edges
 * together; a class with chunks on both sides of that is underestimated, never overestimated.
 */
#ifndef MALLOMETER_ALLOCATOR_MALLOC_INFO_H
#define MALLOMETER_ALLOCATOR_MALLOC_INFO_H

#include <stddef.h>
#include <stdint.h>

#include "mallometer.h"

struct malloc_info {
  /* What is known so far, mapped_bytes included. `arenas` counts them all, also those beyond the capacity. */
  struct mallometer_arena sum;
  uint64_t arenas;
  uint64_t mapped_bytes;

  /* Where the first arenas go, at most `capacity`, in the order of the text. */
  struct mallometer_arena *rows;
  uint32_t capacity;

  /* The arena that is being read; its free chunks without the one at its end. */
  struct mallometer_arena current;
  uint64_t in_bins;
  /* What was counted too much because flags were taken for bytes. */
  uint64_t flags;
  int inside;

  /* The element that is being read, without its brackets; what is longer than any known one is cut. */
  char element[160];
  size_t length;
  int in_element;
};

/* Reads on. The text comes in pieces of any size. */
void malloc_info_feed(struct malloc_info *info, const char *text, size_t length);

#endif
