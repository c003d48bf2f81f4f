/*
 * The live samples by address. Each free looks here whether its object was sampled.
 *
 * A filter of one bit for each of 65,536 hashes is enough for nearly every free. Its 8 KiB leave most of the
 * processor's first-level cache to the program. For the other frees there is a table of 65,536 places with open
 * addressing, each place with a count of its samples. There are no locks: an entry is claimed, filled and published by
 * its address. The memory is reserved with that of the call sites.
 */
#ifndef MALLOMETER_SAMPLE_LIVE_SAMPLES_H
#define MALLOMETER_SAMPLE_LIVE_SAMPLES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "platform/arch.h"
#include "platform/visibility.h"
#include "sample/live_sample.h"

/* Returns the bytes of memory that the samples need, in whole pages. */
size_t live_samples_bytes(void);

/* Takes zeroed memory for the samples, unless other memory is in use. Returns the memory in use. May be called from any
 * thread and from signal handlers. */
void *live_samples_use(void *fresh);

#define LIVE_HASHES 65536u
extern HIDDEN uint8_t live_filter[LIVE_HASHES / 8];

/* Returns whether an object may be a live sample; false for nearly all objects that are none. A relaxed load sees the
 * object's bit: it was set before the object was handed out, and its address is computed from that of the object. */
static inline bool may_be_sampled(const void *object) {
  return __builtin_expect(bit_of_65536(live_filter, (uintptr_t)object >> 4), 0);
}

/* Returns whether an object is a live sample. The caller is freeing the object, so no other thread does. */
bool is_live_sample(const void *object);

/* Adds a sample. Returns false if there is no room, or if a count is closed at this moment. The address must have no
 * sample. */
bool live_sample_insert(const void *object, const struct live_sample *sample);

/*
 * Removes and returns the sample of an object; NO_LIVE_SAMPLE if it has none. Call it before the object is given back
 * or moved, since another thread may get its address at once.
 */
struct live_sample live_sample_remove(const void *object);

/* Removes all samples, while other threads may free some of them: `removed` then gets NO_LIVE_SAMPLE. */
void live_samples_remove_all(void (*removed)(struct live_sample sample));

uint32_t live_samples_count(void);

/* Repairs the filter in a forked child, where changes that other threads had begun never end. */
void live_samples_forked(void);

/* Returns the sample of an object; NO_LIVE_SAMPLE if it has none. Other threads may free the object meanwhile. */
struct live_sample live_sample_find(const void *object);

/* Reads the next sample from a place on, which begins at 0, and advances the place. Returns false at the end. */
bool live_samples_next(size_t *place, const void **object, struct live_sample *sample);

/* Writes rows from `first` on; returns the end of the rows. */
uint32_t live_samples_copy(struct mallometer_object *objects, uint32_t capacity, uint32_t first,
                           const struct object_filter *filter);

#endif
