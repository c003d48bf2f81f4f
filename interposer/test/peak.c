/* Checks that the reported peak of live bytes is within its reported error. The test takes no snapshot while the
 * objects are live, so the library must notice the peak when they are allocated. */
#include <pthread.h>

#include "check.h"

#define OBJECTS 500000
#define THREADS 500
static void *objects[OBJECTS];
static pthread_attr_t small_stack;

/* Returns the live bytes. Must not be called while the objects of a test are live, because its snapshot updates the
 * peak. */
static int64_t live_now(void) {
  struct mallometer_counters s = snapshot();
  return mallometer_live_bytes(&s);
}

static void expect_peak(const char *what, uint64_t live) {
  static uint64_t truth;
  if (live > truth) truth = live;
  struct mallometer_counters s = snapshot();
  if (s.peak_live_bytes > truth || s.peak_live_bytes + s.peak_error_bytes < truth) {
    fprintf(stderr, "%s: peak %" PRIu64 " + %" PRIu64 ", truth %" PRIu64 "\n", what, s.peak_live_bytes,
            s.peak_error_bytes, truth);
    exit(1);
  }
}

static void of_size(const char *what, size_t size, int count) {
  uint64_t truth = (uint64_t)live_now();
  for (int i = 0; i < count; i++) {
    objects[i] = malloc(size);
    truth += unit_size(objects[i]);
  }
  for (int i = 0; i < count; i++) free(objects[i]);
  expect_peak(what, truth);
}

static void *allocate_and_end(void *place) {
  *(void **)place = malloc(30000);
  return NULL;
}

/* Allocates so little in each of 500 threads that a thread reports its bytes only when it ends. */
static void of_ended_threads(void) {
  uint64_t truth = (uint64_t)live_now();
  for (int i = 0; i < THREADS; i++) {
    pthread_t thread;
    CHECK_EQUAL(pthread_create(&thread, &small_stack, allocate_and_end, &objects[i]), 0);
    pthread_join(thread, NULL);
    truth += unit_size(objects[i]);
  }
  for (int i = 0; i < THREADS; i++) free(objects[i]);
  /* The C library's own memory for threads can make the peak a few KiB higher than `truth`. */
  struct mallometer_counters s = snapshot();
  CHECK(s.peak_live_bytes <= truth + 65536);
  expect_peak("ended threads", s.peak_live_bytes > truth ? s.peak_live_bytes : truth);
  CHECK(s.peak_error_bytes < truth / 20);
}

/* When an object is reallocated, the peak must not include the old and the new object together. */
static void of_reallocations(void) {
  void *object = malloc(64 << 20);
  for (size_t i = 1; i <= 16; i++) {
    object = realloc(object, (64 << 20) + i * 4096);
    USE(object);
  }
  expect_peak("reallocations", (uint64_t)live_now());
  free(object);
}

int main(void) {
  pthread_attr_init(&small_stack);
  pthread_attr_setstacksize(&small_stack, 128 * 1024);
  of_size("1 byte", 1, OBJECTS / 10);
  of_size("0 bytes", 0, OBJECTS / 8);
  of_size("25 bytes", 25, OBJECTS / 8);
  of_ended_threads();
  of_size("100 bytes", 100, OBJECTS / 2);
  of_size("5000 bytes", 5000, 10000);
  of_reallocations();
  return 0;
}
