/*
 * The allocator's own figures: named right, moving with what the program holds, and telling used from retained. The
 * first argument is the kind that must be found: glibc, jemalloc, tcmalloc or mimalloc.
 */
#include <errno.h>
#include <string.h>

#include "check.h"

static struct mallometer_allocator_state figures(void) {
  struct mallometer_allocator_state s = {.size = sizeof s};
  CHECK_EQUAL(mallometer_allocator(&s), 0);
  return s;
}

static void *objects[20000];

int main(int argc, char **argv) {
  static const char *const kinds[] = {"unknown", "glibc", "jemalloc", "tcmalloc", "mimalloc"};
  CHECK(argc == 2);
  struct mallometer_allocator_state before = figures();
  CHECK(before.kind < 5);
  CHECK(strcmp(kinds[before.kind], argv[1]) == 0);
  CHECK(mallometer_allocator(NULL) == -EINVAL);

  const size_t bytes = 2000, count = sizeof objects / sizeof *objects;
  for (size_t i = 0; i < count; i++) objects[i] = memset(malloc(bytes), 1, bytes);
  struct mallometer_allocator_state full = figures();
  CHECK(full.system_bytes >= before.system_bytes && full.system_bytes >= bytes * count);
  /* mimalloc commits whole segments ahead of need. */
  if (full.kind != MALLOMETER_ALLOCATOR_MIMALLOC) {
    CHECK(full.system_bytes - before.system_bytes >= bytes * count * 9 / 10);
  }
  if (full.used_bytes != MALLOMETER_UNKNOWN) {
    CHECK(full.used_bytes - before.used_bytes >= bytes * count * 9 / 10);
    CHECK(full.system_bytes >= full.used_bytes);
  }

  /* All but each hundredth: the memory stays with the allocator, free. */
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
  CHECK_EQUAL(mallometer_trim(), 0);

  /* Asking leaves nothing behind. */
  struct mallometer_counters start = snapshot();
  figures();
  struct mallometer_counters d = difference(start, snapshot());
  CHECK_EQUAL(mallometer_live_bytes(&d), 0);
  return 0;
}
