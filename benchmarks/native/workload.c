/*
 * Measures the cost of allocation patterns. A pattern is a fixed amount of work:
 *
 * - pairs: malloc and free of 64 bytes, so that only the hook and the allocator's shortest path take time.
 * - mixed: 1,000 live objects of 16 to 4096 bytes, of which a random one is replaced, as in a real program.
 * - threads: `pairs` in two threads, half of the work in each. Shared counters would be slow here.
 * - realloc: one buffer doubled from 16 bytes to 16 KiB, over and over.
 * - realloc1m: one buffer grown from 16 bytes to 1 MiB by a factor of 1.5, over and over.
 * - churn: threads that allocate 32 objects and end, to measure the cost of starting and ending a thread.
 * - deep: malloc and free of 64 bytes, eight calls deep, to measure the cost of a stack.
 * - blocks: malloc and free of 256 KiB, which no thread cache holds.
 * - million: a million live objects of 16 to 256 bytes, to measure the time and the memory of each.
 * - sweep: malloc, a touched byte, and free, for every power of two from 16 bytes to 64 MiB; each size is timed.
 *
 * Usage: `workload NAME OPERATIONS [MILLISECONDS]` times the first operations of the process. With MILLISECONDS, the
 * program repeats the work for this warm-up, and then times the operations again, in blocks.
 *
 * The program prints for the timed parts the CPU time of all threads (user and system), the growth of the resident set
 * in `million`, and the picoseconds of each size in the latest sweep. It also prints the state of libmallometer, so
 * that the caller can reject a measurement during which the library did not count.
 *
 * Usage: `workload snapshot THREADS READINGS` times readings of the counters instead. The program prints a line `name
 * value value ...`, in nanoseconds, for each kind of reading.
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
#define LONG_CHAIN_END 1048576
#define SWEEP_SIZES 23
#define SWEEP_PASSES 9
/* The smallest size for which glibc maps new pages for each object. Such an allocation takes 100 times as long, so
 * sweep() does a hundredth of the operations. */
#define SWEEP_MAPPED 33554432
#define STEADY_MILLISECONDS 300
#define MOST_BLOCKS 1000
#define STACK_BYTES (64 * 1024)
/* Overwriting this many bytes before a reading moves the counters out of the second-level cache of usual processors,
 * so the reading needs the third-level cache or memory. */
#define EVICTING_BYTES (16 * 1024 * 1024)
/* The number of readings in one sample; a single reading is too short for the clock. */
#define THREAD_READINGS_PER_SAMPLE 200

/* The number of operations in the warm-up. It does not depend on the length of the measurement, so two measurements
 * differ only by the measured work. */
#define WARM_UP 2000

/* Lets the compiler assume that the object is used. Otherwise it would remove the pair of malloc and free. */
static inline void look_at(void *object) { __asm__ volatile("" : : "r"(object) : "memory"); }

static uint64_t process_cpu_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* Computes the next number of Marsaglia's xorshift64, which costs a few instructions and gives the same sequence in
 * every run. */
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

/* Functions that keep frame pointers, like code that was compiled for profiling. */
#define DEEPER(function, next)                                                                                     \
  __attribute__((noinline, noclone, optimize("no-omit-frame-pointer", "no-optimize-sibling-calls"))) static void * \
  function(size_t size) {                                                                                          \
    void *object = next(size);                                                                                     \
    __asm__ volatile("" : : "r"(object) : "memory");                                                               \
    return object;                                                                                                 \
  }
DEEPER(eighth, malloc)
DEEPER(seventh, eighth)
DEEPER(sixth, seventh)
DEEPER(fifth, sixth)
DEEPER(fourth, fifth)

/* Allocates with eight functions on the stack, besides those of the C library: main(), timed(), deep(), and the five
 * functions from fourth() to eighth(). */
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

/* Counts each realloc as an operation, but not the malloc and the free of the buffer. */
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

static void long_realloc_chain(long operations) {
  while (operations > 0) {
    size_t size = CHAIN_START;
    void *buffer = allocated(malloc(size));
    while (size < LONG_CHAIN_END && operations-- > 0) {
      size += size / 2;
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

static void touched(size_t size, long operations) {
  for (long i = 0; i < operations; i++) {
    char *block = allocated(malloc(size));
    *(volatile char *)block = 1;
    free(block);
  }
}

static void blocks(long operations) { touched(256 * 1024, operations); }

static uint64_t sweep_ps[SWEEP_SIZES];

static int by_value(const void *one, const void *other) {
  uint64_t a = *(const uint64_t *)one, b = *(const uint64_t *)other;
  return (a > b) - (a < b);
}

static uint64_t median(uint64_t *values, size_t count) {
  qsort(values, count, sizeof *values, by_value);
  return values[count / 2];
}

/* Times each size in several passes and takes the median, because a disturbance usually affects only one pass. */
static void sweep(long operations) {
  uint64_t ps[SWEEP_SIZES][SWEEP_PASSES];
  for (int pass = 0; pass < SWEEP_PASSES; pass++) {
    for (int i = 0; i < SWEEP_SIZES; i++) {
      size_t size = (size_t)16 << i;
      long times = operations / SWEEP_SIZES / SWEEP_PASSES / (size < SWEEP_MAPPED ? 1 : 100) + 1;
      uint64_t start = process_cpu_ns();
      touched(size, times);
      ps[i][pass] = (process_cpu_ns() - start) * 1000 / (uint64_t)times;
    }
  }
  for (int i = 0; i < SWEEP_SIZES; i++) sweep_ps[i] = median(ps[i], SWEEP_PASSES);
}

/* ---- A million live objects: memory and time ---------------------------------------------------------- */

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
  memset(live_objects, 1, sizeof live_objects); /* touches the pages of the array before the measurement */
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

/* ---- The patterns by name ----------------------------------------------------------------------------- */

static const struct pattern {
  const char *name;
  void (*run)(long operations);
  long warm_up;
  /* Set if the work must not be divided into blocks. */
  int is_whole;
} patterns[] = {
    {"pairs", pairs, WARM_UP, 0},
    {"mixed", mixed, WARM_UP, 0},
    {"deep", deep, WARM_UP, 0},
    {"threads", two_threads, WARM_UP, 0},
    {"realloc", realloc_chain, WARM_UP, 0},
    {"churn", thread_churn, 10, 0},
    {"blocks", blocks, WARM_UP, 0},
    {"million", million, 0, 1},
    {"realloc1m", long_realloc_chain, WARM_UP, 0},
    {"sweep", sweep, WARM_UP, 1},
};

static const struct pattern *pattern_named(const char *name) {
  for (size_t i = 0; i < sizeof patterns / sizeof *patterns; i++) {
    if (strcmp(patterns[i].name, name) == 0) return &patterns[i];
  }
  return NULL;
}

static void print_mallometer(void) {
  struct mallometer_report report = {0};
  struct mallometer_counters counters = {0};
  if (!mallometer_available() || mallometer_self(&report) != 0 || mallometer_snapshot(&counters) != 0) {
    printf(" state=0 unit=0 counted=0\n");
    return;
  }
  printf(" state=%u unit=%u counted=%llu\n", report.state, report.byte_unit,
         (unsigned long long)mallometer_allocations(&counters));
}

static uint64_t elapsed_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static uint64_t elapsed_ms(void) { return elapsed_ns() / 1000000; }

static uint64_t timed(const struct pattern *pattern, long operations) {
  uint64_t start = process_cpu_ns();
  pattern->run(operations);
  return process_cpu_ns() - start;
}

/* Returns the nanoseconds that `operations` of a pattern take. Times blocks of operations and takes the median,
 * because a neighbour on the core disturbs only some blocks. */
static uint64_t steady(const struct pattern *pattern, long operations, uint64_t warm_up_ms) {
  static uint64_t spent[MOST_BLOCKS];
  long block = pattern->is_whole ? operations : operations / 20 + 1;
  uint64_t start = elapsed_ms();
  size_t count = 0;
  while (elapsed_ms() - start < warm_up_ms) pattern->run(block);
  do {
    spent[count++] = timed(pattern, block);
  } while (count < MOST_BLOCKS && elapsed_ms() - start < warm_up_ms + STEADY_MILLISECONDS);
  return (uint64_t)((double)median(spent, count) * (double)operations / (double)block);
}

static pthread_barrier_t all_have_counted;
static pthread_mutex_t end = PTHREAD_MUTEX_INITIALIZER;

static void *count_and_wait(void *unused) {
  void *object = malloc(64);
  look_at(object);
  free(object);
  pthread_barrier_wait(&all_have_counted);
  pthread_mutex_lock(&end);
  pthread_mutex_unlock(&end);
  return unused;
}

static void evict_caches(void) {
  static volatile char *memory;
  if (!memory) memory = malloc(EVICTING_BYTES);
  if (!memory) exit_with("out of memory");
  for (size_t i = 0; i < EVICTING_BYTES; i += 64) memory[i]++;
}

static struct mallometer_counters read_process(void) {
  struct mallometer_counters counters = {0};
  if (mallometer_snapshot(&counters) != 0) exit_with("mallometer_snapshot failed");
  return counters;
}

static void print_snapshots(const char *name, int readings, void (*before)(void)) {
  printf("%s", name);
  for (int i = 0; i < readings; i++) {
    if (before) before();
    uint64_t start = elapsed_ns();
    read_process();
    printf(" %llu", (unsigned long long)(elapsed_ns() - start));
  }
  printf("\n");
}

static void print_thread_snapshots(int readings) {
  printf("thread");
  for (int i = 0; i < readings; i++) {
    uint64_t start = elapsed_ns();
    for (int j = 0; j < THREAD_READINGS_PER_SAMPLE; j++) {
      struct mallometer_counters counters = {0};
      if (mallometer_thread_snapshot(&counters) != 0) exit_with("mallometer_thread_snapshot failed");
    }
    printf(" %llu", (unsigned long long)(elapsed_ns() - start) / THREAD_READINGS_PER_SAMPLE);
  }
  printf("\n");
}

static void start_threads(int count) {
  pthread_attr_t small;
  pthread_attr_init(&small);
  pthread_attr_setstacksize(&small, STACK_BYTES);
  pthread_barrier_init(&all_have_counted, NULL, (unsigned)count + 1);
  pthread_mutex_lock(&end);
  for (int i = 0; i < count; i++) {
    pthread_t thread;
    if (pthread_create(&thread, &small, count_and_wait, NULL) != 0) exit_with("no more threads");
  }
  pthread_barrier_wait(&all_have_counted);
}

/*
 * Times mallometer_snapshot() and mallometer_thread_snapshot() in a process of many waiting threads, each of which
 * has counters. The first function is timed twice: "warm" with the counters in the caches, as in a program that reads
 * before and after a piece of work, and "cold" after the caches were overwritten, as in a program that reads every
 * few seconds.
 */
static void time_readings(int threads, int readings) {
  if (threads <= 0 || readings <= 0) exit_with("usage: workload snapshot THREADS READINGS");
  if (!mallometer_available()) exit_with("libmallometer is not preloaded");
  start_threads(threads);
  if (read_process().threads < (uint32_t)threads) exit_with("fewer threads counted than started");
  print_snapshots("warm", readings, NULL);
  print_snapshots("cold", readings, evict_caches);
  print_thread_snapshots(readings); /* The waiting threads are not joined: they end with the process. */
}

int main(int count, char *arguments[]) {
  if (count == 4 && strcmp(arguments[1], "snapshot") == 0) {
    time_readings(atoi(arguments[2]), atoi(arguments[3]));
    return 0;
  }
  const struct pattern *pattern = count >= 3 ? pattern_named(arguments[1]) : NULL;
  long operations = pattern ? strtol(arguments[2], NULL, 10) : 0;
  if (operations <= 0) exit_with("usage: workload NAME OPERATIONS [MILLISECONDS]; the names are in the source");
  pattern->run(pattern->warm_up);
  printf("operations=%ld first_ns=%llu", operations, (unsigned long long)timed(pattern, operations));
  if (count > 3) {
    printf(" steady_ns=%llu", (unsigned long long)steady(pattern, operations, strtoull(arguments[3], NULL, 10)));
  }
  printf(" grown_bytes=%ld", grown_bytes);
  for (int i = 0; i < SWEEP_SIZES && sweep_ps[i]; i++) {
    printf(" ps_%zu=%llu", (size_t)16 << i, (unsigned long long)sweep_ps[i]);
  }
  print_mallometer();
  return 0;
}
