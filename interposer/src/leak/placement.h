/*
 * Which samples go into page slots (slots.h), and with which probability.
 *
 * Slots are few, so a sample is placed with a probability q that is fixed before the draw and kept with the object: of
 * what is known of slots alone it stands for 1 / (p q) objects, p being the sampler's. With
 *
 *     B   samples of a call site that are placed in an epoch, about
 *     L   live objects of a call site in slots before it gets fewer
 *     r   what is left of the class of slots and of the memory for them, twice, at most 1; the last tenth is for sites
 *         that have no object in a slot
 *
 *     q = min(1, B / samples of the site in this epoch or the one before, the larger)
 *       * min(1, (r L / live slots of the site)^2)
 *
 * once the site's first sample is E epochs old, and 0 before: most call sites of a program are its start's, which keep
 * what they made for good and come back no more. They would take all slots, and a site that is sampled only once cannot
 * be told a leak anyway.
 *
 * Sites that allocate much are so placed as often as others, those that keep what they allocate fill their share ever
 * more slowly (the cube root of time), and when little is left all shares shrink together, so that a new site still
 * finds room. Where nothing is left for a site q is 0: what it allocates then is not seen, and counted as not placed.
 */
#ifndef MALLOMETER_LEAK_PLACEMENT_H
#define MALLOMETER_LEAK_PLACEMENT_H

#include <stdint.h>

#include "leak/slots.h"

#define PLACED_IN_AN_EPOCH 4.0 /* B */
#define LIVE_BEFORE_FEWER 32.0 /* L */
#define EPOCHS_BEFORE_SLOTS 6u /* E */
#define LEFT_FOR_NEW_SITES 0.1

/*
 * Reserves what is known of each site, once, and moves samples into slots from then on: their objects, of which `move`
 * (sample/move.h) tells what to keep. The rest of the slot is zero, and the allocator has the old object back. False if
 * there is no memory.
 */
bool placement_start(void);

size_t placement_footprint(void);

/* How many bytes slots may take beyond those of their objects; 0: none more are placed. */
void placement_limit(size_t bytes);
size_t placement_limited_to(void);

/* An epoch ends. */
void placement_next_epoch(void);

/* The object of a slot that was freed or retired: its site has one less. */
void placement_removed(uint32_t site);

struct placement_totals {
  uint64_t placed;
  uint64_t not_placed;
  uint64_t too_large;
};

struct placement_totals placement_totals(void);

/*
 * Takes an object out of its slot. False if it is no live object of one (then it has been freed before, or the address
 * is not an object's), otherwise the caller counts `removed->sample` as freed and gives the slot back.
 */
bool placement_take_out(const void *object, struct slot_object *removed);

#endif
