/*
 * Helpers of all test programs. A check that fails prints the expected and the found value and ends the program. Code
 * in this file does not allocate between two snapshots.
 */
#ifndef MALLOMETER_TEST_CHECK_H
#define MALLOMETER_TEST_CHECK_H

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "mallometer_optional.h"
#include "so.h"

/* Keeps the compiler from removing an allocation whose object is not used. */
#define USE(object) __asm__ volatile("" : : "r"(object) : "memory")

static inline double seconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static inline struct mallometer_counters snapshot(void) {
  struct mallometer_counters s = {0};
  CHECK_EQUAL(mallometer_snapshot(&s), 0);
  return s;
}

static inline struct mallometer_counters thread_snapshot(void) {
  struct mallometer_counters s = {0};
  CHECK_EQUAL(mallometer_thread_snapshot(&s), 0);
  return s;
}

static inline struct mallometer_counters difference(struct mallometer_counters start, struct mallometer_counters end) {
  mallometer_difference(&start, &end, &end);
  return end;
}

static inline struct mallometer_report self(void) {
  struct mallometer_report s = {0};
  CHECK_EQUAL(mallometer_self(&s), 0);
  return s;
}

/* Returns the size of an object as the library counts it: glibc's chunk size if self().byte_unit says so, otherwise
 * malloc_usable_size(). With MALLOMETER_ACCOUNTING=header, malloc_usable_size() is the requested size. */
static inline uint64_t unit_size(void *object) {
  extern size_t malloc_usable_size(void *);
  static int known_unit = -1; /* The unit never changes, and a report takes longer than a malloc. */
  int unit = __atomic_load_n(&known_unit, __ATOMIC_RELAXED);
  if (unit < 0) __atomic_store_n(&known_unit, unit = (int)self().byte_unit, __ATOMIC_RELAXED);
  uint64_t usable = malloc_usable_size(object);
  if (unit != MALLOMETER_UNIT_GLIBC_CHUNK) return usable;
  size_t word = ((size_t *)object)[-1], chunk = (word & ~(size_t)7) - sizeof word;
  int singly_mapped = (int)(word & 2);
  CHECK(chunk == usable || (singly_mapped && chunk == usable + 8)); /* the chunk is 8 bytes larger before glibc 2.43 */
  return chunk;
}

#endif
