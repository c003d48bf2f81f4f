/*
 * Compares the counts of call sites with what the program allocated. The first argument is the sampling interval, the
 * mean number of bytes from one sample to the next. With an interval of 1 the counts must be exact, otherwise they
 * must lie within the stated error.
 */
#include <inttypes.h>
#include <limits.h>
#include <malloc.h>
#include <math.h>
#include <pthread.h>
#include <stdbool.h>
#include <string.h>

#include "check.h"

#define NOINLINE __attribute__((noinline, noclone))
enum { MOST_SITES = 16384, CROWDED = MOST_SITES / 2, DEEP = 15 };

static struct mallometer_site sites[MOST_SITES];
static bool exact;

static int read_sites(void) {
  int count = mallometer_sites(sites, MOST_SITES, 0);
  CHECK(count >= 0);
  return count;
}

/* ---- Functions that allocate --------------------------------------------------------------------------- */

static NOINLINE void *keeper(size_t size) {
  void *object = malloc(size);
  USE(object);
  return object;
}

static NOINLINE void *waster(size_t size) {
  void *object = malloc(size);
  USE(object);
  return object;
}

static NOINLINE void *grower(void *object, size_t size) {
  void *grown = realloc(object, size);
  USE(grown);
  return grown;
}

struct figures {
  double allocated_objects, allocated_bytes, live_objects, live_bytes, live_bytes_deviation;
  uint64_t live_samples;
  unsigned stacks;
};

/* Returns whether `address` lies in `function`, which is assumed to be shorter than 200 bytes. */
static bool is_in(uint64_t address, const void *function) {
  const void *all[] = {(const void *)(uintptr_t)keeper, (const void *)(uintptr_t)waster,
                       (const void *)(uintptr_t)grower};
  uint64_t begin = (uint64_t)(uintptr_t)function;
  for (unsigned i = 0; i < 3; i++) {
    uint64_t other = (uint64_t)(uintptr_t)all[i];
    if (other > begin && other <= address) return false;
  }
  return address > begin && address - begin < 200;
}

static struct figures figures_of(const void *function) {
  struct figures f = {0};
  int count = read_sites();
  for (int i = 0; i < count; i++) {
    uint64_t innermost;
    if (mallometer_site_stack((uint32_t)i, &innermost, 1) != 1 || !is_in(innermost, function)) continue;
    CHECK_EQUAL(sites[i].number, i);
    CHECK(sites[i].freed.samples <= sites[i].allocated.samples);
    f.stacks++;
    f.allocated_objects += sites[i].allocated.objects;
    f.allocated_bytes += sites[i].allocated.bytes;
    f.live_samples += sites[i].allocated.samples - sites[i].freed.samples;
    f.live_objects += sites[i].allocated.objects - sites[i].freed.objects;
    f.live_bytes += sites[i].allocated.bytes - sites[i].freed.bytes;
    f.live_bytes_deviation += sites[i].allocated.bytes_variance - sites[i].freed.bytes_variance;
  }
  /* Rounding can make this difference negative, because allocated and freed samples are added in different orders. */
  f.live_bytes_deviation = sqrt(fmax(0, f.live_bytes_deviation));
  return f;
}

#define FIGURES_OF(function) figures_of((const void *)(uintptr_t)(function))

/* Bounds the error that the order of additions causes in a sum of doubles. */
static double rounding(double sum) { return 1e-12 * sum; }

/*
 * Compares live objects and bytes with the expected ones. Sampled values may differ by five standard deviations; chance
 * causes a larger difference once in about two million comparisons.
 *
 * Exact values may lack up to samples_not_followed objects: the library drops a sample if another thread is removing
 * the last sample with the same hash.
 */
static void expect_live(const char *what, struct figures f, double objects, double bytes) {
  uint64_t not_followed = self().samples_not_followed;
  printf("%s: %.0f objects of %.0f, %.0f bytes of %.0f, deviation %.0f, %" PRIu64 " not followed\n", what,
         f.live_objects, objects, f.live_bytes, bytes, f.live_bytes_deviation, not_followed);
  if (exact) {
    double missing = objects - f.live_objects;
    CHECK(missing >= 0 && missing <= (double)not_followed);
    CHECK(missing > 0 ? f.live_bytes < bytes : f.live_bytes == bytes);
    CHECK_EQUAL(f.live_bytes_deviation, 0);
  } else {
    CHECK(fabs(f.live_bytes - bytes) <= 5 * f.live_bytes_deviation + rounding(f.allocated_bytes));
    if (bytes == 0) CHECK_EQUAL(f.live_samples, 0);
    CHECK(f.live_bytes_deviation < 0.5 * bytes + 100000);
  }
}

/* ---- The life of objects ------------------------------------------------------------------------------ */

enum { KEPT = 4000, THREADS = 4 };
static void *kept[THREADS][KEPT];
static pthread_barrier_t all_are_there;
static double sizes[THREADS];

static NOINLINE void *work(void *argument) {
  size_t me = (size_t)argument;
  pthread_barrier_wait(&all_are_there);
  for (size_t i = 0; i < KEPT; i++) {
    kept[me][i] = keeper(100 + i % 500);
    free(waster(50 + i % 3000));
    sizes[me] += (double)unit_size(kept[me][i]);
  }
  pthread_barrier_wait(&all_are_there);
  size_t neighbour = (me + 1) % THREADS;
  for (size_t i = 0; i < KEPT; i += 2) free(kept[neighbour][i]);
  return NULL;
}

static void lives_and_deaths(void) {
  pthread_t threads[THREADS];
  pthread_barrier_init(&all_are_there, NULL, THREADS);
  for (size_t i = 0; i < THREADS; i++) CHECK_EQUAL(pthread_create(&threads[i], NULL, work, (void *)i), 0);
  for (size_t i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
  double bytes = 0;
  for (size_t t = 0; t < THREADS; t++) {
    for (size_t i = 1; i < KEPT; i += 2) bytes += (double)unit_size(kept[t][i]);
  }
  struct figures keeping = FIGURES_OF(keeper), wasting = FIGURES_OF(waster);
  expect_live("kept", keeping, THREADS * KEPT / 2, bytes);
  expect_live("wasted", wasting, 0, 0);
  if (exact) {
    CHECK_EQUAL(keeping.allocated_objects, THREADS * KEPT);
    CHECK_EQUAL(keeping.allocated_bytes, sizes[0] + sizes[1] + sizes[2] + sizes[3]);
    CHECK_EQUAL(wasting.allocated_objects, THREADS * KEPT);
    CHECK_EQUAL(keeping.stacks, 1); /* equal stacks of different threads are one call site */
  }

  /* A reallocated object belongs to the call site of the realloc, unless the realloc fails. */
  volatile size_t too_much = PTRDIFF_MAX;
  for (size_t i = 1; i < KEPT; i += 2) {
    CHECK(!realloc(kept[0][i], too_much));
    bytes -= (double)unit_size(kept[1][i]);
    kept[1][i] = grower(kept[1][i], 5000 + i);
  }
  double grown = 0;
  for (size_t i = 1; i < KEPT; i += 2) grown += (double)unit_size(kept[1][i]);
  expect_live("kept after growth", FIGURES_OF(keeper), (THREADS - 1) * KEPT / 2, bytes);
  expect_live("grown", FIGURES_OF(grower), KEPT / 2, grown);
  for (size_t t = 0; t < THREADS; t++) {
    for (size_t i = 1; i < KEPT; i += 2) free(kept[t][i]);
  }
  expect_live("kept in the end", FIGURES_OF(keeper), 0, 0);
  expect_live("grown in the end", FIGURES_OF(grower), 0, 0);
}

/* ---- Destructors of thread keys, most of which run after the library's own destructor ------------------ */

enum { ENDING = 50, OF_ENDING = ENDING * PTHREAD_DESTRUCTOR_ITERATIONS };
static pthread_key_t key;
static void *left_by[ENDING][PTHREAD_DESTRUCTOR_ITERATIONS];

static void destructor(void *objects) {
  static __thread unsigned rounds;
  ((void **)objects)[rounds] = keeper(1000);
  free(waster(2000));
  if (++rounds < PTHREAD_DESTRUCTOR_ITERATIONS) pthread_setspecific(key, objects);
}

static void *use_key(void *objects) {
  free(malloc(10));
  pthread_setspecific(key, objects);
  return NULL;
}

static void destructors_allocate(void) {
  double kept_before = FIGURES_OF(keeper).allocated_objects, wasted_before = FIGURES_OF(waster).allocated_objects;
  CHECK_EQUAL(pthread_key_create(&key, destructor), 0);
  double bytes = 0;
  for (size_t i = 0; i < ENDING; i++) {
    pthread_t thread;
    CHECK_EQUAL(pthread_create(&thread, NULL, use_key, left_by[i]), 0);
    pthread_join(thread, NULL);
  }
  for (size_t i = 0; i < OF_ENDING; i++) bytes += (double)unit_size(((void **)left_by)[i]);
  struct figures keeping = FIGURES_OF(keeper), wasting = FIGURES_OF(waster);
  expect_live("kept by destructors", keeping, OF_ENDING, bytes);
  expect_live("wasted by destructors", wasting, 0, 0);
  CHECK(keeping.allocated_objects > kept_before && wasting.allocated_objects > wasted_before);
  if (exact) {
    CHECK_EQUAL(keeping.allocated_objects - kept_before, OF_ENDING);
    CHECK_EQUAL(wasting.allocated_objects - wasted_before, OF_ENDING);
  }
  for (size_t i = 0; i < OF_ENDING; i++) free(((void **)left_by)[i]);
  expect_live("kept by destructors in the end", FIGURES_OF(keeper), 0, 0);
}

/* ---- Full tables -------------------------------------------------------------------------------------- */

static NOINLINE void left(unsigned path, unsigned depth);

static NOINLINE void right(unsigned path, unsigned depth) {
  if (depth == 0) {
    free(waster(100));
  } else if (path & 1) {
    left(path >> 1, depth - 1);
  } else {
    right(path >> 1, depth - 1);
  }
  USE(&path);
}

static NOINLINE void left(unsigned path, unsigned depth) {
  right(path >> 1, depth > 0 ? depth - 1 : 0);
  USE(&path);
  USE(&depth);
}

static void more_than_there_is_room_for(void) {
  enum { MANY = 75000 };
  static void *objects[MANY];
  for (size_t i = 0; i < MANY; i++) objects[i] = keeper(32);
  CHECK(self().samples_not_followed > 0);
  CHECK(self().live_samples > 50000 && self().live_samples <= 65536);
  for (size_t i = 0; i < MANY; i++) free(objects[i]);
  CHECK(self().live_samples < 1000);
  CHECK_EQUAL(FIGURES_OF(keeper).live_objects, 0);
  for (size_t i = 0; i < 1000; i++) objects[i] = keeper(32); /* samples find room where earlier ones were removed */
  CHECK_EQUAL(FIGURES_OF(keeper).live_objects, 1000);

  unsigned before = self().call_sites;
  for (unsigned path = 0; path < 1u << 2 * DEEP; path += 30011) right(path * 2654435761u, 2 * DEEP);
  int count = read_sites();
  CHECK_EQUAL(self().call_sites, count);
  CHECK(before < CROWDED && count > CROWDED + 20 && count < CROWDED + 1000);
  CHECK_EQUAL(self().samples_without_site, 0);
  for (int i = CROWDED + 1; i < count; i++) CHECK(sites[i].frames <= 8);
}

int main(int argc, char **argv) {
  CHECK(argc == 2);
  exact = strcmp(argv[1], "1") == 0;
  CHECK_EQUAL(mallometer_sites(NULL, 1, 0), -22);
  CHECK_EQUAL(mallometer_site_stack(MOST_SITES, &(uint64_t){0}, 1), -22);
  CHECK_EQUAL(mallometer_site_stack(0, NULL, 1), -22);
  lives_and_deaths();
  destructors_allocate();
  if (exact) more_than_there_is_room_for();
  return 0;
}
