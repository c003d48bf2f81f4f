/*
 * Histograms of how long the objects of a call site live and lie idle. Their buckets are powers of the square root of
 * two, and each object in a slot counts with its weight.
 *
 * Threads that free objects and the observing thread write the histograms, without locks. A site gets a record with its
 * first slot, if fewer than 8,192 sites have one. A site that took the place of a forgotten one in the table of sites
 * also takes its record here.
 */
#ifndef MALLOMETER_LEAK_EVIDENCE_H
#define MALLOMETER_LEAK_EVIDENCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "leak/slots.h"
#include "mallometer.h"

#define MOST_SITES_WITH_EVIDENCE 8192u

/* Reserves memory, once. Returns false if there is none. */
bool evidence_start(void);

/*
 * placement.c calls these functions when objects enter and leave slots, inside of malloc's family, so they allocate and
 * lock nothing. An object is placed only if its site has room.
 */
bool evidence_has_room(uint32_t site);
void evidence_of_placed(const struct slot_object *object);
void evidence_of_freed(const struct slot_object *object);

size_t evidence_footprint(void);

/* Records that an object was accessed again after an idle time of `gap_ns`. Not for signal handlers. */
void evidence_of_gap(const struct slot_object *object, uint64_t gap_ns);

uint32_t evidence_copy(struct mallometer_site_evidence *to, uint32_t capacity, uint32_t first);

/* Returns the bucket of a duration. */
uint32_t duration_bucket(uint64_t ns);

#endif
