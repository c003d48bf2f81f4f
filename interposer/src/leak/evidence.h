/*
 * Histograms, for each call site, of how long its objects live and how long they are idle. Only objects in slots (pages
 * of a single object, slots.h) count, each with its weight. The bounds of the buckets are powers of the square root of
 * two.
 *
 * Threads that free objects and the observing thread write the histograms, without locks. The first 8,192 sites with an
 * object in a slot get a record. A site that replaces a forgotten site (sample/call_sites.h) gets that site's record,
 * which is cleared.
 */
#ifndef MALLOMETER_LEAK_EVIDENCE_H
#define MALLOMETER_LEAK_EVIDENCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "leak/slots.h"
#include "mallometer.h"

#define MOST_SITES_WITH_EVIDENCE 8192u

bool evidence_start(void);

/* placement.c calls these functions when objects enter and leave slots (slots.h). They run inside of malloc and free,
 * so they do not allocate or lock. An object may be placed only if its site has room. */
bool evidence_has_room(uint32_t site);
void evidence_of_placed(const struct slot_object *object);
void evidence_of_freed(const struct slot_object *object);

size_t evidence_footprint(void);

/* Records that an object was accessed again after an idle time of `gap_ns`. Must not be called in signal handlers. */
void evidence_of_gap(const struct slot_object *object, uint64_t gap_ns);

uint32_t evidence_copy(struct mallometer_site_evidence *to, uint32_t capacity, uint32_t first);

uint32_t duration_bucket(uint64_t ns);

#endif
