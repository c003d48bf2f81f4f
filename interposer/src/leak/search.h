/*
 * Searches the process's memory for the addresses of sampled objects.
 *
 * If no address of an object exists, the object is lost: the program can neither use nor free it. A search therefore
 * counts the words that point into each object (search_targets.h), in all resident memory that the program may write.
 * The program is not stopped, and nothing is locked: a thread of the library reads copies that the kernel makes
 * (platform/resident_memory.h). The thread takes a tenth of one processor.
 *
 * Some lost objects are not found: old values on stacks and in freed memory count as addresses, and lost objects that
 * point to each other have references. Free parts of a Java heap do not count (heap_parts.h).
 *
 * An object can wrongly be called lost if its address is encoded, not aligned, only in the kernel (epoll, io_uring), in
 * a swapped page, or in a register of a thread that could not be read (platform/thread.h). The program may also move
 * the address, during the search, to memory that was read before. Therefore only several lost objects, in two searches,
 * are evidence.
 *
 * The search does not read memory that the program cannot write, devices, pages that were never accessed, shared memory
 * if the kernel refuses pagemap, and the library's own tables, which have the addresses of all samples.
 *
 * Slots are pages with a single sampled object (slots.h). Their accessed bits show whether the program uses the object,
 * but a read by the library sets the bits, too. The thread that observes the bits (observation.h) therefore reads the
 * slots for the search: right after it has read the bits, and before it clears them. If this takes long, accesses by
 * the program may be missed, and the period of observation (epoch) is void.
 */
#ifndef MALLOMETER_LEAK_SEARCH_H
#define MALLOMETER_LEAK_SEARCH_H

#include <stddef.h>
#include <stdint.h>

#include "leak/heap_parts.h"
#include "mallometer.h"

/* Implements mallometer_search_start() for checked arguments. `heap` is NULL if no heap is known. */
int search_start(const uint32_t *sites, uint32_t count, uint64_t most_bytes, const struct heap_parts *heap);

/* If the search is done, describes each object in `rows`. Returns the number of objects. */
uint32_t search_describe(struct mallometer_searched *out, struct mallometer_sought *rows, uint32_t capacity);

/* Marks a running search as failed in the child of a fork, where the searching thread does not exist. The child
 * cannot search. */
void search_forked(void);

size_t search_footprint(void);
uint64_t search_overhead_ns(void);

#endif
