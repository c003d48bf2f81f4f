/*
 * Chooses which samples go into slots, and with which probability. A slot is the pages of a single sampled object
 * (slots.h).
 *
 * Slots are few, so a sample is placed with a probability q. This q is fixed before the draw and stored with the
 * object. In statistics of slots alone, the object stands for 1 / (p q) objects, where p is the sampler's probability.
 *
 * The probability q depends on these numbers:
 *
 * - B: how many samples of a call site are placed in an epoch, on average
 * - E: the number of epochs from a site's first sample to its first slot
 * - L: a limit; a site with more than L live objects in slots gets fewer new slots
 * - n: the number of the site's samples in this epoch or in the epoch before, whichever is larger
 * - k: the number of the site's samples from earlier epochs that are live, in slots or not
 * - s: the number of the site's live objects in slots
 * - f: the free share of the size class's slots or of the memory for slots, whichever is smaller. For a site with an
 *   object in a slot, f is lower by 0.1: the last tenth is left for sites that have none.
 *
 * The probability is computed in these steps:
 *
 * - room = 2 f, but at least 0 and at most 1
 * - wanted = max(B, min(B (1 + k), L - s)): how many samples of the site to place in an epoch
 * - by_number = min(1, wanted / n)
 * - by_slots = min(1, room L / max(1, s))
 * - q = by_number * by_slots^2
 *
 * During a site's first E epochs, q is 0, because most call sites allocate only during start-up and keep what they
 * allocated.
 *
 * A site that allocates much gets no more slots than other sites, because by_number falls as n grows. A site whose
 * samples stay live gets more slots, until L of its objects are in slots, because wanted grows with k. Without this
 * growth, few of the objects that the site keeps would be observed. When s is above L, q is proportional to 1 / s^2, so
 * s grows only with the cube root of time. When few slots are left, q falls for all sites. Without any slot left, q is
 * 0. A sample that would be placed if there were room is counted as not placed.
 */
#ifndef MALLOMETER_LEAK_PLACEMENT_H
#define MALLOMETER_LEAK_PLACEMENT_H

#include <stdint.h>

#include "leak/slots.h"

/* The usual number of a site's samples that are placed in slots in an epoch (B in the comment above). */
#define PLACED_IN_AN_EPOCH 4.0
#define LIVE_BEFORE_FEWER 32.0 /* a site with more slots in use gets fewer new slots (L in the comment above) */
#define EPOCHS_BEFORE_SLOTS 6u /* epochs from a site's first sample to its first slot (E in the comment above) */
#define LEFT_FOR_NEW_SITES 0.1

/*
 * Reserves the tables for sites, once. Returns false if there is no memory. After this call, sampled objects may be
 * moved into slots. A move copies only the bytes that the program may have written (`contents` in sample/move.h), and
 * the rest of the slot is zero. The original object is then given back to the allocator.
 */
bool placement_start(void);

size_t placement_footprint(void);

/* Limits the memory overhead of slots, in bytes. The overhead is the size of the pages of all objects in slots,
 * minus the sizes of these objects. With a limit of 0, no more objects are placed. */
void placement_limit(size_t bytes);
size_t placement_limited_to(void);

void placement_next_epoch(void);

/* Records that a live object of the site is no longer in a slot, because it was freed or disowned (slot_disown()). */
void placement_removed(uint32_t site);

struct placement_totals {
  uint64_t placed;
  uint64_t not_placed;
  uint64_t too_large;
};

struct placement_totals placement_totals(void);

/* Takes the live object at this address out of its slot. Returns false if no live object begins there. If it returns
 * true, the caller must count the sample as freed and give the slot back. */
bool placement_take_out(const void *object, struct slot_object *removed);

#endif
