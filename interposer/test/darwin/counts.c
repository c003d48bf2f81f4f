/*
 * Makes a known number of calls of each kind on macOS and checks the library's counts. The program starts with the
 * library (DYLD_INSERT_LIBRARIES), or opens and attaches it if its path is the second argument. This test is compiled
 * on Linux, and has never run.
 */
#include <dlfcn.h>
#include <malloc/malloc.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "mallometer.h"
#include "so.h"

enum { ROUNDS = 1000, THREADS = 8 };

static __typeof__(mallometer_snapshot) *snapshot_of;
static __typeof__(mallometer_self) *self_of;
static __typeof__(mallometer_sites) *sites_of;
static __typeof__(mallometer_disable) *disable;
static __typeof__(mallometer_attach) *attach;
static __typeof__(mallometer_detach) *detach;

static void find_in(void *library) {
  snapshot_of = (__typeof__(snapshot_of))dlsym(library, "mallometer_snapshot");
  self_of = (__typeof__(self_of))dlsym(library, "mallometer_self");
  sites_of = (__typeof__(sites_of))dlsym(library, "mallometer_sites");
  disable = (__typeof__(disable))dlsym(library, "mallometer_disable");
  attach = (__typeof__(attach))dlsym(library, "mallometer_attach");
  detach = (__typeof__(detach))dlsym(library, "mallometer_detach");
  CHECK(snapshot_of && self_of && sites_of && disable && attach && detach);
}

static struct mallometer_report self(void) {
  struct mallometer_report report = {0};
  CHECK(self_of(&report) == 0);
  return report;
}

struct sums {
  int64_t allocations, frees, net;
};

static struct sums sums(void) {
  struct mallometer_counters now = {0};
  CHECK(snapshot_of(&now) == 0);
  return (struct sums){(int64_t)mallometer_allocations(&now), (int64_t)now.frees,
                       (int64_t)(now.allocated_bytes - now.freed_bytes)};
}

static void check_since(struct sums before, int64_t allocations, int64_t frees) {
  struct sums now = sums();
  CHECK_EQUAL(now.allocations - before.allocations, allocations);
  CHECK_EQUAL(now.frees - before.frees, frees);
  CHECK_EQUAL(now.net - before.net, 0);
}

static void family(void) {
  struct sums before = sums();
  for (size_t i = 1; i <= ROUNDS; i++) {
    void *aligned = NULL;
    free(realloc(malloc(i), 3 * i));
    free(calloc(i, 3));
    free(valloc(i));
    free(aligned_alloc(64, 64 * i));
    CHECK(posix_memalign(&aligned, 128, i) == 0);
    free(aligned);
    free(reallocf(malloc(100 * i), i));
    free(NULL);
  }
  check_since(before, 8 * ROUNDS, 8 * ROUNDS);
}

static void zones(void) {
  malloc_zone_t *zone = malloc_default_zone();
  void *batch[4];
  struct sums before = sums();
  for (size_t i = 1; i <= ROUNDS; i++) {
    malloc_zone_free(zone, malloc_zone_realloc(zone, malloc_zone_malloc(zone, i), 2 * i));
    malloc_zone_free(zone, malloc_zone_calloc(zone, i, 2));
    malloc_zone_free(zone, malloc_zone_valloc(zone, i));
    free(malloc_zone_memalign(zone, 64, i));
    unsigned got = malloc_zone_batch_malloc(zone, 48, batch, 4);
    malloc_zone_batch_free(zone, batch, got);
    for (unsigned missing = got; missing < 4; missing++) free(malloc(48));
  }
  check_since(before, 9 * ROUNDS, 9 * ROUNDS);
}

static void of_system(void) {
  struct sums before = sums();
  for (unsigned i = 0; i < ROUNDS; i++) free(strdup("a string of some length"));
  check_since(before, ROUNDS, ROUNDS);
}

static void *allocates(void *unused) {
  (void)unused;
  for (size_t i = 1; i <= ROUNDS; i++) free(malloc(i));
  return NULL;
}

/* Checks that the counts of ended threads remain. Tolerates fewer than 50 allocations by the system for each thread. */
static void threads(void) {
  struct sums before = sums();
  for (unsigned round = 0; round < 20; round++) {
    pthread_t started[THREADS];
    for (unsigned i = 0; i < THREADS; i++) CHECK(pthread_create(&started[i], NULL, allocates, NULL) == 0);
    for (unsigned i = 0; i < THREADS; i++) CHECK(pthread_join(started[i], NULL) == 0);
  }
  struct sums now = sums();
  CHECK(now.allocations - before.allocations >= 20 * THREADS * ROUNDS);
  CHECK(now.allocations - before.allocations < 20 * THREADS * (ROUNDS + 50));
}

static pthread_key_t key;

static void frees_at_end(void *object) {
  free(object);
  free(malloc(100));
}

static void *leaves_one(void *unused) {
  (void)unused;
  CHECK(pthread_setspecific(key, malloc(1000)) == 0);
  return NULL;
}

static void late_destructors(void) {
  CHECK(pthread_key_create(&key, frees_at_end) == 0);
  for (unsigned i = 0; i < 1000; i++) {
    pthread_t thread;
    CHECK(pthread_create(&thread, NULL, leaves_one, NULL) == 0 && pthread_join(thread, NULL) == 0);
  }
  struct mallometer_counters now = {0};
  CHECK(snapshot_of(&now) == 0);
  CHECK(now.threads < 20); /* ended threads are not included */
}

static void forks(void) {
  pid_t child = fork();
  CHECK(child >= 0);
  if (child == 0) {
    family();
    _exit(0);
  }
  int status;
  CHECK(waitpid(child, &status, 0) == child);
  CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  family();
}

static __attribute__((noinline)) void *keeps(size_t size) {
  void *object = malloc(size);
  memset(object, 1, size);
  return object;
}

static void stacks(void) {
  static struct mallometer_site sites[64];
  (void)sites_of(sites, 64, 0); /* the first reading starts the recording of call sites */
  for (unsigned i = 0; i < 1000; i++) CHECK(keeps(65536));
  int count = sites_of(sites, 64, 0);
  uint32_t deepest = 0;
  CHECK(count > 0);
  for (int i = 0; i < count; i++) deepest = sites[i].frames > deepest ? sites[i].frames : deepest;
  CHECK(deepest >= 3); /* the stack has the frames of keeps(), stacks() and main() */
}

static void switched_off(void) {
  CHECK(disable() == 0);
  struct sums before = sums();
  allocates(NULL);
  check_since(before, 0, 0);
}

static void attached(const char *path, unsigned times) {
  void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  CHECK(library);
  find_in(library);
  for (unsigned i = 0; i < times; i++) {
    CHECK_EQUAL(attach(), 0);
    CHECK_EQUAL(self().state, MALLOMETER_STATE_COUNTING);
    CHECK_EQUAL(self().mode, MALLOMETER_MODE_ATTACHED);
    family();
    zones();
    of_system();
    threads();
    CHECK_EQUAL(detach(), 0);
    struct sums before = sums();
    allocates(NULL);
    check_since(before, 0, 0);
  }
}

static void inserted(const char *wanted) {
  static const struct {
    const char *name;
    void (*run)(void);
  } cases[] = {{"family", family},
               {"zones", zones},
               {"system", of_system},
               {"threads", threads},
               {"late_destructors", late_destructors},
               {"forks", forks},
               {"stacks", stacks},
               {"switched_off", switched_off}};
  find_in(RTLD_DEFAULT);
  CHECK_EQUAL(self().state, MALLOMETER_STATE_COUNTING);
  CHECK_EQUAL(self().mode, MALLOMETER_MODE_PRELOADED);
  CHECK_EQUAL(self().byte_unit, MALLOMETER_UNIT_USABLE);
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    if (strcmp(cases[i].name, wanted) != 0) continue;
    cases[i].run();
    return;
  }
  CHECK(!"no case has this name");
}

int main(int argc, char **argv) {
  CHECK(argc == 2 || argc == 3);
  if (argc == 2) {
    inserted(argv[1]);
  } else {
    attached(argv[2], strcmp(argv[1], "attached_twice") == 0 ? 2 : 1);
  }
  puts("passed");
  return 0;
}
