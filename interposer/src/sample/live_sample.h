/* A sampled object. The library keeps this data until the object is freed, and then counts the free at the object's
 * call site. */
#ifndef MALLOMETER_SAMPLE_LIVE_SAMPLE_H
#define MALLOMETER_SAMPLE_LIVE_SAMPLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "mallometer.h"
#include "sample/collections.h"

struct live_sample {
  uint32_t site;
  /* The value of live_sample_birth() at the allocation. */
  uint32_t born;
  double probability;
  size_t bytes;
  struct collections before; /* the numbers of garbage collections before the allocation */
};

#define NO_SITE UINT32_MAX
#define MOST_SITES 16384u
#define NO_LIVE_SAMPLE ((struct live_sample){.site = NO_SITE})

/* Returns the present time in units of 2^24 ns (16.8 ms), by the coarse clock. 32 bits last for two years. */
uint32_t live_sample_birth(void);

struct object_filter {
  bool (*wants)(const void *by, const void *object);
  const void *by;
};

static inline bool filter_wants(const struct object_filter *filter, const void *object) {
  return !filter || filter->wants(filter->by, object);
}

struct mallometer_object live_sample_row(const void *object, const struct live_sample *sample);

#endif
