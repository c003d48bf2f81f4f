/*
 * The live samples by address. Each free tests here whether its object was sampled.
 *
 * A filter of one bit for each of 65,536 hashes (8 KiB) answers nearly every test. The other frees search a hash table
 * with open addressing. There are no locks: a thread claims an entry, fills it, and publishes it by storing the
 * address.
 */
#ifndef MALLOMETER_SAMPLE_LIVE_SAMPLES_H
#define MALLOMETER_SAMPLE_LIVE_SAMPLES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "platform/arch.h"
#include "platform/visibility.h"
#include "sample/live_sample.h"

size_t live_samples_bytes(void);

/* Uses `fresh`, which is zeroed memory, for the table, unless the table has memory already. Returns the table's memory.
 * May be called from any thread and from signal handlers. */
void *live_samples_use(void *fresh);

#define LIVE_HASHES 65536u
extern HIDDEN uint8_t live_filter[LIVE_HASHES / 8];

/* Returns whether an object may be a live sample; false for nearly all other objects. A relaxed load suffices: the
 * bit was set before the program received the object, and the load depends on the object's address. */
static inline bool may_be_sampled(const void *object) {
  return __builtin_expect(bit_of_65536(live_filter, (uintptr_t)object >> 4), 0);
}

/* Returns whether an object is a live sample. Must be called by the thread that frees the object, so that no other
 * thread frees it meanwhile. */
bool is_live_sample(const void *object);

/* Adds a sample. Returns false if there is no room, or if another thread is removing the last live sample with the
 * same hash. The address must not have a sample yet. */
bool live_sample_insert(const void *object, const struct live_sample *sample);

/* Removes and returns the sample of an object; NO_LIVE_SAMPLE if it has none. Must be called before the object is
 * freed or moved, because another thread may then receive its address. */
struct live_sample live_sample_remove(const void *object);

/* Removes all samples and calls `removed` for each. If another thread removes a sample at the same time, `removed`
 * may get NO_LIVE_SAMPLE instead. */
void live_samples_remove_all(void (*removed)(struct live_sample sample));

uint32_t live_samples_count(void);

/* Repairs the filter in a forked child, where changes by other threads of the parent remain unfinished. */
void live_samples_forked(void);

/* Returns the sample of an object. Other threads may free the object meanwhile. Returns NO_LIVE_SAMPLE if the object
 * has no sample, or if the sample was replaced while it was read. */
struct live_sample live_sample_find(const void *object);

/* Reads the next sample and advances `place`, which begins at 0. Returns false at the end. */
bool live_samples_next(size_t *place, const void **object, struct live_sample *sample);

/* Fills `objects`, from index `first` on, with the samples that match `filter`. Returns the index after the last
 * row. */
uint32_t live_samples_copy(struct mallometer_object *objects, uint32_t capacity, uint32_t first,
                           const struct object_filter *filter);

#endif
