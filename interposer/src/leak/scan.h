/*
 * Which slots were touched since they were cooled: what the kernel's accessed bits say (platform/page_use.h), read no
 * farther than the slots reach, and cleared again.
 *
 * Only slots that were touched are cooled again. What touches a slot between the moment in which it was read and that
 * in which it is cooled is missed, but falls into the epoch that just ends, in which the slot was touched anyway. So
 * nothing is missed that matters.
 *
 * A few canaries are touched each time right after they were cooled. If one of them reads as untouched later, the
 * kernel has cleared accessed bits on its own (it does so when it looks for memory to reclaim), and the epoch says
 * nothing of slots that read the same way.
 */
#ifndef MALLOMETER_LEAK_SCAN_H
#define MALLOMETER_LEAK_SCAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "mallometer.h"

/*
 * Prepares the canaries in front of the slots, and tries out whether accessed bits can be cleared and seen here, by the
 * one way or the other. NULL, or why they cannot.
 */
const char *scan_start(enum mallometer_leaks_method method);

enum slot_seen {
  SLOT_MISSING,
  SLOT_IDLE,
  SLOT_TOUCHED,
  /* Touched, and it cannot be cooled: the program has locked it (mlock(2)), and its lock is not to be undone. */
  SLOT_HOT
};

/* Reads what was touched since the last time that all was cooled. False, with errno, if that cannot be read. */
bool scan_read(void);

/* What the reading says of a slot, and whether of slots that were not touched it says anything. */
enum slot_seen scan_seen(uint32_t slot);
bool scan_is_valid(void);

/*
 * Cools what was touched, as far as that is possible, and touches the canaries. `all`: the library itself has touched
 * slots since they were read.
 */
void scan_cool(bool all);

#endif
