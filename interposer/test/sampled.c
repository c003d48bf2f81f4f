/*
 * Tests the sampling of allocations that come from each function of malloc's family. The first argument is the sampling
 * interval: the mean number of bytes from one sample to the next.
 *
 * The samples must represent the counted bytes within 15 %. An interval of 1 samples every allocation, so the
 * represented bytes must equal the counted bytes. An interval of 0 must give no samples.
 */
#include <malloc.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"

enum { THREADS = 4 };

static size_t rounds;

static void *work(void *unused) {
  for (size_t i = 0; i < rounds; i++) {
    free(malloc(16 + i % 1000));
    free(calloc(3, 1 + i % 300));
    void *object = malloc(i % 50);
    object = realloc(object, 40 + i % 2000);
    object = realloc(object, 3000);
    free(object);
    free(memalign(64, 100 + i % 100));
    void *aligned = NULL;
    CHECK_EQUAL(posix_memalign(&aligned, 128, 200), 0);
    free(aligned);
    if (i % 100 == 0) free(malloc(50000 + 200000 * i / rounds));
  }
  return unused;
}

int main(int argc, char **argv) {
  CHECK(argc == 2);
  unsigned long interval = strtoul(argv[1], NULL, 10);
  rounds = interval > 1 ? 20000 : 2000; /* with an interval of 1, few rounds give enough samples */
  CHECK_EQUAL(self().sample_interval_bytes, interval);
  struct mallometer_report before = self();
  struct mallometer_counters start = snapshot();
  pthread_t threads[THREADS];
  for (int i = 0; i < THREADS; i++) CHECK_EQUAL(pthread_create(&threads[i], NULL, work, NULL), 0);
  for (int i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
  struct mallometer_counters d = difference(start, snapshot());
  struct mallometer_report after = self();
  uint64_t samples = after.samples - before.samples, estimate = after.sampled_bytes - before.sampled_bytes;
  if (interval == 0) {
    CHECK_EQUAL(after.samples, 0);
    CHECK_EQUAL(after.sampled_bytes, 0);
  } else if (interval == 1) {
    CHECK_EQUAL(samples, mallometer_allocations(&d));
    CHECK_EQUAL(estimate, d.allocated_bytes);
    CHECK_EQUAL(after.sampled_bytes, snapshot().allocated_bytes);
  } else {
    CHECK(samples > 100 && samples < mallometer_allocations(&d) / 10);
    double ratio = (double)estimate / (double)d.allocated_bytes;
    printf("%lu samples of %lu allocations, %.3f of the bytes\n", (unsigned long)samples,
           (unsigned long)mallometer_allocations(&d), ratio);
    CHECK(ratio > 0.85 && ratio < 1.15);
  }
  return 0;
}
