/* Checks that a failed call through the library leaves the same errno as the same call of the allocator below it.
 * Allocators differ in which functions set errno. */
#include <errno.h>
#include <malloc.h>

#include "below.h"

/* ---- Comparison of errno ------------------------------------------------------------------------------- */

static int failures;

#define ERRNO_OF(call)              \
  ({                                \
    errno = 4711;                   \
    void *got_ = call;              \
    int errno_ = got_ ? -1 : errno; \
    errno_;                         \
  })

#define SAME(call, of_allocator)                                                            \
  do {                                                                                      \
    int got = ERRNO_OF(call), expected = ERRNO_OF(of_allocator);                            \
    if (got == expected) break;                                                             \
    fprintf(stderr, "%s with %zu: errno is %d, expected %d\n", #call, size, got, expected); \
    failures++;                                                                             \
  } while (0)

static void *posix(int (*function)(void **, size_t, size_t), size_t alignment, size_t size) {
  void *object = NULL;
  return function(&object, alignment, size) == 0 ? object : NULL;
}

static int result_of_posix(size_t alignment, size_t size) {
  void *object = &object;
  int result = posix_memalign(&object, alignment, size);
  CHECK(object == &object);
  return result;
}

static void compare(size_t size) {
  static void *ours, *others;
  if (!ours) ours = malloc(100), others = below.malloc(100);
  SAME(malloc(size), below.malloc(size));
  SAME(calloc(1, size), below.calloc(1, size));
  SAME(calloc(size, 1), below.calloc(size, 1));
  SAME(calloc(size, 4), below.calloc(size, 4));
  SAME(realloc(NULL, size), below.realloc(NULL, size));
  SAME(realloc(ours, size), below.realloc(others, size));
  SAME(reallocarray(ours, size, 1), below.realloc(others, size));
  SAME(valloc(size), below.memalign(4096, size));
  for (size_t alignment = 8; alignment <= 65536; alignment *= 8) {
    SAME(memalign(alignment, size), below.memalign(alignment, size));
    SAME(aligned_alloc(alignment, size), below.aligned_alloc(alignment, size));
    SAME(posix(posix_memalign, alignment, size), posix(below.posix_memalign, alignment, size));
    CHECK_EQUAL(result_of_posix(alignment, size), ENOMEM);
  }
}

static void wrong_alignments(void) {
  size_t size = 64;
  SAME(memalign((size_t)3 << 62, size), below.memalign((size_t)3 << 62, size));
  SAME(aligned_alloc((size_t)3 << 62, size), below.aligned_alloc((size_t)3 << 62, size));
  static const size_t alignments[] = {0, 1, 3, 4, 24};
  for (size_t i = 0; i < sizeof alignments / sizeof *alignments; i++) {
#ifdef __GLIBC__ /* musl's function changes errno for some alignments */
    SAME(posix(posix_memalign, alignments[i], size), posix(below.posix_memalign, alignments[i], size));
#endif
    CHECK_EQUAL(result_of_posix(alignments[i], size), EINVAL);
  }
}

int main(void) {
  find_allocator_below();
  static const size_t sizes[] = {SIZE_MAX,    SIZE_MAX - 15,   SIZE_MAX - 5000,
                                 PTRDIFF_MAX, (size_t)1 << 62, (size_t)1 << 47}; /* larger than the address space */
  for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) compare(sizes[i]);
  wrong_alignments();

  errno = 4711;
  volatile size_t half = SIZE_MAX / 2;
  CHECK(!reallocarray(NULL, half, 3));
  CHECK_EQUAL(errno, ENOMEM);
  CHECK_EQUAL(failures, 0);
  return 0;
}
