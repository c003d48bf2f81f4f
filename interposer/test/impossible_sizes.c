/* Requests sizes near SIZE_MAX and PTRDIFF_MAX. Such a size overflows if the size of a header is added to it. Each
 * call must fail with ENOMEM and be counted as failed, and a failed realloc must leave its object unchanged. */
#include <errno.h>
#include <malloc.h>

#include "below.h"

static uint64_t failures;
static bool allocator_sets_errno;

static void fails(const char *call, const void *object, int error, size_t size) {
  failures++;
  if (!object && (error == ENOMEM || (error == 0 && !allocator_sets_errno))) return;
  fprintf(stderr, "%s with %zu (SIZE_MAX - %zu) is %p with errno %d, expected a failure with ENOMEM\n", call, size,
          SIZE_MAX - size, object, error);
  exit(1);
}

#define FAILS(call)                   \
  do {                                \
    errno = 0;                        \
    const void *result = (call);      \
    fails(#call, result, errno, big); \
  } while (0)

static void every_function(size_t big, char *kept) {
  FAILS(malloc(big));
  FAILS(calloc(1, big));
  FAILS(calloc(big, 1));
  FAILS(realloc(NULL, big));
  FAILS(realloc(kept, big));
  FAILS(reallocarray(NULL, 1, big));
  FAILS(reallocarray(kept, big, 1));
  FAILS(valloc(big));
  FAILS(pvalloc(big));
  for (size_t alignment = 16; alignment <= (size_t)1 << 20; alignment *= 16) {
    FAILS(memalign(alignment, big));
    FAILS(aligned_alloc(alignment, big));
    void *untouched = kept;
    CHECK_EQUAL(posix_memalign(&untouched, alignment, big), ENOMEM);
    CHECK(untouched == kept);
    failures++;
  }
}

int main(void) {
  find_allocator_below();
  allocator_sets_errno = strncmp(self().allocator, "glibc", 5) == 0;
  char *kept = malloc(100);
  memset(kept, 'k', 100);
  struct mallometer_counters start = snapshot();
  const size_t ends[] = {SIZE_MAX, (size_t)PTRDIFF_MAX + 1};
  for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
    for (size_t less = 0; less <= 33; less++) every_function(ends[i] - less, kept);
    for (size_t less = 4080; less <= 4097; less++) every_function(ends[i] - less, kept);
    every_function(ends[i] - ((size_t)1 << 20), kept);
  }
  volatile size_t half = SIZE_MAX / 2 + 1;
  size_t big = half;
  bool otherwise = allocator_sets_errno;
  errno = 0;
  CHECK(!below.calloc(big, 2));
  allocator_sets_errno &= errno == ENOMEM; /* Under Valgrind, calloc does not set errno here. */
  FAILS(calloc(big, 2));
  FAILS(calloc(2, big + 8));
  allocator_sets_errno = otherwise;
  FAILS(reallocarray(NULL, big, 2));
  FAILS(reallocarray(kept, 2, big + 8));

  struct mallometer_counters d = difference(start, snapshot());
  CHECK_EQUAL(d.failed, failures);
  CHECK_EQUAL(mallometer_allocations(&d), 0);
  CHECK_EQUAL(d.frees, 0);
  CHECK_EQUAL(mallometer_live_bytes(&d), 0);
  for (int i = 0; i < 100; i++) CHECK_EQUAL(kept[i], 'k');
  free(kept);
  return 0;
}
