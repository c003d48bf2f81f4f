/* Tests requests above 32 KiB: their counts and bytes, the largest request, huge requests, failures, a realloc
 * between small and large sizes, and the peak. */
#include <string.h>

#include "check.h"

enum { ROUNDS = 50 };

#define KIB ((size_t)1024)
#define MIB ((size_t)1024 * 1024)

struct expected {
  uint64_t allocations, requested, allocated, frees, freed;
};

static struct expected expected;

static void *noted(void *object, size_t requested) {
  CHECK(object);
  USE(object);
  expected.allocations++;
  expected.requested += requested;
  expected.allocated += unit_size(object);
  return object;
}

static void note_free(uint64_t bytes) {
  expected.frees++;
  expected.freed += bytes;
}

static void noted_free(void *object) {
  note_free(unit_size(object));
  free(object);
}

static void *noted_realloc(void *object, size_t size) {
  uint64_t before = unit_size(object);
  object = noted(realloc(object, size), size);
  note_free(before);
  return object;
}

static void expect(struct mallometer_counters start) {
  struct mallometer_counters d = difference(start, snapshot());
  CHECK_EQUAL(mallometer_allocations(&d), expected.allocations);
  CHECK_EQUAL(d.requested_bytes, expected.requested);
  CHECK_EQUAL(d.allocated_bytes, expected.allocated);
  CHECK_EQUAL(d.frees, expected.frees);
  CHECK_EQUAL(d.freed_bytes, expected.freed);
  expected = (struct expected){0};
}

static void counts_are_exact(void) {
  struct mallometer_counters start = snapshot();
  for (unsigned i = 0; i < ROUNDS; i++) {
    for (size_t size = 32 * KIB; size <= 16 * MIB; size *= 8) {
      noted_free(noted(malloc(size + 1), size + 1));
      noted_free(noted(calloc(size / 2 + 1, 2), size + 2));
    }
  }
  expect(start);
}

static void a_realloc_may_go_there_and_back(void) {
  struct mallometer_counters start = snapshot();
  for (unsigned i = 0; i < ROUNDS; i++) {
    char *object = noted(malloc(20), 20);
    memset(object, (int)i, 20);
    object = noted_realloc(object, 40 * KIB);
    object = noted_realloc(object, 3 * MIB);
    object = noted_realloc(object, 100 * KIB);
    object = noted_realloc(object, 30);
    for (unsigned at = 0; at < 20; at++) CHECK_EQUAL(object[at], (char)i);
    noted_free(object);
  }
  expect(start);
}

static void the_largest_and_the_huge_are_known(void) {
  struct mallometer_counters start = snapshot();
  CHECK_EQUAL(start.largest_request_bytes, 16 * MIB + 2);
  free(realloc(malloc(100), 70 * MIB));
  free(calloc(71, MIB));
  struct mallometer_counters end = snapshot();
  CHECK_EQUAL(end.largest_request_bytes, 71 * MIB);
  CHECK_EQUAL(end.huge_allocations - start.huge_allocations, 2);
}

static void failures_are_failures(void) {
  volatile size_t too_much = SIZE_MAX / 2;
  struct mallometer_counters start = snapshot();
  void *object = noted(malloc(50 * KIB), 50 * KIB);
  CHECK(!malloc(too_much) && !calloc(1, too_much) && !realloc(object, too_much));
  /* The library computes with doubled sizes, and the double of this size overflows. */
  too_much += 2;
  CHECK(!malloc(too_much) && !calloc(1, too_much) && !realloc(object, too_much));
  noted_free(object);
  expect(start);
  struct mallometer_counters d = difference(start, snapshot());
  CHECK_EQUAL(d.failed, 6);
}

/* The peak must include large objects that are allocated and freed without a snapshot between. */
static void the_peak_knows(void) {
  enum { OBJECTS = 100 };
  static void *objects[OBJECTS];
  struct mallometer_counters s = snapshot();
  uint64_t truth = mallometer_live_bytes(&s);
  for (unsigned i = 0; i < OBJECTS; i++) {
    objects[i] = i % 2 ? malloc((size_t)i * 40000) : realloc(malloc(100), 40000 + (size_t)i * 50000);
    truth += unit_size(objects[i]);
  }
  for (unsigned i = 0; i < OBJECTS; i++) free(objects[i]);
  s = snapshot();
  CHECK(s.peak_live_bytes <= truth && s.peak_live_bytes + s.peak_error_bytes >= truth);
  CHECK(truth > 200 * MIB);
}

int main(void) {
  counts_are_exact();
  the_largest_and_the_huge_are_known();
  a_realloc_may_go_there_and_back();
  failures_are_failures();
  the_peak_knows();
  return 0;
}
