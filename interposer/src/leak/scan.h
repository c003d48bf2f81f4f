/*
 * Reads which slots were accessed since they were cooled, by the kernel's accessed bits (platform/page_use.h), no
 * farther than the slots reach, and clears the bits again.
 *
 * Only slots that were accessed are cooled again. An access between reading and cooling a slot is missed, but it falls
 * into the epoch that just ends, in which the slot was accessed anyway. So the loss has no effect.
 *
 * A few pages, the canaries, are accessed each time right after they were cooled. If one of them reads as not accessed
 * later, the kernel has cleared accessed bits on its own (it does so when it looks for memory to reclaim), and clear
 * bits of slots say nothing in that epoch.
 */
#ifndef MALLOMETER_LEAK_SCAN_H
#define MALLOMETER_LEAK_SCAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "mallometer.h"

/*
 * Prepares the canaries before the slots, and tests whether accessed bits can be cleared and read by this method.
 * Returns NULL, or why they cannot.
 */
const char *scan_start(enum mallometer_leaks_method method);

enum slot_seen {
  SLOT_MISSING,
  SLOT_IDLE,
  SLOT_TOUCHED,
  /* Accessed, and cannot be cooled: the program has locked it (mlock(2)), and the library does not undo the lock. */
  SLOT_HOT
};

/* Reads the accesses since the last cooling. Returns false, with errno, if that fails. */
bool scan_read(void);

/* Return the result of the reading for a slot, and whether the result "not accessed" is valid in this epoch. */
enum slot_seen scan_seen(uint32_t slot);
bool scan_is_valid(void);

/*
 * Cools accessed slots, where that is possible, and accesses the canaries. `all`: the library itself has accessed slots
 * since they were read, so all are cooled.
 */
void scan_cool(bool all);

#endif
