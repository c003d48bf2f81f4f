/*
 * How many free chunks glibc's arenas hold, estimated without their locks.
 *
 * Whoever asks glibc what is in use makes it walk over the free chunks of each arena with the arena's lock, 0.3 us for
 * each: a process that has a million of them in one arena would stand still for 0.3 s. So it is estimated first, from
 * windows of one page that lie evenly over each heap. In a window the chunks are recognized by the chain that their
 * sizes make; a chunk is free if the next one says so, or if it is small and what would be its first word leads to
 * another chunk of the heap, as in a list of small ones ("fast bin").
 *
 * Memory is read through /proc/self/mem, since a heap may shrink meanwhile; only private memory of no file, of which
 * heaps are, and only pages that are in memory. Pages of a heap that were swapped out count as many free chunks, since
 * glibc would wait for them.
 */
#ifndef MALLOMETER_ALLOCATOR_GLIBC_HEAPS_H
#define MALLOMETER_ALLOCATOR_GLIBC_HEAPS_H

#include <stdbool.h>
#include <stdint.h>

/*
 * For the arena that has most of them. False if that is not known: if the kernel does not let the process read its
 * memory, if there is more of it, or more heaps, than can be looked through (1 TiB; 2,048), or if the main arena does
 * not lie below the break. Takes a few milliseconds, at most some ten; allocates nothing by malloc.
 */
bool glibc_most_free_chunks(uint64_t *chunks);

#endif
