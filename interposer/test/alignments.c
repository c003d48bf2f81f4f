/* Allocates with every alignment up to 1 MiB. The object must be aligned, as large as requested, and counted once
 * when allocated and once when freed. It must keep its content when it is reallocated. */
#include <malloc.h>
#include <string.h>

#include "check.h"

enum { LARGEST = 200000, MOST = 3 * LARGEST + 5000, PERIOD = 256 };

static unsigned char contents[MOST + PERIOD];

/* Returns the contents of an object: a sequence with a period of 256 bytes, whose first byte depends on the size. */
static const unsigned char *pattern(size_t size) { return contents + size * 31 % PERIOD; }

static void fill(unsigned char *object, size_t size) { memcpy(object, pattern(size), size); }

static void holds(const unsigned char *object, size_t size, size_t bytes) {
  CHECK(memcmp(object, pattern(size), bytes) == 0);
}

static void is_good(unsigned char *object, size_t alignment, size_t size) {
  CHECK(object);
  /* Empty objects are skipped: with MALLOMETER_ACCOUNTING=header, the library requests memalign(256, 256) for some of
   * them, and mimalloc 2.0.9 misaligns the result. */
  if (size > 0) CHECK_EQUAL((uintptr_t)object % alignment, 0);
  CHECK(malloc_usable_size(object) >= size);
  fill(object, size);
}

static void grows_and_shrinks(unsigned char *object, size_t size) {
  size_t larger = 3 * size + 5000;
  object = realloc(object, larger);
  CHECK(object && malloc_usable_size(object) >= larger);
  holds(object, size, size);
  fill(object, larger);
  object = realloc(object, size / 2 + 1);
  holds(object, larger, size / 2 + 1);
  free(object);
}

int main(void) {
  static const size_t sizes[] = {0, 1, 15, 16, 17, 100, 4095, 4096, 4097, 40000, LARGEST};
  for (size_t i = 0; i < sizeof contents; i++) contents[i] = (unsigned char)(i * 7);
  struct mallometer_counters start = snapshot();
  uint64_t allocations = 0;
  for (size_t alignment = 1; alignment <= (size_t)1 << 20; alignment *= 2) {
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
      size_t size = sizes[i];
      /* Allocates a neighbour on either side, whose contents show whether the object overlaps it. */
      unsigned char *before = malloc(size), *object = memalign(alignment, size), *after = malloc(size);
      is_good(before, 1, size);
      is_good(object, alignment, size);
      is_good(after, 1, size);
      holds(before, size, size);
      holds(object, size, size);
      free(before);
      free(after);
      grows_and_shrinks(object, size);
      object = aligned_alloc(alignment, size);
      is_good(object, alignment, size);
      holds(object, size, size);
      free(object);
      allocations += 6;
      if (alignment < sizeof(void *)) continue;
      void *other;
      CHECK_EQUAL(posix_memalign(&other, alignment, size), 0);
      is_good(other, alignment, size);
      grows_and_shrinks(other, size);
      allocations += 3;
    }
  }
  struct mallometer_counters d = difference(start, snapshot());
  CHECK_EQUAL(mallometer_allocations(&d), allocations);
  CHECK_EQUAL(d.frees, allocations);
  CHECK_EQUAL(mallometer_live_bytes(&d), 0);
  return 0;
}
