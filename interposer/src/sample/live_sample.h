/* The data of a sampled object until it is freed: enough to count it at its call site as freed. */
#ifndef MALLOMETER_SAMPLE_LIVE_SAMPLE_H
#define MALLOMETER_SAMPLE_LIVE_SAMPLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "mallometer.h"
#include "sample/collections.h"

struct live_sample {
  uint32_t site;
  /* live_sample_birth() at the allocation. */
  uint32_t born;
  double probability;
  size_t bytes;
  struct collections before; /* the allocation */
};

#define NO_SITE UINT32_MAX
#define MOST_SITES 16384u
/* The result for an object that is no sample. */
#define NO_LIVE_SAMPLE ((struct live_sample){.site = NO_SITE})

/* Returns the time in units of 16.8 ms, by the coarse clock: 32 bits last for two years. */
uint32_t live_sample_birth(void);

/* Chooses the objects that are copied; a NULL filter chooses all. */
struct object_filter {
  bool (*wants)(const void *by, const void *object);
  const void *by;
};

static inline bool filter_wants(const struct object_filter *filter, const void *object) {
  return !filter || filter->wants(filter->by, object);
}

/* Returns the row of the ABI. */
struct mallometer_object live_sample_row(const void *object, const struct live_sample *sample);

#endif
