/* Tests the corner cases of the definition of "event" (an allocation, a free or both) in mallometer.h. */
#include <dlfcn.h>
#include <errno.h>
#include <malloc.h>
#include <string.h>

#include "check.h"

struct expected {
  const char *what;
  uint64_t allocations, frees, failed;
  int64_t live;
};

static struct mallometer_counters before;

static void expect(struct expected e) {
  struct mallometer_counters d = difference(before, snapshot());
  if (mallometer_allocations(&d) != e.allocations || d.frees != e.frees || d.failed != e.failed ||
      mallometer_live_bytes(&d) != e.live) {
    fprintf(stderr,
            "%s: %" PRIu64 " allocations, %" PRIu64 " frees, %" PRIu64 " failed, %" PRId64 " live; expected %" PRIu64
            ", %" PRIu64 ", %" PRIu64 ", %" PRId64 "\n",
            e.what, mallometer_allocations(&d), d.frees, d.failed, mallometer_live_bytes(&d), e.allocations, e.frees,
            e.failed, e.live);
    exit(1);
  }
  before = snapshot();
}

int main(void) {
  volatile size_t too_much = PTRDIFF_MAX;
  volatile size_t nothing = 0;
  before = snapshot();

  free(NULL);
  expect((struct expected){"free(NULL)", 0, 0, 0, 0});

  void *object = malloc(nothing);
  int64_t size = (int64_t)unit_size(object);
  expect((struct expected){"malloc(0)", 1, 0, 0, size});

  object = realloc(object, 1);
  int64_t new_size = (int64_t)unit_size(object);
  expect((struct expected){"realloc in place", 1, 1, 0, new_size - size});
  size = new_size;

  void *failed = realloc(object, too_much);
  CHECK(failed == NULL);
  expect((struct expected){"realloc that fails", 0, 0, 1, 0});

  object = realloc(object, nothing);
  if (object) { /* mimalloc returns an object, other allocators NULL */
    new_size = (int64_t)unit_size(object);
    expect((struct expected){"realloc to zero that gives an object", 1, 1, 0, new_size - size});
    free(object);
    expect((struct expected){"free of nothing", 0, 1, 0, -new_size});
  } else {
    expect((struct expected){"realloc to zero", 0, 1, 0, -size});
  }

  object = realloc(NULL, 100);
  size = (int64_t)unit_size(object);
  expect((struct expected){"realloc(NULL)", 1, 0, 0, size});
  free(object);
  expect((struct expected){"free", 0, 1, 0, -size});

  failed = realloc(NULL, too_much);
  CHECK(failed == NULL);
  expect((struct expected){"realloc(NULL) that fails", 0, 0, 1, 0});

  errno = 0;
  failed = reallocarray(NULL, too_much, too_much);
  CHECK(failed == NULL && errno == ENOMEM);
  expect((struct expected){"reallocarray that overflows", 0, 0, 1, 0});

  failed = calloc(too_much, too_much);
  CHECK(failed == NULL);
  expect((struct expected){"calloc that overflows", 0, 0, 1, 0});

  /* The functions with these names count like free(). The library ignores their arguments after the first. */
  static const char *const names[] = {
      "cfree",  "free_sized", "free_aligned_sized",    "sdallocx",
      "_ZdlPv", "_ZdaPvm",    "_ZdaPvSt11align_val_t", "_ZdlPvSt11align_val_tRKSt9nothrow_t"};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    void (*release)(void *, size_t, size_t);
    void *address = dlsym(RTLD_DEFAULT, names[i]);
    CHECK(address);
    memcpy(&release, &address, sizeof release);
    object = malloc(100);
    size = (int64_t)unit_size(object);
    expect((struct expected){"malloc for another free", 1, 0, 0, size});
    release(object, 100, 0);
    expect((struct expected){names[i], 0, 1, 0, -size});
  }

  char *copy = strdup("thirty-one characters and a zero");
  size = (int64_t)unit_size(copy);
  expect((struct expected){"strdup", 1, 0, 0, size});
  free(copy);
  expect((struct expected){"free of it", 0, 1, 0, -size});

  /* A request of 4096 bytes is in the last class of small requests; one of 4097 bytes is large. */
  struct mallometer_counters start = snapshot();
  free(malloc(4096));
  free(malloc(4097));
  struct mallometer_counters d = difference(start, snapshot());
  CHECK_EQUAL(mallometer_small_allocations(&d), 1);
  CHECK_EQUAL(mallometer_large_allocations(&d), 1);
  for (unsigned c = 0; c + 1 < MALLOMETER_SIZE_CLASSES; c++) {
    start = snapshot();
    free(malloc(mallometer_class_limit(c)));
    free(malloc(mallometer_class_limit(c) + 1));
    d = difference(start, snapshot());
    CHECK_EQUAL(d.allocations[c], 1);
    CHECK_EQUAL(d.allocations[c + 1], 1);
  }

  errno = 4711;
  object = malloc(20);
  free(object);
  free(malloc((size_t)1 << 20));
  CHECK_EQUAL(errno, 4711);
  return 0;
}
