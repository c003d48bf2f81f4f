/*
 * Chooses which samples go into page slots (slots.h), and with which probability.
 *
 * Slots are few, so a sample is placed with a probability q that is fixed before the draw and stored with the object.
 * In statistics of slots alone the object stands for 1 / (p q) objects, where p is the sampler's probability. With
 *
 *     B   the samples of a call site that are placed in an epoch, on average
 *     L   the number of a call site's live objects in slots from which on fewer of its samples are placed
 *     K   the samples of the site from earlier epochs that are live, in slots or not
 *     r   twice the share that is left of the slots of the class, or of the memory for slots, whichever is less; at
 *         most 1. The last tenth is left to sites that have no object in a slot
 *
 *     b = max(B, min(B (1 + K), L - live slots of the site))
 *     q = min(1, b / max(samples of the site in this epoch, in the epoch before))
 *       * min(1, (r L / live slots of the site)^2)
 *
 * once the site's first sample is E epochs old. Before that q is 0, because most call sites allocate only during
 * start-up and keep what they allocated. They would take all slots, and a site that is sampled only once cannot be
 * judged a leak.
 *
 * So a site that allocates much gets no more slots than other sites. If a site keeps only one of many objects, most of
 * its objects in slots are freed soon, and few of the kept ones would be observed. So a site whose samples stay live
 * gets more slots, until L of its objects are in slots. A site that keeps all it allocates fills its share at a falling
 * rate: the number of its slots grows with the cube root of time. When little is left, all shares shrink together, so
 * that a new site still finds room. Where nothing is left for a site, q is 0: its samples are not observed, and counted
 * as not placed.
 */
#ifndef MALLOMETER_LEAK_PLACEMENT_H
#define MALLOMETER_LEAK_PLACEMENT_H

#include <stdint.h>

#include "leak/slots.h"

#define PLACED_IN_AN_EPOCH 4.0 /* B in the formula above */
#define LIVE_BEFORE_FEWER 32.0 /* L in the formula above */
#define EPOCHS_BEFORE_SLOTS 6u /* E in the text above */
#define LEFT_FOR_NEW_SITES 0.1

/*
 * Reserves the tables for sites, once. From then on samples may move into slots (slots_accept()): the contents that the
 * program has written (sample/move.h) are copied, the rest of the slot is zero, and the old object is given back to the
 * allocator. Returns false if there is no memory.
 */
bool placement_start(void);

size_t placement_footprint(void);

/* placement_limit() sets, and placement_limited_to() returns, how many bytes the pages of slots may take beyond the
 * sizes of their objects. With 0, no more objects are placed. */
void placement_limit(size_t bytes);
size_t placement_limited_to(void);

void placement_next_epoch(void);

/* Subtracts one from the number of the site's live objects that are in slots, because an object was freed or disowned
 * (slot_disown()). */
void placement_removed(uint32_t site);

struct placement_totals {
  uint64_t placed;
  uint64_t not_placed;
  uint64_t too_large;
};

struct placement_totals placement_totals(void);

/*
 * Takes an object out of its slot. Returns false if the slot has no live object at this address, because the object was
 * freed before or the address is inside an object. Otherwise the caller counts `removed->sample` as freed and gives the
 * slot back.
 */
bool placement_take_out(const void *object, struct slot_object *removed);

#endif
