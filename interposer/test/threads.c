/*
 * Starts and ends threads. A later thread reuses the counters of an ended thread: its own counts must begin at zero,
 * and no earlier counts may be lost. Allocations and frees in destructors of thread keys must be counted, although
 * most come after the thread has given up its counters.
 */
#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <unistd.h>

#include "check.h"

#define KEYS 3
static pthread_key_t keys[KEYS];
static pthread_attr_t small_stack;
#define KEPT_BYTES ((size_t)1 << 20)
static void *kept[KEYS][PTHREAD_DESTRUCTOR_ITERATIONS];
static bool keeps;

/* Allocates and frees in each round of destructors. After the first round, the thread has given up its counters. */
static void destructor(void *value) {
  static __thread int rounds[KEYS];
  size_t key = (size_t)value - 1;
  struct mallometer_counters own = {0};
  if (rounds[key] > 0) CHECK_EQUAL(mallometer_thread_snapshot(&own), -EAGAIN);
  void *object = calloc(1, 700 + key);
  USE(object);
  object = realloc(object, 7000 + key);
  USE(object);
  free(object);
  if (keeps) kept[key][rounds[key]] = malloc(KEPT_BYTES);
  if (++rounds[key] < PTHREAD_DESTRUCTOR_ITERATIONS) pthread_setspecific(keys[key], value);
}

static void *thread_with_destructors(void *unused) {
  (void)unused;
  for (size_t i = 0; i < KEYS; i++) pthread_setspecific(keys[i], (void *)(i + 1));
  free(malloc(90));
  return NULL;
}

static void *begins_at_zero(void *unused) {
  (void)unused;
  struct mallometer_counters own = thread_snapshot();
  CHECK_EQUAL(mallometer_allocations(&own), 0);
  CHECK_EQUAL(own.frees, 0);
  CHECK_EQUAL(own.allocated_bytes, 0);
  free(malloc(50));
  own = thread_snapshot();
  CHECK_EQUAL(mallometer_allocations(&own), 1);
  CHECK_EQUAL(own.frees, 1);
  CHECK_EQUAL(own.requested_bytes, 50);
  CHECK_EQUAL(mallometer_live_bytes(&own), 0);
  return NULL;
}

static void run(void *(*body)(void *)) {
  pthread_t thread;
  CHECK_EQUAL(pthread_create(&thread, &small_stack, body, NULL), 0);
  pthread_join(thread, NULL);
}

/* Keeps objects that destructors allocate, and frees them later. The peak must include these objects although no
 * snapshot is taken while they live. The sampler must take the first of these allocations, because their call path
 * is new. */
static void destructors_keep_objects(void) {
  enum { OBJECTS = KEYS * PTHREAD_DESTRUCTOR_ITERATIONS };
  struct mallometer_counters start = snapshot();
  uint64_t samples = self().samples, live = 0;
  keeps = true;
  run(thread_with_destructors);
  keeps = false;
  for (size_t i = 0; i < OBJECTS; i++) live += unit_size(((void **)kept)[i]);
  CHECK(self().samples >= samples + PTHREAD_DESTRUCTOR_ITERATIONS);
  uint64_t before = start.allocated_bytes - start.freed_bytes;
  for (size_t i = 0; i < OBJECTS; i++) free(((void **)kept)[i]);
  struct mallometer_counters end = snapshot(), d = difference(start, end);
  CHECK(end.peak_live_bytes + end.peak_error_bytes >= before + live);
  CHECK_EQUAL(mallometer_live_bytes(&d), 0);
  CHECK_EQUAL(d.allocations[16], OBJECTS);
}

static volatile uint64_t handled;
static void allocate_in_handler(int signal) {
  (void)signal;
  void *object = malloc(33);
  USE(object);
  free(object);
  handled++;
}

static pthread_t target;
static volatile int wanted, done;
static void *send_signals(void *unused) {
  (void)unused;
  while (!wanted) usleep(10);
  for (int i = 0; i < 6000; i++) {
    pthread_kill(target, SIGUSR1);
    usleep(10);
  }
  done = 1;
  return NULL;
}

/*
 * Interrupts the library by a signal handler that allocates. No allocation, free or failure may be lost.
 *
 * The signal must not interrupt the allocator, which need not be safe in signal handlers. The test therefore calls
 * reallocarray() with sizes that overflow, for which the library does not call the allocator.
 */
static void nothing_is_lost_to_signals(void) {
  struct sigaction action = {.sa_handler = allocate_in_handler, .sa_flags = SA_RESTART};
  sigaction(SIGUSR1, &action, NULL);
  target = pthread_self();
  pthread_t sender;
  pthread_create(&sender, &small_stack, send_signals, NULL);
  struct mallometer_counters start = thread_snapshot();
  uint64_t failures = 0;
  volatile size_t too_much = SIZE_MAX;
  wanted = 1; /* lets the other thread send signals */
  while (!done) {
    USE(reallocarray(NULL, too_much, 2));
    failures++;
  }
  struct mallometer_counters d = difference(start, thread_snapshot());
  CHECK_EQUAL(d.failed, failures);
  CHECK_EQUAL(mallometer_allocations(&d), handled);
  CHECK_EQUAL(d.frees, handled);
  CHECK(handled > 100);
  pthread_join(sender, NULL);
}

int main(void) {
  pthread_attr_init(&small_stack);
  pthread_attr_setstacksize(&small_stack, 128 * 1024);
  for (int i = 0; i < KEYS; i++) CHECK_EQUAL(pthread_key_create(&keys[i], destructor), 0);

  run(begins_at_zero);
  uint64_t footprint = self().footprint_bytes;
  run(begins_at_zero); /* reuses the counters of the first thread, which still hold its totals */
  run(thread_with_destructors);
  run(begins_at_zero);

  struct mallometer_counters start = snapshot();
  for (int i = 0; i < 2000; i++) run(thread_with_destructors);
  struct mallometer_counters d = difference(start, snapshot());
  /* The destructor of each key has run PTHREAD_DESTRUCTOR_ITERATIONS times, with two allocations each time. */
  CHECK_EQUAL(mallometer_allocations(&d) - 2000, 2000 * KEYS * PTHREAD_DESTRUCTOR_ITERATIONS * 2);
  CHECK_EQUAL(d.frees, mallometer_allocations(&d));
  CHECK_EQUAL(mallometer_live_bytes(&d), 0);
  CHECK_EQUAL(snapshot().threads, 1);

  destructors_keep_objects();

  nothing_is_lost_to_signals();
  /* The later threads have needed no memory, because they have reused the first thread's counters. */
  CHECK_EQUAL(self().footprint_bytes, footprint);
  return 0;
}
