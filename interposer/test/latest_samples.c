/* Tests the ring buffer of the latest samples. Adding a sample must cause no page fault. A forked child adds none. */
#include "sample/latest_samples.h"

#include <sys/resource.h>
#include <unistd.h>

#include "check.h"
#include "platform/clock.h"
#include "platform/memory.h"
#include "platform/thread.h"

size_t memory_page_bytes(void) { return (size_t)getpagesize(); }
uint64_t coarse_monotonic_ns(void) { return 5; }
uint32_t thread_id_known(void) { return 77; }

static long faults(void) {
  struct rusage usage;
  CHECK_EQUAL(getrusage(RUSAGE_THREAD, &usage), 0);
  return usage.ru_minflt;
}

int main(void) {
  struct latest_sample sample;
  latest_samples_add(3, 10);
  CHECK_EQUAL(latest_samples_count(), 0);
  latest_samples_keep();
  long before = faults();
  for (uint32_t i = 1; i <= LATEST_SAMPLES + 1; i++) latest_samples_add(i, 10);
  /* Adding samples must not fault on the 32 pages of the ring. One fault is allowed, because it may load code. */
  CHECK(faults() - before <= 1);
  CHECK_EQUAL(latest_samples_bytes(), 10 * (LATEST_SAMPLES + 1));
  CHECK(!latest_sample_read(1, &sample));
  CHECK(latest_sample_read(LATEST_SAMPLES + 1, &sample));
  CHECK_EQUAL(sample.site, LATEST_SAMPLES + 1);
  CHECK_EQUAL(sample.thread, 77);
  latest_samples_forked();
  latest_samples_add(3, 10);
  CHECK_EQUAL(latest_samples_count(), LATEST_SAMPLES + 1);
  return 0;
}
