/* The kernel's clocks in nanoseconds. Reading one enters no kernel, changes no errno, and is allowed anywhere. */
#ifndef MALLOMETER_PLATFORM_CLOCK_H
#define MALLOMETER_PLATFORM_CLOCK_H

#include <stdint.h>
#include <time.h>

static inline uint64_t clock_ns(clockid_t clock) {
  struct timespec now;
  clock_gettime(clock, &now);
  return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static inline uint64_t monotonic_ns(void) { return clock_ns(CLOCK_MONOTONIC); }

#endif
