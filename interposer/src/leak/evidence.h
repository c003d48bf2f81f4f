/*
 * Histograms of how long the objects of a call site live, and how long they are not accessed. The bounds of the buckets
 * are powers of the square root of two, and each object in a slot (slots.h) counts with its weight.
 *
 * Threads that free objects and the observing thread write the histograms, without locks. A site gets a record when its
 * first object enters a slot, if fewer than 8,192 sites have a record. When a forgotten call site's place in the table
 * of sites goes to another site, that site also takes over the forgotten site's record here.
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
 * placement.c calls these functions when objects enter and leave slots (slots.h). They run inside of malloc's family,
 * so they do not allocate or lock. An object is placed only if evidence_has_room() returns true for its site.
 */
bool evidence_has_room(uint32_t site);
void evidence_of_placed(const struct slot_object *object);
void evidence_of_freed(const struct slot_object *object);

size_t evidence_footprint(void);

/* Records that an object was accessed again after an idle time of `gap_ns`. Must not be called in signal handlers. */
void evidence_of_gap(const struct slot_object *object, uint64_t gap_ns);

uint32_t evidence_copy(struct mallometer_site_evidence *to, uint32_t capacity, uint32_t first);

uint32_t duration_bucket(uint64_t ns);

#endif
