/* Tests call sites on a processor that the library does not know, where a stack is only the return address of
 * malloc's caller. Two functions that allocate must be two call sites. */
#include "check.h"

enum { OBJECTS = 100 };

static void *objects[2 * OBJECTS];

__attribute__((noinline)) static void *here(size_t size) {
  void *object = malloc(size);
  USE(object);
  return object;
}

__attribute__((noinline)) static void *there(size_t size) {
  void *object = malloc(size);
  USE(object);
  return object;
}

static struct mallometer_site sites[64];

int main(void) {
  CHECK_EQUAL(self().sample_interval_bytes, 1);
  for (size_t i = 0; i < OBJECTS; i++) {
    objects[2 * i] = here(1000);
    objects[2 * i + 1] = there(3000);
  }
  int count = mallometer_sites(sites, 64, 0);
  CHECK(count >= 2);
  int of_here = 0, of_there = 0;
  for (int i = 0; i < count; i++) {
    CHECK(sites[i].frames <= 1);
    uint64_t stack[8];
    if (sites[i].frames == 1) CHECK_EQUAL(mallometer_site_stack(sites[i].number, stack, 8), 1);
    if (sites[i].frames != 1 || sites[i].allocated.samples != OBJECTS) continue;
    of_here += sites[i].allocated.bytes < 1100 * OBJECTS;
    of_there += sites[i].allocated.bytes >= 3000 * OBJECTS;
  }
  CHECK_EQUAL(of_here, 1);
  CHECK_EQUAL(of_there, 1);
  for (size_t i = 0; i < 2 * OBJECTS; i++) free(objects[i]);
  return 0;
}
