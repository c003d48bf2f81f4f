/* Starts the number of threads that the first argument states, 32 at a time. mallometer must need memory for only 32
 * threads, but its totals must include all threads. Each thread frees an object of an earlier thread. */
#include <pthread.h>

#include "check.h"

#define AT_ONCE 32

static void *inherited[AT_ONCE];

static void *work(void *argument) {
  size_t place = (size_t)argument;
  free(inherited[place]);
  inherited[place] = malloc(40 + place);
  free(malloc(10));
  return NULL;
}

static void generation(pthread_attr_t *attributes) {
  pthread_t threads[AT_ONCE];
  for (size_t i = 0; i < AT_ONCE; i++) CHECK_EQUAL(pthread_create(&threads[i], attributes, work, (void *)i), 0);
  for (size_t i = 0; i < AT_ONCE; i++) pthread_join(threads[i], NULL);
}

int main(int argc, char **argv) {
  CHECK(argc == 2);
  uint64_t generations = (uint64_t)atoi(argv[1]) / AT_ONCE;
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, 64 * 1024);
  generation(&attributes); /* makes the C library allocate stacks that later threads reuse */

  struct mallometer_counters start = snapshot();
  uint64_t footprint = self().footprint_bytes;
  for (uint64_t i = 0; i < generations; i++) generation(&attributes);
  struct mallometer_counters d = difference(start, snapshot());
  /* The C library may make one allocation for each thread. Its size class is above those of the test's objects. */
  CHECK_EQUAL(d.allocations[0], generations * AT_ONCE);       /* the objects of 10 bytes */
  CHECK_EQUAL(d.allocations[2], generations * (64 - 40 + 1));
  CHECK_EQUAL(d.allocations[3], generations * (71 - 65 + 1));
  uint64_t of_library = mallometer_allocations(&d) - 2 * generations * AT_ONCE;
  CHECK(of_library == 0 || of_library == generations * AT_ONCE);
  CHECK_EQUAL(d.frees, mallometer_allocations(&d));
  CHECK_EQUAL(mallometer_live_bytes(&d), 0);
  CHECK_EQUAL(snapshot().threads, 1);
  CHECK(self().footprint_bytes - footprint <= 64 * 1024);
  CHECK_EQUAL(self().threads_without_block, 0);
  return 0;
}
