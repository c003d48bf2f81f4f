/*
 * Whether the process has room for slots: mappings, and memory that it does not lock.
 *
 * A process may have so many mappings (vm.max_map_count), and each slot that was ever in use is one or two. Half is
 * left to the program: what it has beyond that keeps more slots from being opened. Past three quarters nothing is put
 * into slots, and those that are free are given back, until the process has less than half again.
 *
 * A program that locks its memory (mlockall(2)) wants none of it to be swapped, so none is to move to where it can be;
 * and of memory that is locked nobody can tell whether it is used. Nothing is put into slots meanwhile.
 */
#ifndef MALLOMETER_LEAK_ROOM_H
#define MALLOMETER_LEAK_ROOM_H

#include <stdint.h>

/*
 * Looks, once an epoch; bounds slots and gives mappings back. The mappings are counted at once the first time, and then
 * not before that many times the processor time has passed that counting took. NULL, or why nothing is to be put into
 * slots until the next look.
 */
const char *room_look(uint32_t times_cost);

#endif
