/*
 * What is remembered of a sampled object until it is freed: enough to count it at its call site again, then as freed.
 */
#ifndef MALLOMETER_SAMPLE_LIVE_SAMPLE_H
#define MALLOMETER_SAMPLE_LIVE_SAMPLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "mallometer.h"

struct live_sample {
  uint32_t site;
  /* live_sample_birth() of then. */
  uint32_t born;
  double probability;
  size_t bytes;
};

#define NO_SITE UINT32_MAX
#define MOST_SITES 16384u
/* What an object that is no sample yields. */
#define NO_LIVE_SAMPLE ((struct live_sample){.site = NO_SITE})

/* Now, in units of 16.8 ms by the coarse clock: 32 bits last for two years. */
uint32_t live_sample_birth(void);

/* Which objects are copied; no filter: all. */
struct object_filter {
  bool (*wants)(const void *by, const void *object);
  const void *by;
};

static inline bool filter_wants(const struct object_filter *filter, const void *object) {
  return !filter || filter->wants(filter->by, object);
}

/* As the ABI shows it. */
struct mallometer_object live_sample_row(const struct live_sample *sample);

#endif
