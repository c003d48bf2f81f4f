/*
 * Runs more threads at a time than there are blocks of counters. Threads without a block share one; the library must
 * count all their allocations and frees, and report the number of these threads. With the first argument "full", the
 * library was built for 64 blocks. With "unmapped", its calls of mmap fail, so it has no memory for more blocks.
 */
#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

#include "check.h"
#include "own_system_call.h"

enum { THREADS = 150, BLOCKS = 64, ROUNDS = 200 };

static bool refuse;

static int error_of_call(long number, const long *arguments) {
  (void)arguments;
  return number == SYS_mmap && __atomic_load_n(&refuse, __ATOMIC_RELAXED) ? ENOMEM : 0;
}

static pthread_barrier_t barrier;
static uint64_t without_block;
static void *first[THREADS], *handed_on[THREADS];

/* Returns whether the C library preserves errno. glibc reads these files when it makes or shrinks an arena, and sets
 * errno to ENOENT if one is missing. */
static bool errno_is_kept_below(void) {
  return access("/sys/devices/system/cpu/online", R_OK) == 0 && access("/proc/sys/vm/overcommit_memory", R_OK) == 0;
}

static int kept_errno;

static void *work(void *argument) {
  size_t place = (size_t)argument;
  errno = 4711;
  /* Threads with an odd place take their block of counters in this malloc(), the others in the free() below. */
  if (place % 2) first[place] = malloc(20);
  if (kept_errno) CHECK_EQUAL(errno, kept_errno);
  free(first[place]);
  if (kept_errno) CHECK_EQUAL(errno, kept_errno);
  pthread_barrier_wait(&barrier); /* waits until each thread has taken a block or found none */
  struct mallometer_counters own = {0};
  int result = mallometer_thread_snapshot(&own);
  CHECK(result == 0 || result == -EAGAIN);
  if (result == -EAGAIN) __atomic_fetch_add(&without_block, 1, __ATOMIC_RELAXED);
  for (size_t i = 0; i < ROUNDS; i++) free(realloc(malloc(i), 2 * i + 1));
  volatile size_t too_much = PTRDIFF_MAX;
  CHECK(!malloc(too_much));
  handed_on[place] = malloc(100);
  pthread_barrier_wait(&barrier);
  free(handed_on[(place + 1) % THREADS]);
  return NULL;
}

static void crowd(void) {
  pthread_t threads[THREADS];
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, 64 * 1024);
  pthread_barrier_init(&barrier, NULL, THREADS);
  without_block = 0;
  for (size_t i = 0; i < THREADS; i += 2) first[i] = malloc(20);
  for (size_t i = 0; i < THREADS; i++) CHECK_EQUAL(pthread_create(&threads[i], &attributes, work, (void *)i), 0);
  for (size_t i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
}

int main(int argc, char **argv) {
  CHECK(argc == 2);
  if (errno_is_kept_below()) kept_errno = 4711;
  free(malloc(1)); /* lets the library create its first 64 blocks of counters; this thread takes one */
  refuse = strcmp(argv[1], "unmapped") == 0;
  crowd(); /* lets the C library allocate the stacks of threads, which later threads reuse */
  for (int generation = 0; generation < 3; generation++) {
    struct mallometer_counters start = snapshot();
    uint64_t before = self().threads_without_block;
    crowd();
    struct mallometer_counters d = difference(start, snapshot());
    uint64_t of_library = d.frees - THREADS * (2 + 2 * ROUNDS);
    CHECK(of_library == 0 || of_library == THREADS);
    CHECK_EQUAL(mallometer_allocations(&d), d.frees);
    CHECK_EQUAL(mallometer_live_bytes(&d), 0);
    CHECK_EQUAL(d.failed, THREADS);
    CHECK_EQUAL(d.allocations[1], THREADS * 1 + THREADS * (16 + 8)); /* class 1: 17 to 32 bytes */
    CHECK_EQUAL(without_block, THREADS - (BLOCKS - 1));
    CHECK_EQUAL(self().threads_without_block - before, without_block);
    CHECK_EQUAL(snapshot().threads, 1);
  }
  if (!refuse) return 0;
  refuse = false;
  crowd();
  CHECK_EQUAL(without_block, 0);
  return 0;
}
