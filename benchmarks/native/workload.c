/*
 * The allocation patterns whose cost is compared, each a fixed amount of work.
 *
 *   pairs     malloc and free of 64 bytes: nothing but the hook and the allocator's shortest path.
 *   mixed     16 to 4096 bytes, 1,000 objects alive, a random one replaced: what programs look like.
 *   threads   `pairs` in two threads, half of the work in each: shared counters would show here.
 *   realloc   one buffer doubled from 16 bytes to 16 KiB, over and over.
 *   churn     threads that live for 32 objects: what a thread's start and end cost.
 *   deep      malloc and free of 64 bytes, eight calls deep: what a stack costs.
 *   blocks    malloc and free of 256 KiB: requests that no thread cache holds.
 *   million   a million objects of 16 to 256 bytes alive at once: time, and bytes of memory for each.
 *
 * Prints, for the timed part only, the process's CPU time (all threads, user and system: what helpers in the
 * background consume belongs to the bill), then the growth of the resident set where the workload keeps objects, and
 * what libmallometer says about itself, so that nobody measures a library that was off.
 */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "mallometer_optional.h"

#define LIVE_WINDOW 1000
#define CHAIN_START 16
#define CHAIN_END 16384
#define OBJECTS_PER_THREAD 32
#define MILLION 1000000

/* The same short warm-up for every length, so that the difference of two lengths is work alone. */
#define WARM_UP 2000

/* The compiler must believe that somebody looks at the object, or it drops the pair. */
static inline void look_at(void *object) { __asm__ volatile("" : : "r"(object) : "memory"); }

static uint64_t process_cpu_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* Marsaglia's xorshift64: a few instructions, the same sequence in every run. */
static inline uint64_t next_random(uint64_t *state) {
  *state ^= *state << 13;
  *state ^= *state >> 7;
  *state ^= *state << 17;
  return *state;
}

static void exit_with(const char *problem) {
  fprintf(stderr, "workload: %s\n", problem);
  exit(1);
}

static void *allocated(void *object) {
  if (!object) exit_with("out of memory");
  look_at(object);
  return object;
}

/* ---- Patterns ----------------------------------------------------------------------------------------- */

static void pairs(long operations) {
  for (long i = 0; i < operations; i++) free(allocated(malloc(64)));
}

/* Calls that leave frame pointers behind, as code that is to be profiled is compiled. */
#define DEEPER(function, next)                                                                          \
  __attribute__((noinline, noclone, optimize("no-omit-frame-pointer", "no-optimize-sibling-calls"))) \
  static void *function(size_t size) {                                                                  \
    void *object = next(size);                                                                          \
    __asm__ volatile("" : : "r"(object) : "memory");                                                    \
    return object;                                                                                      \
  }
DEEPER(eighth, malloc)
DEEPER(seventh, eighth)
DEEPER(sixth, seventh)
DEEPER(fifth, sixth)
DEEPER(fourth, fifth)

/* This function, that which calls it, and main make eight; the C library's are beyond. */
static void deep(long operations) {
  for (long i = 0; i < operations; i++) free(allocated(fourth(64)));
}

static void mixed(long operations) {
  static void *window[LIVE_WINDOW];
  uint64_t random = 88172645463325252u;
  for (long i = 0; i < operations; i++) {
    uint64_t draw = next_random(&random);
    void **slot = &window[draw % LIVE_WINDOW];
    free(*slot);
    *slot = allocated(malloc(16 + (draw >> 32) % 4081));
  }
  for (int i = 0; i < LIVE_WINDOW; i++) {
    free(window[i]);
    window[i] = NULL;
  }
}

static void *pairs_in_thread(void *operations) {
  pairs(*(long *)operations);
  return NULL;
}

static void run_threads(int count, void *(*body)(void *), void *argument) {
  pthread_t threads[2];
  for (int i = 0; i < count; i++) {
    if (pthread_create(&threads[i], NULL, body, argument) != 0) exit_with("no thread");
  }
  for (int i = 0; i < count; i++) pthread_join(threads[i], NULL);
}

static void two_threads(long operations) {
  long half = operations / 2;
  run_threads(2, pairs_in_thread, &half);
}

/* An operation is one realloc; each chain's malloc and free come on top. */
static void realloc_chain(long operations) {
  while (operations > 0) {
    size_t size = CHAIN_START;
    void *buffer = allocated(malloc(size));
    while (size < CHAIN_END && operations-- > 0) {
      size *= 2;
      buffer = allocated(realloc(buffer, size));
    }
    free(buffer);
  }
}

static void *short_life(void *unused) {
  void *objects[OBJECTS_PER_THREAD];
  for (int i = 0; i < OBJECTS_PER_THREAD; i++) objects[i] = allocated(malloc(32 + 16 * (size_t)i));
  for (int i = 0; i < OBJECTS_PER_THREAD; i++) free(objects[i]);
  return unused;
}

static void thread_churn(long operations) {
  for (long i = 0; i < operations; i++) run_threads(1, short_life, NULL);
}

static void blocks(long operations) {
  for (long i = 0; i < operations; i++) {
    char *block = allocated(malloc(256 * 1024));
    *(volatile char *)block = 1;
    free(block);
  }
}

/* ---- The million: memory as well as time -------------------------------------------------------------- */

static long resident_bytes(void) {
  long pages = 0;
  FILE *statm = fopen("/proc/self/statm", "r");
  if (!statm || fscanf(statm, "%*s %ld", &pages) != 1) exit_with("cannot read /proc/self/statm");
  fclose(statm);
  return pages * sysconf(_SC_PAGESIZE);
}

static void *live_objects[MILLION];
static long grown_bytes;

static void million(long operations) {
  memset(live_objects, 1, sizeof live_objects); /* its pages are no part of what the objects take */
  for (long done = 0; done < operations; done += MILLION) {
    uint64_t random = 88172645463325252u;
    long before = resident_bytes();
    for (int i = 0; i < MILLION; i++) {
      char *object = allocated(malloc(16 + next_random(&random) % 241));
      *(volatile char *)object = 1;
      live_objects[i] = object;
    }
    if (done == 0) grown_bytes = resident_bytes() - before;
    for (int i = 0; i < MILLION; i++) free(live_objects[i]);
  }
}

/* ---- Choice ------------------------------------------------------------------------------------------- */

static const struct pattern {
  const char *name;
  void (*run)(long operations);
  long warm_up;
} patterns[] = {
    {"pairs", pairs, WARM_UP},         {"mixed", mixed, WARM_UP},
    {"deep", deep, WARM_UP},
    {"threads", two_threads, WARM_UP}, {"realloc", realloc_chain, WARM_UP},
    {"churn", thread_churn, 10},       {"blocks", blocks, WARM_UP},
    {"million", million, 0},
};

static const struct pattern *pattern_named(const char *name) {
  for (size_t i = 0; i < sizeof patterns / sizeof *patterns; i++) {
    if (strcmp(patterns[i].name, name) == 0) return &patterns[i];
  }
  return NULL;
}

static void print_mallometer(void) {
  struct mallometer_report report = {.size = sizeof report};
  struct mallometer_counters counters = {.size = sizeof counters};
  if (!mallometer_available() || mallometer_self(&report) != 0 ||
      mallometer_snapshot(&counters, MALLOMETER_SINCE_START) != 0) {
    printf(" state=0 unit=0 counted=0\n");
    return;
  }
  printf(" state=%u unit=%u counted=%llu\n", report.state, report.byte_unit,
         (unsigned long long)mallometer_allocations(&counters));
}

int main(int count, char *arguments[]) {
  const struct pattern *pattern = count == 3 ? pattern_named(arguments[1]) : NULL;
  long operations = pattern ? strtol(arguments[2], NULL, 10) : 0;
  if (operations <= 0) exit_with("usage: workload NAME OPERATIONS; the names are in the source");
  pattern->run(pattern->warm_up);
  uint64_t start = process_cpu_ns();
  pattern->run(operations);
  uint64_t spent = process_cpu_ns() - start;
  printf("cpu_ns=%llu operations=%ld grown_bytes=%ld", (unsigned long long)spent, operations, grown_bytes);
  print_mallometer();
  return 0;
}
