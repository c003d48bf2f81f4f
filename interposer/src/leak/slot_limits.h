/*
 * Checks whether the process has room for slots (pages of a single object, slots.h): enough mappings, and memory that
 * is not locked.
 *
 * The number of mappings of a process is limited (vm.max_map_count), and each slot that was ever in use takes one or
 * two of them. New slots are opened while the process has less than half of the limit. Above three quarters of the
 * limit, no object is moved into a slot, and the mappings of free slots are given back. This lasts until the process
 * has less than half of the limit again.
 *
 * While the program locks its memory (mlockall(2)), no object is moved into a slot. An object in an unlocked slot could
 * be swapped. Locking the slot is no solution: the kernel cannot clear the accessed bits of locked pages, so they would
 * not show whether the object is used.
 */
#ifndef MALLOMETER_LEAK_SLOT_LIMITS_H
#define MALLOMETER_LEAK_SLOT_LIMITS_H

#include <stdint.h>

/*
 * Returns NULL, or why no object may be moved into a slot. Also limits the number of slots that are mappings of their
 * own, and merges free slots if the process has too many mappings. Must be called once an epoch. The pause between two
 * counts of the mappings is `times_cost` times the CPU time of a count.
 */
const char *slot_limits_check(uint32_t times_cost);

#endif
