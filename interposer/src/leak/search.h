/*
 * Whether anybody can still reach sampled objects: a search of the process's memory for their addresses.
 *
 * An object of which no address exists is lost: nobody can use it or free it. So all memory that the program may write
 * and that is in memory is read once, word by word, and each word that points into one of the objects is counted
 * (sought.h). Nothing stops meanwhile, and nothing is locked: a thread of the library reads copies that the kernel
 * makes (platform/resident_memory.h), 128 KiB at a time, and sleeps for 18 ms after each 2 ms of its processor time: a
 * tenth of one processor.
 *
 * The answer errs on the side of "held": old values on stacks and in freed memory count as addresses, and objects that
 * are lost but point to each other hold each other. "Lost" can be wrong where an address is in a register or moves from
 * memory that is still to be read to memory that was read, is stored encoded or not aligned, is known to the kernel
 * alone (epoll, io_uring), or is swapped out (which is counted). So a conclusion needs several objects and a second
 * search.
 *
 * Not read: what cannot be written; devices; pages that were never touched; shared memory where pagemap is refused; the
 * library's own tables, which hold the addresses of all samples.
 *
 * To read a slot sets the accessed bit by which its use is seen. Slots cannot be left out, though: a large table is
 * sampled for certain, may lie in one, and may hold the only addresses of other objects. So the thread that looks at
 * slots has them read right after a look, cools all of them again, and takes the epoch for void. What touches a slot
 * between the look and its cooling is missed, as in any void epoch. Where no thread looks at slots they are read as
 * other memory is.
 */
#ifndef MALLOMETER_LEAK_SEARCH_H
#define MALLOMETER_LEAK_SEARCH_H

#include <stddef.h>
#include <stdint.h>

#include "mallometer.h"

/* As mallometer_search_start(), for arguments that were checked. */
int search_start(const uint32_t *sites, uint32_t count, uint64_t most_bytes);

/* Fills all fields, and writes rows of the objects if the search is done; returns how many. */
uint32_t search_describe(struct mallometer_searched *out, struct mallometer_sought *rows, uint32_t capacity);

/* In the child of a fork, which has no such thread. */
void search_forked(void);

/* Bytes mapped; processor time of the thread in all searches. */
size_t search_footprint(void);
uint64_t search_overhead_ns(void);

#endif
