/*
 * A program and a library whose structs differ in length. The program is compiled with the header, and with a copy in
 * which every struct and row has one more field, `appended`. Each runs over libraries of both. In each pair, figures
 * that both know are in their places, and the library writes nothing beyond the program's structs.
 */
#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "check.h"

#ifdef NEXT
#define IS_UNKNOWN(row) CHECK_EQUAL((row)->appended, 0)
#else
#define IS_UNKNOWN(row) (void)(row)
#endif

#define NOINLINE __attribute__((noinline, noclone))
#define UNTOUCHED 0xa5
enum { KEPT = 20, SIZE = 30000, HUGE = 65 << 20, ROWS = 2000, FEW_ROWS = 128, NOT_AVAILABLE = 77 };

static NOINLINE long *keeper(size_t size) {
  long *object = malloc(size);
  USE(object);
  return object;
}

static NOINLINE void writer(long *object) { *(volatile long *)object = 1; }

static bool is_in(uint64_t address, const void *function) {
  uint64_t begin = (uint64_t)(uintptr_t)function;
  return address > begin && address - begin < 80;
}

static bool is_untouched(const void *memory, size_t bytes) {
  for (size_t i = 0; i < bytes; i++) {
    if (((const unsigned char *)memory)[i] != UNTOUCHED) return false;
  }
  return true;
}

/* Rows that are untouched, and as many behind them. */
#define UNTOUCHED_ROWS(type, name, capacity)            \
  static struct mallometer_##type name[2 * (capacity)]; \
  memset(name, UNTOUCHED, sizeof name)
#define ENDS_AT(name, count) CHECK(is_untouched(&(name)[count], sizeof(name) - (size_t)(count) * sizeof *(name)))

/* ---- Structs ------------------------------------------------------------------------------------------ */

/* What was filled is what the library says, and the rest is as it was. */
#define IS_FILLED(name, least)                                                            \
  do {                                                                                    \
    CHECK((name).size >= (least) && (name).size <= sizeof(name));                         \
    CHECK_EQUAL((name).version, MALLOMETER_ABI_VERSION);                                  \
    CHECK(is_untouched((const char *)&(name) + (name).size, sizeof(name) - (name).size)); \
  } while (0)
#define UNTOUCHED_STRUCT(type, name)     \
  struct mallometer_##type name;         \
  memset(&name, UNTOUCHED, sizeof name); \
  name.size = sizeof name

static void structs_are_filled_as_far_as_both_know(void) {
  UNTOUCHED_STRUCT(counters, counters);
  CHECK_EQUAL(mallometer_snapshot(&counters, MALLOMETER_SINCE_START), 0);
  IS_FILLED(counters, 256);
  CHECK(counters.threads >= 1 && counters.huge_allocations == 1 && counters.largest_request_bytes == HUGE);
  UNTOUCHED_STRUCT(report, report);
  CHECK_EQUAL(mallometer_self(&report), 0);
  IS_FILLED(report, offsetof(struct mallometer_report, frames_without_module) + 8);
  CHECK_EQUAL(report.sample_interval_bytes, 20000);
  CHECK(strncmp(report.allocator, "glibc", 5) == 0 && report.modules > 0 && report.live_samples >= KEPT);
  UNTOUCHED_STRUCT(observation, observation);
  CHECK_EQUAL(mallometer_leaks(&observation), 0);
  IS_FILLED(observation, offsetof(struct mallometer_observation, watch_reason) + 160);
  UNTOUCHED_STRUCT(black_box, box);
  CHECK_EQUAL(mallometer_recording(&box), 0);
  IS_FILLED(box, offsetof(struct mallometer_black_box, reason) + 256);
  CHECK_EQUAL(box.state, MALLOMETER_RECORDING_OFF);
}

/* ---- Rows --------------------------------------------------------------------------------------------- */

static void events(void) {
  UNTOUCHED_ROWS(event, rows, FEW_ROWS);
  CHECK_EQUAL(mallometer_events(rows, sizeof *rows, FEW_ROWS, 0), 1);
  CHECK_EQUAL(rows[0].number, 1);
  CHECK_EQUAL(rows[0].requested_bytes, HUGE);
  CHECK(strncmp(rows[0].thread_name, "versions", 8) == 0);
  IS_UNKNOWN(&rows[0]);
  ENDS_AT(rows, 1);
  CHECK_EQUAL(mallometer_events(rows, 175, FEW_ROWS, 0), -EINVAL);
}

static void arenas(void) {
  UNTOUCHED_ROWS(arena, rows, FEW_ROWS);
  UNTOUCHED_STRUCT(allocator_state, state);
  CHECK_EQUAL(mallometer_allocator(&state, rows, sizeof *rows, FEW_ROWS), 0);
  IS_FILLED(state, 80);
  CHECK(state.rows >= 2 && state.rows <= FEW_ROWS);
  for (uint32_t i = 0; i < state.rows; i++) {
    CHECK_EQUAL(rows[i].number, i);
    CHECK(rows[i].retained_bytes <= rows[i].system_bytes && rows[i].system_bytes <= state.system_bytes);
    IS_UNKNOWN(&rows[i]);
  }
  ENDS_AT(rows, state.rows);
  CHECK_EQUAL(mallometer_allocator(&state, rows, 39, FEW_ROWS), -EINVAL);
}

/* Returns the number of keeper's site, of which objects are live. */
static uint32_t sites(void) {
  UNTOUCHED_ROWS(site, rows, ROWS);
  int count = mallometer_sites(rows, sizeof *rows, ROWS, 0);
  CHECK(count > 1 && count < ROWS);
  uint32_t found = UINT32_MAX;
  for (int i = 0; i < count; i++) {
    uint64_t innermost = 0;
    CHECK_EQUAL(rows[i].number, i);
    CHECK(rows[i].allocated.samples >= rows[i].freed.samples);
    IS_UNKNOWN(&rows[i]);
    if (mallometer_site_stack((uint32_t)i, &innermost, 1) != 1 || !is_in(innermost, (const void *)(uintptr_t)keeper))
      continue;
    if (rows[i].allocated.samples != KEPT || rows[i].freed.samples != 0) continue;
    CHECK(rows[i].allocated.bytes >= (double)KEPT * SIZE && rows[i].allocated.bytes < 1.1 * KEPT * SIZE);
    CHECK(rows[i].allocated.bytes_variance == 0 && rows[i].frames > 1);
    found = rows[i].number;
  }
  ENDS_AT(rows, count);
  CHECK(found != UINT32_MAX);
  CHECK_EQUAL(mallometer_sites(rows, 87, ROWS, 0), -EINVAL);
  return found;
}

static void modules(void) {
  UNTOUCHED_ROWS(module, rows, FEW_ROWS);
  int count = mallometer_modules(rows, sizeof *rows, FEW_ROWS, 0);
  CHECK(count > 1 && count < FEW_ROWS);
  bool executable = false, c_library = false;
  for (int i = 0; i < count; i++) {
    CHECK_EQUAL(rows[i].number, i);
    CHECK(rows[i].begin < rows[i].end && rows[i].build_id_bytes <= 32);
    uint64_t address = (uint64_t)(uintptr_t)modules;
    executable |= address >= rows[i].begin && address < rows[i].end && rows[i].path[0] == '\0';
    c_library |= strstr(rows[i].path, "libc.so") != NULL;
    IS_UNKNOWN(&rows[i]);
  }
  CHECK(executable && c_library);
  ENDS_AT(rows, count);
  CHECK_EQUAL(mallometer_modules(rows, 1087, FEW_ROWS, 0), -EINVAL);
}

static void objects(uint32_t site, uint64_t before_ns, uint64_t after_ns) {
  /* A birth is told to some ten milliseconds. */
  const uint64_t unit = ((uint64_t)1 << 24) + 10000000;
  UNTOUCHED_ROWS(object, rows, ROWS);
  int count = mallometer_objects(rows, sizeof *rows, ROWS), of_site = 0;
  CHECK(count >= KEPT && count < ROWS);
  for (int i = 0; i < count; i++) {
    IS_UNKNOWN(&rows[i]);
    CHECK(rows[i].placement >= 0 && rows[i].placement <= 1);
    CHECK((rows[i].placement > 0) == (rows[i].last_access_ns > 0));
    if (rows[i].site != site) continue;
    of_site++;
    CHECK(rows[i].bytes >= SIZE && rows[i].bytes < SIZE + 64 && rows[i].probability == 1);
    CHECK(rows[i].born_ns + unit >= before_ns && rows[i].born_ns <= after_ns);
  }
  CHECK_EQUAL(of_site, KEPT);
  ENDS_AT(rows, count);
  CHECK_EQUAL(mallometer_objects(rows, 47, ROWS), -EINVAL);
}

static void search(uint32_t site) {
  CHECK_EQUAL(mallometer_search_start(&site, 1, UINT64_MAX), 0);
  UNTOUCHED_ROWS(sought, rows, FEW_ROWS);
  UNTOUCHED_STRUCT(searched, searched);
  int count;
  while ((count = mallometer_search(&searched, rows, sizeof *rows, FEW_ROWS)) == 0) {
    CHECK_EQUAL(searched.state, MALLOMETER_SEARCH_RUNNING);
    searched.size = sizeof searched;
    usleep(1000);
  }
  IS_FILLED(searched, offsetof(struct mallometer_searched, reason) + 160);
  CHECK(searched.state == MALLOMETER_SEARCH_DONE && searched.number == 1);
  CHECK(count == KEPT && searched.objects == KEPT);
  for (int i = 0; i < count; i++) {
    CHECK_EQUAL(rows[i].site, site);
    CHECK(rows[i].bytes >= SIZE && rows[i].bytes < SIZE + 64 && rows[i].probability == 1);
    CHECK(rows[i].references > 0 && !rows[i].freed);
    IS_UNKNOWN(&rows[i]);
  }
  ENDS_AT(rows, count);
  CHECK_EQUAL(mallometer_search(&searched, rows, 47, FEW_ROWS), -EINVAL);
}

static void scope(void) {
  int number = mallometer_scope_open(MALLOMETER_SCOPE_MATCHED);
  CHECK(number > 0);
  free(keeper(SIZE));
  UNTOUCHED_STRUCT(scope, figures);
  CHECK_EQUAL(mallometer_scope_close((uint32_t)number, &figures), 0);
  IS_FILLED(figures, offsetof(struct mallometer_scope, foreign_freed_bytes) + 8);
  CHECK(figures.largest_bytes == SIZE && figures.temporary_allocations == 1 && figures.foreign_freed_bytes == 0);
}

/* ---- Rows of what is observed ------------------------------------------------------------------------- */

static int evidence(void) {
  UNTOUCHED_ROWS(site_evidence, rows, FEW_ROWS);
  int count = mallometer_evidence(rows, sizeof *rows, FEW_ROWS, 0);
  CHECK(count >= 0 && count < FEW_ROWS);
  for (int i = 0; i < count; i++) {
    CHECK(rows[i].site < ROWS && rows[i].placed >= rows[i].freed && rows[i].placed < 1000000);
    CHECK(rows[i].lifetimes.count <= rows[i].freed && rows[i].idle_before_free.count <= rows[i].freed);
    double weights = 0;
    for (int bucket = 0; bucket < MALLOMETER_DURATION_BUCKETS; bucket++) weights += rows[i].lifetimes.weight[bucket];
    CHECK((weights > 0) == (rows[i].lifetimes.count > 0));
    IS_UNKNOWN(&rows[i]);
  }
  ENDS_AT(rows, count);
  CHECK_EQUAL(mallometer_evidence(rows, 623, FEW_ROWS, 0), -EINVAL);
  return count;
}

static bool accesses(uint32_t site) {
  UNTOUCHED_ROWS(access, rows, FEW_ROWS);
  int count = mallometer_accesses(rows, sizeof *rows, FEW_ROWS);
  bool seen = false;
  CHECK(count >= 0 && count < FEW_ROWS);
  for (int i = 0; i < count; i++) {
    CHECK_EQUAL(rows[i].site, site);
    CHECK(rows[i].kind == MALLOMETER_ACCESS || rows[i].kind == MALLOMETER_WRITE);
    CHECK(rows[i].monotonic_ns >= rows[i].born_ns && rows[i].frames <= MALLOMETER_ACCESS_FRAMES);
    seen |= rows[i].kind == MALLOMETER_WRITE && rows[i].frames > 1 &&
            is_in(rows[i].stack[0], (const void *)(uintptr_t)writer);
    IS_UNKNOWN(&rows[i]);
  }
  ENDS_AT(rows, count);
  CHECK_EQUAL(mallometer_accesses(rows, 559, FEW_ROWS), -EINVAL);
  return seen;
}

static NOINLINE void use_an_object(void) {
  long *object = keeper(100);
  writer(object);
  free(object);
}

static struct mallometer_observation observed(void) {
  struct mallometer_observation observation = {.size = sizeof observation};
  CHECK_EQUAL(mallometer_leaks(&observation), 0);
  return observation;
}

static void *use_objects(void *unused) {
  for (volatile int i = 0; i < 10000; i++) use_an_object();
  return unused;
}

/* In a thread, so that all objects are of one call site; and with a pause, in which epochs end. */
static void use_many(void) {
  pthread_t thread;
  CHECK_EQUAL(pthread_create(&thread, NULL, use_objects, NULL), 0);
  pthread_join(thread, NULL);
  usleep(5000);
}

/* The site of the objects that use_an_object() uses. */
static uint32_t site_of_used(void) {
  for (uint32_t site = 0; site < self().call_sites; site++) {
    uint64_t frames[2];
    if (mallometer_site_stack(site, frames, 2) == 2 && is_in(frames[0], (const void *)(uintptr_t)keeper) &&
        is_in(frames[1], (const void *)(uintptr_t)use_an_object))
      return site;
  }
  return UINT32_MAX;
}

static void observe(void) {
  CHECK_EQUAL(mallometer_configure(MALLOMETER_OPTION_SHORTEST_EPOCH, 10), 0);
  CHECK_EQUAL(mallometer_configure(MALLOMETER_OPTION_EPOCH_OVER_COST, 10), 0);
  CHECK_EQUAL(mallometer_leaks_start(), 0);
  while (observed().state == MALLOMETER_LEAKS_STARTING) usleep(1000);
  if (observed().state != MALLOMETER_LEAKS_ON) {
    printf("not available: %s\n", observed().reason);
    exit(NOT_AVAILABLE);
  }
  for (double begin = seconds(); evidence() == 0; use_many()) CHECK(seconds() - begin < 30);
  if (!observed().can_watch) {
    printf("not available: %s\n", observed().watch_reason);
    exit(NOT_AVAILABLE);
  }
  uint32_t site = site_of_used();
  CHECK(site != UINT32_MAX);
  CHECK_EQUAL(mallometer_watch(&site, 1), 0);
  for (double begin = seconds(); !accesses(site); use_many()) CHECK(seconds() - begin < 30);
}

static void *allocates(void *unused) {
  free(keeper(100));
  return unused;
}

int main(int argc, char **argv) {
  static void *kept[KEPT];
  setbuf(stdout, NULL);
  CHECK(mallometer_available());
  pthread_t thread; /* of another arena */
  CHECK_EQUAL(pthread_create(&thread, NULL, allocates, NULL), 0);
  pthread_join(thread, NULL);
  free(keeper(HUGE));
  uint64_t before = (uint64_t)(seconds() * 1e9);
  for (volatile int i = 0; i < KEPT; i++) kept[i] = keeper(SIZE);
  uint64_t after = (uint64_t)(seconds() * 1e9) + 1;
  structs_are_filled_as_far_as_both_know();
  events();
  arenas();
  uint32_t site = sites();
  modules();
  objects(site, before, after);
  search(site);
  scope();
  if (argc > 1 && strcmp(argv[1], "observes") == 0) observe();
  for (int i = 0; i < KEPT; i++) free(kept[i]);
  return 0;
}
