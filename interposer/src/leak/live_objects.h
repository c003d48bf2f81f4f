/*
 * The live samples of a call site, wherever they are: in slots (slots.h) or where the allocator has put them
 * (sample/live_samples.h).
 */
#ifndef MALLOMETER_LEAK_LIVE_OBJECTS_H
#define MALLOMETER_LEAK_LIVE_OBJECTS_H

#include <stdbool.h>
#include <stddef.h>

#include "sample/live_sample.h"

/* Where a walk over all of them is; begins with zeros. */
struct live_objects {
  size_t slot, place;
};

/* The next one. False if there is none. Objects that come and go meanwhile may be missing. */
bool live_objects_next(struct live_objects *walk, const void **object, struct live_sample *sample);

/* Whether the object at this address is still the one that was seen there. */
bool live_object_is(const void *object, const struct live_sample *sample);

#endif
