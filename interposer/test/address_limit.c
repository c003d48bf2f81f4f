/* Tests a process whose address space is used up. Allocations then fail and are counted as failed, threads can still
 * begin and end, and allocations succeed again when memory is freed. */
#include <errno.h>
#include <pthread.h>
#include <sys/resource.h>

#include "check.h"

enum { CHUNK = 1 << 20, MAXIMUM = 4096 };
static void *chunks[MAXIMUM];

static void *work(void *unused) {
  for (size_t i = 0; i < 100; i++) free(malloc(i * 1000));
  return unused;
}

static int threads(void) {
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, 64 * 1024);
  pthread_t started[80];
  int count = 0;
  while (count < 80 && pthread_create(&started[count], &attributes, work, NULL) == 0) count++;
  for (int i = 0; i < count; i++) pthread_join(started[i], NULL);
  return count;
}

static uint64_t address_space(void) {
  unsigned long pages = 0;
  FILE *file = fopen("/proc/self/statm", "r");
  CHECK(file && fscanf(file, "%lu", &pages) == 1);
  fclose(file);
  return (uint64_t)pages * 4096;
}

int main(void) {
  CHECK_EQUAL(threads(), 80); /* the C library caches the threads' stacks, so later threads need no new ones */
  struct rlimit limit;
  getrlimit(RLIMIT_AS, &limit);
  limit.rlim_cur = address_space() + (64u << 20);
  CHECK_EQUAL(setrlimit(RLIMIT_AS, &limit), 0);

  struct mallometer_counters start = snapshot();
  int count = 0;
  while (count < MAXIMUM && (chunks[count] = malloc(CHUNK))) count++;
  CHECK(count > 0 && count < MAXIMUM);
  CHECK_EQUAL(errno, ENOMEM);
  struct mallometer_counters d = difference(start, snapshot());
  CHECK_EQUAL(mallometer_allocations(&d), count);
  CHECK_EQUAL(d.failed, 1);
  threads(); /* may start fewer than 80 threads, because there is no memory for their stacks */
  for (int i = 0; i < count; i++) free(chunks[i]);
  limit.rlim_cur = limit.rlim_max;
  setrlimit(RLIMIT_AS, &limit);
  CHECK_EQUAL(threads(), 80);
  d = difference(start, snapshot());
  CHECK_EQUAL(d.frees, mallometer_allocations(&d));
  CHECK_EQUAL(mallometer_live_bytes(&d), 0);
  return 0;
}
