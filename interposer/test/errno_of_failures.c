/*
 * A call that fails leaves errno as the allocator below leaves it when it is asked for the same: glibc sets ENOMEM in
 * posix_memalign too, others leave errno alone in one function or another. So do those that are refused for their
 * arguments. Each function is called by its name, and then in the allocator itself.
 */
#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <malloc.h>
#include <stdbool.h>
#include <string.h>

#include "check.h"

/* ---- The allocator below ------------------------------------------------------------------------------- */

static void *allocator;

static void *function_of(void *library, const char *name) {
  void *address = dlsym(library, name);
  /* libc_malloc_debug offers its functions to programs that were linked long ago. */
  if (!address) address = dlvsym(library, name, strcmp(name, "aligned_alloc") == 0 ? "GLIBC_2.16" : "GLIBC_2.2.5");
  return address;
}

static bool defines(void *library, const struct link_map *object, const char *name) {
  struct link_map *found;
  Dl_info info;
  void *address = function_of(library, name);
  return address && dladdr1(address, &info, (void **)&found, RTLD_DL_LINKMAP) && found == object;
}

/* The first object behind the library that defines malloc. */
static void find_allocator(void) {
  struct link_map *object;
  Dl_info info;
  CHECK(dladdr1((void *)(uintptr_t)mallometer_self, &info, (void **)&object, RTLD_DL_LINKMAP));
  for (object = object->l_next; object && !allocator; object = object->l_next) {
    void *library = dlopen(object->l_name, RTLD_NOLOAD | RTLD_NOW);
    if (library && defines(library, object, "malloc")) allocator = library;
  }
  CHECK(allocator);
}

static struct {
  void *(*malloc)(size_t);
  void *(*calloc)(size_t, size_t);
  void *(*realloc)(void *, size_t);
  void *(*memalign)(size_t, size_t);
  void *(*aligned_alloc)(size_t, size_t);
  int (*posix_memalign)(void **, size_t, size_t);
} below;

/* ---- Comparing ----------------------------------------------------------------------------------------- */

static int failures;

#define ERRNO_OF(call)              \
  ({                                \
    errno = 4711;                   \
    void *got_ = call;              \
    int errno_ = got_ ? -1 : errno; \
    errno_;                         \
  })

/* `got` and `expected` are evaluated once each, in this order. */
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
    SAME(posix(posix_memalign, alignments[i], size), posix(below.posix_memalign, alignments[i], size));
    CHECK_EQUAL(result_of_posix(alignments[i], size), EINVAL);
  }
}

int main(void) {
  find_allocator();
#define FIND(name)                                          \
  do {                                                      \
    void *address = function_of(allocator, #name);          \
    CHECK(address &&address != dlsym(RTLD_DEFAULT, #name)); \
    memcpy(&below.name, &address, sizeof address);          \
  } while (0)
  FIND(malloc);
  FIND(calloc);
  FIND(realloc);
  FIND(memalign);
  FIND(aligned_alloc);
  FIND(posix_memalign);
  static const size_t sizes[] = {SIZE_MAX,    SIZE_MAX - 15,   SIZE_MAX - 5000,
                                 PTRDIFF_MAX, (size_t)1 << 62, (size_t)1 << 47}; /* more than there are addresses */
  for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) compare(sizes[i]);
  wrong_alignments();

  errno = 4711;
  volatile size_t half = SIZE_MAX / 2;
  CHECK(!reallocarray(NULL, half, 3));
  CHECK_EQUAL(errno, ENOMEM);
  CHECK_EQUAL(failures, 0);
  return 0;
}
