/*
 * An estimate of the number of free chunks in glibc's arenas, without their locks.
 *
 * glibc's statistics hold the lock of each arena while they walk over its free chunks, which takes 0.3 us for each
 * chunk: a process with a million free chunks in one arena would stand still for 0.3 s. The number is therefore
 * estimated first, from windows of one page that are spread evenly over each heap. In a window the chunks are
 * recognized by their sizes, each of which leads to the next chunk. A chunk is free if the next one says so, or if it
 * is small and its first word points to another chunk of the heap, as in a list of small free chunks ("fast bin").
 *
 * Memory is read through /proc/self/mem, since a heap may shrink meanwhile. Heaps are searched for only in private
 * anonymous mappings. A window is read only if its page is in memory; a swapped page counts as many free chunks, since
 * glibc would wait for it.
 */
#ifndef MALLOMETER_ALLOCATOR_GLIBC_HEAPS_H
#define MALLOMETER_ALLOCATOR_GLIBC_HEAPS_H

#include <stdbool.h>
#include <stdint.h>

/*
 * Estimates the free chunks of the arena that has most of them. Returns false if the number is unknown: the kernel does
 * not let the process read its memory, there is more memory or there are more heaps than can be examined (1 TiB;
 * 2,048), or the main arena is not below the break. Takes a few milliseconds, at most some ten; does not call malloc.
 */
bool glibc_most_free_chunks(uint64_t *chunks);

#endif
