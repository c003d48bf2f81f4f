/*
 * An estimate of the number of free chunks in glibc's arenas, without their locks.
 *
 * glibc's statistics hold the lock of each arena for 0.3 us for each free chunk, so with a million free chunks the
 * process would stand still for 0.3 s. The number is therefore estimated first, from windows of one page that are
 * spread evenly over each heap. The chunks of a window are recognized by their size words, because each size leads to
 * the next chunk. A chunk is free if the next chunk says so. A small chunk is also free if its first word is a link to
 * another chunk, as in a list of small free chunks ("fast bin").
 *
 * Memory is read through /proc/self/mem, because a heap may shrink meanwhile. Only private anonymous mappings are
 * searched for heaps. Swapped pages are not read. Each counts as 300 free chunks, because glibc's statistics would wait
 * for the page about as long as for 300 chunks.
 */
#ifndef MALLOMETER_ALLOCATOR_GLIBC_HEAPS_H
#define MALLOMETER_ALLOCATOR_GLIBC_HEAPS_H

#include <stdbool.h>
#include <stdint.h>

/*
 * Estimates the number of free chunks in the arena with the most free chunks. Takes at most some ten milliseconds, and
 * does not call malloc. Returns false if the process cannot read its memory, if the memory exceeds 1 TiB, if there are
 * more than 2,048 heaps, or if the main arena is not in the heap of brk(2).
 */
bool glibc_most_free_chunks(uint64_t *chunks);

#endif
