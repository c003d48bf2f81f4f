/* Makes a known number of calls of each kind, in as many threads as the first argument says, and checks that the
 * library counts them exactly. The end of a thread must not change the process's counters. */
#include <errno.h>
#include <malloc.h>
#include <pthread.h>
#include <string.h>
#include <unistd.h>

#include "check.h"

#define ROUNDS 300
#define MAXIMUM_THREADS 64

struct tally {
  uint64_t allocations[MALLOMETER_SIZE_CLASSES], frees, failed, requested, allocated, freed;
};

struct worker {
  pthread_t thread;
  struct tally tally;
  /* Objects that another worker frees: each worker frees the objects of its neighbour. */
  void *left[ROUNDS];
  struct worker *neighbour;
  uint32_t random;
};

static struct worker workers[MAXIMUM_THREADS];
static pthread_barrier_t start_line, half_way;

static unsigned class_by_definition(uint64_t size) {
  unsigned i = 0;
  while (size > mallometer_class_limit(i)) i++;
  return i;
}

static void *allocated(struct tally *t, void *object, size_t requested) {
  CHECK(object);
  t->allocations[class_by_definition(requested)]++;
  t->requested += requested;
  t->allocated += unit_size(object);
  return object;
}

static void release(struct tally *t, void *object) {
  t->frees++;
  t->freed += unit_size(object);
  free(object);
}

static size_t random_size(struct worker *w) {
  w->random = w->random * 1664525u + 1013904223u;
  size_t limit = (size_t)1 << (w->random >> 24) % 20;
  return (w->random >> 4) % limit;
}

static void *reallocated(struct tally *t, void *object, size_t requested) {
  uint64_t old_size = unit_size(object);
  void *moved = realloc(object, requested);
  t->frees++;
  t->freed += old_size;
  return allocated(t, moved, requested);
}

static void one_round(struct worker *w, int round) {
  struct tally *t = &w->tally;
  size_t size = random_size(w);
  void *object = allocated(t, malloc(size), size);
  size = random_size(w);
  object = reallocated(t, object, size + 1);
  object = reallocated(t, object, size + 2); /* nearly always in place */
  object = reallocated(t, object, 1);
  release(t, object);

  size = random_size(w);
  release(t, allocated(t, calloc(3, size), 3 * size));
  object = allocated(t, reallocarray(NULL, 5, size), 5 * size);
  release(t, object);
  release(t, allocated(t, memalign(64, size), size));
  release(t, allocated(t, aligned_alloc(128, size), size));
  release(t, allocated(t, valloc(size), size));
  /* pvalloc allocates whole pages, at least one. */
  size_t page = (size_t)sysconf(_SC_PAGESIZE);
  release(t, allocated(t, pvalloc(size), size ? (size + page - 1) / page * page : page));
  CHECK_EQUAL(posix_memalign(&object, 4096, size), 0);
  release(t, allocated(t, object, size));

  /* A thread updates the process's live bytes when its own have grown by 64 KiB. An allocation of 300,000 bytes
   * forces this update. Objects of 9 MiB are mapped separately by the allocator. */
  release(t, allocated(t, malloc(300000), 300000));
  if (round % 50 == 0) release(t, allocated(t, malloc((size_t)9 << 20), (size_t)9 << 20));

  errno = 0;
  volatile size_t too_much = SIZE_MAX / 2;
  CHECK(malloc(too_much) == NULL && errno == ENOMEM);
  CHECK(calloc(too_much, 4) == NULL);
  CHECK(reallocarray(NULL, too_much, 4) == NULL);
  CHECK(pvalloc(SIZE_MAX - 5) == NULL);
  CHECK(posix_memalign(&object, 3, 1) == EINVAL);
  t->failed += 5;

  object = allocated(t, malloc(40), 40);
  CHECK(realloc(object, too_much) == NULL);
  t->failed++;
  uint64_t old_size = unit_size(object);
  void *nothing = realloc(object, 0); /* frees the object, but some allocators then return an object of 0 bytes */
  t->frees++;
  t->freed += old_size;
  if (nothing) release(t, allocated(t, nothing, 0));

  free(NULL);
  w->left[round] = allocated(t, malloc(size), size);
}

static void *work(void *argument) {
  struct worker *w = argument;
  /* A thread takes its counters at its first allocation: here, before any snapshot. */
  free(malloc(1));
  pthread_barrier_wait(&start_line); /* waits until all threads have begun */
  pthread_barrier_wait(&start_line); /* waits until the main thread has taken its snapshot */
  struct mallometer_counters start = thread_snapshot();
  for (int i = 0; i < ROUNDS; i++) one_round(w, i);
  pthread_barrier_wait(&half_way);
  for (int i = 0; i < ROUNDS; i++) release(&w->tally, w->neighbour->left[i]);

  struct mallometer_counters own = difference(start, thread_snapshot());
  CHECK_EQUAL(own.frees, w->tally.frees);
  CHECK_EQUAL(own.failed, w->tally.failed);
  CHECK_EQUAL(own.requested_bytes, w->tally.requested);
  CHECK_EQUAL(own.allocated_bytes, w->tally.allocated);
  CHECK_EQUAL(own.freed_bytes, w->tally.freed);
  for (unsigned c = 0; c < MALLOMETER_SIZE_CLASSES; c++) CHECK_EQUAL(own.allocations[c], w->tally.allocations[c]);
  return NULL;
}

int main(int argc, char **argv) {
  int threads = argc > 1 ? atoi(argv[1]) : 1;
  CHECK(threads >= 1 && threads <= MAXIMUM_THREADS);
  CHECK_EQUAL(self().state, MALLOMETER_STATE_COUNTING);
  pthread_barrier_init(&start_line, NULL, (unsigned)threads + 1);
  pthread_barrier_init(&half_way, NULL, (unsigned)threads);
  /* Stacks of this size fit into the C library's cache of stacks. A thread that ends would otherwise free memory,
   * and the library would count the free. */
  pthread_attr_t small_stack;
  pthread_attr_init(&small_stack);
  pthread_attr_setstacksize(&small_stack, 256 * 1024);
  for (int i = 0; i < threads; i++) {
    workers[i].neighbour = &workers[(i + 1) % threads];
    workers[i].random = (uint32_t)i * 77777u + 1;
    CHECK_EQUAL(pthread_create(&workers[i].thread, &small_stack, work, &workers[i]), 0);
  }
  pthread_barrier_wait(&start_line);
  struct mallometer_counters start = snapshot();
  CHECK_EQUAL(start.threads, threads + 1);
  pthread_barrier_wait(&start_line);
  struct tally all = {0};
  for (int i = 0; i < threads; i++) {
    pthread_join(workers[i].thread, NULL);
    struct tally *t = &workers[i].tally;
    for (unsigned c = 0; c < MALLOMETER_SIZE_CLASSES; c++) all.allocations[c] += t->allocations[c];
    all.frees += t->frees;
    all.failed += t->failed;
    all.requested += t->requested;
    all.allocated += t->allocated;
    all.freed += t->freed;
  }

  struct mallometer_counters end = snapshot();
  CHECK_EQUAL(end.threads, 1);
  struct mallometer_counters d = difference(start, end);
  uint64_t small = 0, large = 0;
  for (unsigned c = 0; c < MALLOMETER_SIZE_CLASSES; c++) {
    CHECK_EQUAL(d.allocations[c], all.allocations[c]);
    *(mallometer_class_limit(c) <= 4096 ? &small : &large) += all.allocations[c];
  }
  CHECK_EQUAL(mallometer_small_allocations(&d), small);
  CHECK_EQUAL(mallometer_large_allocations(&d), large);
  CHECK_EQUAL(mallometer_allocations(&d), small + large);
  CHECK(small > 0 && large > 0 && all.allocations[MALLOMETER_SIZE_CLASSES - 1] > 0);
  CHECK_EQUAL(d.frees, all.frees);
  CHECK_EQUAL(d.failed, all.failed);
  CHECK_EQUAL(d.requested_bytes, all.requested);
  CHECK_EQUAL(d.allocated_bytes, all.allocated);
  CHECK_EQUAL(d.freed_bytes, all.freed);
  CHECK_EQUAL(mallometer_live_bytes(&d), 0);
  printf("%" PRIu64 " allocations, %" PRIu64 " frees, %" PRIu64 " requested, %" PRIu64 " failed\n",
         mallometer_allocations(&d), d.frees, d.requested_bytes, d.failed);
  return 0;
}
