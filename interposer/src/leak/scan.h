/*
 * Reads the kernel's accessed bits (platform/page_use.h) of all slots, and clears them ("cools" the slots). A slot is
 * one or more pages with a single sampled object (slots.h). A reading shows which slots were accessed since their bits
 * were cleared.
 *
 * A cooling usually clears only the bits of slots that the reading shows as accessed. An access before the cooling
 * leaves no trace in these slots, but they already count as accessed. The method MALLOMETER_LEAKS_BY_CLEAR_REFS clears
 * the bits of all pages of the process, so an access to an idle slot between the reading and the cooling is lost.
 *
 * A few pages, the canaries, are accessed right after each cooling. If the next reading shows a canary as not accessed,
 * the kernel itself has cleared accessed bits, to find memory to reclaim. Slots may then have been accessed although
 * their bits are clear.
 */
#ifndef MALLOMETER_LEAK_SCAN_H
#define MALLOMETER_LEAK_SCAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "mallometer.h"

/* Prepares the canaries (pages whose accesses are known), and tests whether this method can clear and read the
 * accessed bits of pages. Returns NULL, or why it cannot. */
const char *scan_start(enum mallometer_leaks_method method);

enum slot_seen {
  SLOT_MISSING,
  SLOT_IDLE,
  SLOT_TOUCHED,
  /* The slot was accessed, and the kernel's accessed bits of its pages cannot be cleared, usually because the program
   * has locked the slot (mlock(2)). */
  SLOT_HOT
};

/* Reads which slots were accessed since scan_cool(). Returns false and sets errno if that fails. */
bool scan_read(void);

/* scan_seen() returns what scan_read() found for a slot. If scan_is_valid() returns false, a slot that is SLOT_IDLE
 * may have been accessed in this epoch. */
enum slot_seen scan_seen(uint32_t slot);
bool scan_is_valid(void);

/* Clears the accessed bits of the slots that were accessed. Clears the bits of all slots if `all` is true, which is
 * needed if the library itself has accessed slots since scan_read(). Then accesses the canaries: if the next
 * scan_read() does not see these accesses, its reading is not valid. */
void scan_cool(bool all);

#endif
