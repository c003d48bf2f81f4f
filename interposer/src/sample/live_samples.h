/*
 * The sampled objects that are not freed yet, by address: whoever frees an object asks here whether it was a sample.
 *
 * A filter of one bit for each of 65,536 hashes answers nearly every free; 8 KiB of it leave most of a processor's
 * first cache to the program. Behind it is a table of 65,536 places with open addressing, each place with a count of
 * the samples that belong to it. Nothing is locked: an entry is claimed, filled and published by its address. The
 * memory is reserved with that of the call sites.
 */
#ifndef MALLOMETER_SAMPLE_LIVE_SAMPLES_H
#define MALLOMETER_SAMPLE_LIVE_SAMPLES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "platform/arch.h"
#include "platform/visibility.h"
#include "sample/live_sample.h"

/* Reserves the memory, once. False if there is none now. From any thread, in signal handlers too; may change errno. */
bool live_samples_start(void);

/* How much that is. */
size_t live_samples_bytes(void);

#define LIVE_HASHES 65536u
extern HIDDEN uint8_t live_filter[LIVE_HASHES / 8];

/* Whether an object may be a live sample: false for nearly all that are none. The bit was set before the object was
 * handed out, and where it lies depends on the object's address, so that a relaxed load sees it. */
static inline bool may_be_sampled(const void *object) {
  return __builtin_expect(bit_of_65536(live_filter, (uintptr_t)object >> 4), 0);
}

/* Whether it is one. The object is being freed: nobody else frees it meanwhile. */
bool is_live_sample(const void *object);

/* False if there is no room, or none just now. No sample has the object's address: what was there before has been
 * removed. */
bool live_sample_insert(const void *object, const struct live_sample *sample);

/*
 * NO_LIVE_SAMPLE if it is none. Before the object is given back or moved, since its address may be another's the moment
 * after.
 */
struct live_sample live_sample_remove(const void *object);

/* Of all objects, which others may free meanwhile. Some of what `removed` gets are NO_LIVE_SAMPLE. */
void live_samples_remove_all(void (*removed)(struct live_sample sample));

uint32_t live_samples_count(void);

/* In a forked child: what other threads were about when there were others is over. */
void live_samples_forked(void);

/* The object's as it is; NO_LIVE_SAMPLE if it is none. Others may free it meanwhile. */
struct live_sample live_sample_look(const void *object);

/* The next one from a place on, which begins at 0 and moves on. False if there is none. */
bool live_samples_next(size_t *place, const void **object, struct live_sample *sample);

/* Writes rows from `first` on; returns up to which. */
uint32_t live_samples_copy(struct mallometer_object *objects, uint32_t capacity, uint32_t first,
                           const struct object_filter *filter);

#endif
