/* Walks all live samples: those in slots (pages of a single object, slots.h) and all others (sample/live_samples.h). */
#ifndef MALLOMETER_LEAK_LIVE_OBJECTS_H
#define MALLOMETER_LEAK_LIVE_OBJECTS_H

#include <stdbool.h>
#include <stddef.h>

#include "sample/live_sample.h"

/* The position of a walk over all live samples; begins with zeros. */
struct live_objects {
  size_t slot, place;
};

/* Returns the next live sample; false after the last one. Objects that are allocated, freed or moved meanwhile may be
 * missing. */
bool live_objects_next(struct live_objects *walk, const void **object, struct live_sample *sample);

bool live_object_is(const void *object, const struct live_sample *sample);

#endif
