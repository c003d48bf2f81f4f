/*
 * Calls the functions that search for the Java owners of native memory, in a program without a JVM. Each must return an
 * error and must not keep memory. OwnersOfARealJvmTest searches a heap.
 */
#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "check.h"

#define NOINLINE __attribute__((noinline, noclone))
enum { OBJECTS = 20, SIZE = 1000, ROWS = 1024 };

static char *objects[OBJECTS];

static NOINLINE void keep(void) {
  for (int i = 0; i < OBJECTS; i++) {
    objects[i] = malloc(SIZE);
    USE(objects[i]);
  }
}

static uint32_t site(void) {
  static struct mallometer_site sites[ROWS];
  int count = mallometer_sites(sites, ROWS, 0);
  for (int i = 0; i < count; i++) {
    if (sites[i].allocated.samples == OBJECTS) return sites[i].number;
  }
  CHECK(false);
  return 0;
}

static void without_a_jvm_no_search_begins(uint32_t number) {
  struct mallometer_owners owners = {0};
  uint64_t before = self().footprint_bytes;
  for (int i = 0; i < 100; i++) CHECK_EQUAL(mallometer_owners_begin(number, &owners), -ESRCH);
  CHECK_EQUAL(owners.samples, 0);
  CHECK_EQUAL(self().footprint_bytes, before);
  CHECK_EQUAL(mallometer_owners_begin(1u << 20, &owners), -ENODATA);
  CHECK_EQUAL(mallometer_owners_begin(number, NULL), -EINVAL);
}

static void without_a_search_there_is_nothing(void) {
  struct mallometer_owners owners = {0};
  struct mallometer_hold rows[1];
  char name[8];
  for (uint32_t step = 0; step < 6; step++) CHECK_EQUAL(mallometer_owners_step(step, &owners), -ENODATA);
  CHECK_EQUAL(mallometer_owners_step(MALLOMETER_OWNERS_HOLDERS, NULL), -EINVAL);
  CHECK_EQUAL(mallometer_owners_rows(MALLOMETER_OWNERS_HOLDS, rows, 1), -ENODATA);
  CHECK_EQUAL(mallometer_owners_rows(MALLOMETER_OWNERS_HOLDS, NULL, 1), -EINVAL);
  CHECK_EQUAL(mallometer_owners_name(0, name, sizeof name), -ENODATA);
  CHECK_EQUAL(mallometer_owners_name(0, NULL, sizeof name), -EINVAL);
  CHECK_EQUAL(mallometer_owners_end(), -ENODATA);
}

int main(void) {
  keep();
  uint32_t number = site();
  without_a_jvm_no_search_begins(number);
  without_a_search_there_is_nothing();
  return 0;
}
