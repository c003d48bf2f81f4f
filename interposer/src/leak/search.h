/*
 * Searches the process's memory for the addresses of sampled objects.
 *
 * If no address of an object exists, the object is lost: the program can neither use nor free it. A search therefore
 * reads all resident memory that the program may write, word by word, and counts the words that point into each object
 * (search_targets.h). The program is not stopped, and nothing is locked: a thread of the library reads copies that the
 * kernel makes (platform/resident_memory.h), 128 KiB at a time. It sleeps for 18 ms after each 2 ms of CPU time, so the
 * search takes a tenth of one processor.
 *
 * The result errs on the side of "not lost": old values on stacks and in freed memory count as addresses, and lost
 * objects that point to each other have references. Free parts of a Java heap do not count (heap_parts.h). An object
 * can wrongly be called lost if its address is in a register of a thread that could not be read (platform/thread.h), if
 * the program moves the address from memory that is still to be read to memory that was read before, if the address is
 * encoded or not aligned, if only the kernel has it (epoll, io_uring), or if the page that holds it is swapped out
 * (swapped bytes are counted). Therefore only several lost objects, in two searches, are evidence.
 *
 * The search does not read memory that the program cannot write, devices, pages that were never accessed, shared memory
 * if the kernel refuses pagemap, and the library's own tables, which have the addresses of all samples.
 *
 * Reading a slot sets its accessed bit. Slots must be read nevertheless, because a large table, which is certainly
 * sampled, may lie in a slot and contain the only addresses of other objects. The observing thread therefore reads the
 * slots for the search, right after it has read their accessed bits, and cools all of them again. Accesses to a slot
 * between the reading and the cooling are missed; if much time passes in between, the epoch is void. If no thread
 * observes the slots, the searching thread reads them.
 */
#ifndef MALLOMETER_LEAK_SEARCH_H
#define MALLOMETER_LEAK_SEARCH_H

#include <stddef.h>
#include <stdint.h>

#include "leak/heap_parts.h"
#include "mallometer.h"

/* Implements mallometer_search_start() for checked arguments. `heap` is NULL if no heap is known. */
int search_start(const uint32_t *sites, uint32_t count, uint64_t most_bytes, const struct heap_parts *heap);

/* Fills all fields of `out`. If the search is done, describes each object in `rows`, and returns the number of
 * objects. */
uint32_t search_describe(struct mallometer_searched *out, struct mallometer_sought *rows, uint32_t capacity);

/* Marks a running search as failed in the child of a fork, where the searching thread does not exist. The child starts
 * no searches. */
void search_forked(void);

/* search_footprint() returns the mapped bytes. search_overhead_ns() returns the CPU time of all searches. */
size_t search_footprint(void);
uint64_t search_overhead_ns(void);

#endif
