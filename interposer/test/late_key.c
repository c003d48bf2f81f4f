/*
 * Tests threads in a process in which another library (keys_first.c) has created so many thread keys that the C
 * library must allocate memory for the value of mallometer's key. No allocation and no free may be lost, and the
 * counters of ended threads must be reused.
 */
#include <pthread.h>

#include "check.h"

extern int destructor_events __attribute__((weak)), events_before_keys __attribute__((weak));
extern void use_all_keys(void) __attribute__((weak));

static void *keys_then_hook(void *unused) {
  use_all_keys();
  free(malloc(10));
  return unused;
}

static void *hook_then_keys(void *unused) {
  free(malloc(10));
  use_all_keys();
  return unused;
}

static void run(void *(*body)(void *)) {
  pthread_t thread;
  CHECK_EQUAL(pthread_create(&thread, NULL, body, NULL), 0);
  pthread_join(thread, NULL);
}

int main(void) {
  CHECK(use_all_keys);
  run(keys_then_hook); /* makes the C library allocate a stack that later threads reuse */
  struct mallometer_counters start = snapshot();
  int before = destructor_events;
  uint64_t footprint = self().footprint_bytes;
  for (int i = 0; i < 500; i++) run(i % 2 ? keys_then_hook : hook_then_keys);
  struct mallometer_counters d = difference(start, snapshot());
  uint64_t ours = 500 + (uint64_t)(destructor_events - before);
  /* The C library allocates a second table of the keys' values for each thread, and sometimes a table of thread-local
   * variables. */
  CHECK(mallometer_allocations(&d) >= ours + 500 && mallometer_allocations(&d) <= ours + 1000);
  CHECK_EQUAL(d.frees, mallometer_allocations(&d));
  CHECK_EQUAL(mallometer_live_bytes(&d), 0);
  CHECK_EQUAL(snapshot().threads, 1);
  CHECK_EQUAL(self().footprint_bytes, footprint);
  printf("events before keys: %d\n", events_before_keys);
  return 0;
}
