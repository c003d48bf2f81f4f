/* Tests the statistics of mallometer_allocator(). The first argument is the kind of allocator that must be found:
 * glibc, jemalloc, tcmalloc or mimalloc; or "silent" for musl's allocator, which reports nothing but its name. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "check.h"

static struct mallometer_allocator_state figures(void) {
  struct mallometer_allocator_state s = {0};
  CHECK_EQUAL(mallometer_allocator(&s, NULL, 0), 0);
  return s;
}

/* Reads smaps_rollup, which is exact, while the number in /proc/self/status may lag behind. */
static uint64_t resident_bytes(void) {
  char line[256];
  unsigned long kilobytes = 0;
  FILE *file = fopen("/proc/self/smaps_rollup", "r");
  CHECK(file);
  while (fgets(line, sizeof line, file) && sscanf(line, "Rss: %lu", &kilobytes) != 1) continue;
  fclose(file);
  return (uint64_t)kilobytes * 1024;
}

/* Compares the memory that the allocator gives back with the predicted amount (not for mimalloc). The tolerance is
 * for pages that were never touched: the prediction includes these pages, but they cannot be given back. */
static void trim_and_compare(void) {
  struct mallometer_allocator_state before = figures();
  uint64_t resident = resident_bytes();
  CHECK_EQUAL(mallometer_trim(), 0);
  int64_t returned = (int64_t)(resident - resident_bytes());
  struct mallometer_allocator_state after = figures();
  CHECK_EQUAL(after.trims, before.trims + 1);
  printf("releasable %lu returned %ld releasable now %lu\n", before.releasable_bytes, returned, after.releasable_bytes);
  if (before.kind == MALLOMETER_ALLOCATOR_MIMALLOC) {
    CHECK_EQUAL(before.releasable_bytes, MALLOMETER_UNKNOWN);
    return;
  }
  int64_t releasable = (int64_t)before.releasable_bytes, tolerance = releasable / 20 + (256 << 10);
  CHECK(returned >= releasable - tolerance && returned <= releasable + tolerance);
}

static void rows_add_up(void) {
  struct mallometer_arena rows[64];
  struct mallometer_allocator_state s = {0};
  CHECK_EQUAL(mallometer_allocator(&s, rows, 64), 0);
  CHECK_EQUAL(s.rows, s.kind == MALLOMETER_ALLOCATOR_GLIBC ? s.arenas : 0);
  uint64_t system = 0, retained = 0, releasable = 0;
  for (uint32_t i = 0; i < s.rows; i++) {
    CHECK_EQUAL(rows[i].number, i);
    CHECK(rows[i].top_bytes <= rows[i].retained_bytes && rows[i].retained_bytes <= rows[i].system_bytes);
    system += rows[i].system_bytes;
    retained += rows[i].retained_bytes;
    releasable += rows[i].releasable_bytes;
  }
  if (s.rows == 0) return;
  CHECK_EQUAL(system, s.system_bytes - s.mapped_bytes);
  CHECK_EQUAL(retained, s.retained_bytes);
  CHECK_EQUAL(releasable, s.releasable_bytes);
  CHECK_EQUAL(s.used_bytes + s.retained_bytes, s.system_bytes);
  CHECK_EQUAL(mallometer_allocator(&s, rows, 1), 0);
  CHECK_EQUAL(s.rows, 1);
}

static void *objects[20000];

static int is_silent(void) {
  struct mallometer_allocator_state s = {0};
  CHECK_EQUAL(mallometer_allocator(&s, NULL, 0), -ENOTSUP);
  CHECK_EQUAL(s.kind, MALLOMETER_ALLOCATOR_UNKNOWN);
  CHECK_EQUAL(mallometer_trim(), -ENOTSUP);
  CHECK(strcmp(self().allocator, "musl") == 0);
  return 0;
}

int main(int argc, char **argv) {
  static const char *const kinds[] = {"unknown", "glibc", "jemalloc", "tcmalloc", "mimalloc"};
  CHECK(argc == 2);
  if (strcmp(argv[1], "silent") == 0) return is_silent();
  struct mallometer_allocator_state before = figures();
  CHECK(before.kind < 5);
  CHECK(strcmp(kinds[before.kind], argv[1]) == 0);
  CHECK_EQUAL(mallometer_allocator(NULL, NULL, 0), -EINVAL);
  CHECK_EQUAL(mallometer_allocator(&before, NULL, 1), -EINVAL);

  const size_t bytes = 2000, count = sizeof objects / sizeof *objects;
  for (size_t i = 0; i < count; i++) objects[i] = memset(malloc(bytes), 1, bytes);
  struct mallometer_allocator_state full = figures();
  CHECK(full.system_bytes >= before.system_bytes && full.system_bytes >= bytes * count);
  /* mimalloc commits whole segments in advance. */
  if (full.kind != MALLOMETER_ALLOCATOR_MIMALLOC) {
    CHECK(full.system_bytes - before.system_bytes >= bytes * count * 9 / 10);
  }
  if (full.used_bytes != MALLOMETER_UNKNOWN) {
    CHECK(full.used_bytes - before.used_bytes >= bytes * count * 9 / 10);
    CHECK(full.system_bytes >= full.used_bytes);
  }

  /* The loop leaves every hundredth object live, which prevents the allocator from returning memory. */
  for (size_t i = 0; i < count; i++) {
    if (i % 100 != 0) free(objects[i]);
  }
  struct mallometer_allocator_state sparse = figures();
  if (sparse.used_bytes != MALLOMETER_UNKNOWN) {
    CHECK(full.used_bytes - sparse.used_bytes >= bytes * count * 8 / 10);
    CHECK(sparse.retained_bytes != MALLOMETER_UNKNOWN);
  }
  if (sparse.kind == MALLOMETER_ALLOCATOR_GLIBC) {
    CHECK(sparse.retained_bytes >= bytes * count * 8 / 10);
    CHECK(sparse.arenas >= 1);
    void *mapped = malloc((size_t)4 << 20);
    struct mallometer_allocator_state with_mapped = figures();
    CHECK(with_mapped.mapped_bytes - sparse.mapped_bytes >= (size_t)4 << 20);
    free(mapped);
  }
  rows_add_up();
  trim_and_compare();

  struct mallometer_counters start = snapshot();
  figures();
  struct mallometer_counters d = difference(start, snapshot());
  CHECK_EQUAL(mallometer_live_bytes(&d), 0);
  return 0;
}
