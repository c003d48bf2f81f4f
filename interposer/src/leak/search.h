/*
 * Searches the process's memory for the addresses of sampled objects.
 *
 * An object of which no address exists is lost: the program can neither use nor free it. So all memory that the program
 * may write and that is resident is read once, word by word, and each word that points into one of the objects is
 * counted (search_targets.h). The program is not stopped, and nothing is locked: a thread of the library reads copies
 * that the kernel makes (platform/resident_memory.h), 128 KiB at a time. It sleeps for 18 ms after each 2 ms of CPU
 * time, so it takes a tenth of one processor.
 *
 * The result errs on the side of "not lost": old values on stacks and in freed memory count as addresses, and lost
 * objects that point to each other hold each other. Free parts of a Java heap are recognized (heap_parts.h). "Lost" can
 * be wrong where an address is in a register of a thread that could not be read (platform/thread.h), moves from memory
 * still to be read to memory already read, is stored encoded or not aligned, is stored in the kernel alone (epoll,
 * io_uring), or is swapped out (swapped bytes are counted). Therefore only several lost objects, in two searches, are
 * evidence.
 *
 * The search does not read memory that the program cannot write; devices; pages that were never accessed; shared memory
 * where pagemap is refused; the library's own tables, which hold the addresses of all samples.
 *
 * Reading a slot sets its accessed bit. Slots must be read nevertheless, because a large table, which is certainly
 * sampled, may lie in a slot and contain the only addresses of other objects. So the observing thread lets the slots be
 * read right after its own reading, cools all of them again, and declares the epoch void. Accesses to a slot between
 * reading and cooling are missed, as in any void epoch. Where no thread observes the slots, they are read like other
 * memory.
 */
#ifndef MALLOMETER_LEAK_SEARCH_H
#define MALLOMETER_LEAK_SEARCH_H

#include <stddef.h>
#include <stdint.h>

#include "leak/heap_parts.h"
#include "mallometer.h"

/* Implements mallometer_search_start() for checked arguments. `heap` is NULL if no heap is known. */
int search_start(const uint32_t *sites, uint32_t count, uint64_t most_bytes, const struct heap_parts *heap);

/* Fills all fields, and writes rows of the objects if the search is done; returns the number of rows. */
uint32_t search_describe(struct mallometer_searched *out, struct mallometer_sought *rows, uint32_t capacity);

/* Ends a search in the child of a fork, which has no such thread. */
void search_forked(void);

/* Return the bytes mapped, and the thread's CPU time in all searches. */
size_t search_footprint(void);
uint64_t search_overhead_ns(void);

#endif
