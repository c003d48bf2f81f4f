/*
 * Resizes and frees objects from the C library's own malloc, which mallometer has not seen. With
 * MALLOMETER_ACCOUNTING=header, it must recognize that these objects have no header, and must not count their frees.
 */
#include <dlfcn.h>
#include <malloc.h>
#include <string.h>

#include "loaded_library.h"

enum { MOST = 1 << 22 };

static char filled[MOST];
static void *(*libc_malloc)(size_t);
static void *(*libc_memalign)(size_t, size_t);

static void resized_and_freed(char *object, size_t size) {
  CHECK(object && malloc_usable_size(object) >= size);
  memcpy(object, filled, size);
  object = realloc(object, 2 * size + 100);
  CHECK(memcmp(object, filled, size) == 0);
  object = reallocarray(object, 1, size / 2);
  CHECK(memcmp(object, filled, size / 2) == 0);
  free(object);
}

int main(void) {
  void *library = dlopen("libc.so.6", RTLD_NOLOAD | RTLD_NOW);
  CHECK(library);
  find(&libc_malloc, library, "malloc");
  find(&libc_memalign, library, "memalign");
  CHECK(libc_malloc != malloc);
  memset(filled, 'f', sizeof filled);

  struct mallometer_counters start = snapshot();
  for (size_t size = 2; size < MOST; size = size * 5 / 4 + 1) {
    resized_and_freed(libc_malloc(size), size);
    for (size_t alignment = 64; alignment <= (size_t)1 << 20; alignment *= 8) {
      resized_and_freed(libc_memalign(alignment, size), size);
    }
    void *kept = libc_malloc(size), *zero = realloc(libc_malloc(size), 0);
    CHECK(!zero);
    free(kept);
  }
  struct mallometer_counters d = difference(start, snapshot());
  if (self().byte_unit == MALLOMETER_UNIT_REQUESTED) {
    CHECK_EQUAL(mallometer_allocations(&d), 0);
    CHECK_EQUAL(d.frees, 0);
  } else {
    CHECK(d.frees > mallometer_allocations(&d)); /* frees of the C library's objects are counted, too */
  }
  start = snapshot();
  resized_and_freed(malloc(100), 100);
  d = difference(start, snapshot());
  CHECK_EQUAL(mallometer_allocations(&d), 3);
  CHECK_EQUAL(d.frees, 3);
  CHECK_EQUAL(mallometer_live_bytes(&d), 0);
  return 0;
}
