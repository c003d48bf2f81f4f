/*
 * Checks whether the process has room for slots (slots.h): enough mappings, and memory that is not locked.
 *
 * The number of mappings of a process is limited (vm.max_map_count), and each slot that was ever in use takes one or
 * two of them. New slots are opened while the process has less than half of the limit. Above three quarters, no
 * object is moved into a slot, and the mappings of free slots are given back, until the process has less than half
 * again.
 *
 * While the program locks its memory (mlockall(2)), no object is put into a slot, because slots can be swapped, and
 * locked slots would not show whether they are used.
 */
#ifndef MALLOMETER_LEAK_SLOT_LIMITS_H
#define MALLOMETER_LEAK_SLOT_LIMITS_H

#include <stdint.h>

/*
 * Returns NULL, or why no object may be moved into a slot. Also limits the number of slots that are mappings of their
 * own, and merges free slots if the process has too many mappings. Must be called once an epoch. After a count of the
 * mappings, the next one comes when `times_cost` times its CPU time has passed.
 */
const char *slot_limits_check(uint32_t times_cost);

#endif
