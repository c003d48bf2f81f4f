/*
 * An estimate of the number of free chunks in glibc's arenas, without their locks.
 *
 * glibc's statistics hold the lock of each arena for 0.3 us for each free chunk, so with a million free chunks the
 * process would stand still for 0.3 s. The number is therefore estimated first, from windows of one page that are
 * spread evenly over each heap. The chunks of a window are recognized by their sizes, each of which leads to the next
 * chunk. A chunk is free if the next chunk says so, or if it is small and its first word is a link to another chunk,
 * as in a list of small free chunks ("fast bin").
 *
 * Memory is read through /proc/self/mem, because a heap may shrink meanwhile. Heaps are searched for only in private
 * anonymous mappings. A swapped page is not read, but counts as many free chunks, because glibc would wait for it.
 */
#ifndef MALLOMETER_ALLOCATOR_GLIBC_HEAPS_H
#define MALLOMETER_ALLOCATOR_GLIBC_HEAPS_H

#include <stdbool.h>
#include <stdint.h>

/*
 * Estimates the free chunks of the arena that has most of them. Takes at most some ten milliseconds, and does not
 * call malloc. Returns false if the process cannot read its memory, if there is more memory (1 TiB) or there are more
 * heaps (2,048) than can be examined, or if the main arena is not below the break.
 */
bool glibc_most_free_chunks(uint64_t *chunks);

#endif
