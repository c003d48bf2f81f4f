/* Calls functions of the allocator directly, through the addresses in `below`, so that mallometer does not see the
 * calls. */
#ifndef MALLOMETER_TEST_BELOW_H
#define MALLOMETER_TEST_BELOW_H

#include <dlfcn.h>
#include <link.h>
#include <stdbool.h>
#include <string.h>

#include "check.h"

static struct {
  void *(*malloc)(size_t);
  void (*free)(void *);
  void *(*calloc)(size_t, size_t);
  void *(*realloc)(void *, size_t);
  void *(*memalign)(size_t, size_t);
  void *(*aligned_alloc)(size_t, size_t);
  int (*posix_memalign)(void **, size_t, size_t);
} below;

#ifdef __GLIBC__
static void *if_in(const struct link_map *object, void *address) {
  struct link_map *found;
  Dl_info info;
  bool known = address && dladdr1(address, &info, (void **)&found, RTLD_DL_LINKMAP);
  return known && found == object ? address : NULL;
}

/* Returns the address of a function in `object`, or NULL. Also looks for old symbol versions, because
 * libc_malloc_debug defines its functions only under these. */
static void *function_of(void *library, const struct link_map *object, const char *name) {
  void *usual = if_in(object, dlsym(library, name));
  const char *version = strcmp(name, "aligned_alloc") == 0 ? "GLIBC_2.16" : "GLIBC_2.2.5";
  return usual ? usual : if_in(object, dlvsym(library, name, version));
}

/* Opens the allocator: the first object after mallometer in the loader's search order that defines malloc. */
static void *open_allocator(struct link_map **found) {
  struct link_map *object;
  Dl_info info;
  void *library = NULL;
  CHECK(dladdr1((void *)(uintptr_t)mallometer_self, &info, (void **)&object, RTLD_DL_LINKMAP));
  do {
    object = object->l_next;
    CHECK(object);
    library = dlopen(object->l_name, RTLD_NOLOAD | RTLD_NOW);
  } while (!library || !function_of(library, object, "malloc"));
  *found = object;
  return library;
}
#else /* musl */
static void *function_of(void *library, const struct link_map *object, const char *name) {
  (void)object;
  return dlsym(library, name);
}

static void *open_allocator(struct link_map **found) {
  *found = NULL;
  return dlopen("libc.so", RTLD_NOLOAD | RTLD_NOW);
}
#endif

static void find_allocator_below(void) {
  struct link_map *object;
  void *library = open_allocator(&object);
#define FIND(name)                                          \
  do {                                                      \
    void *address = function_of(library, object, #name);    \
    CHECK(address &&address != dlsym(RTLD_DEFAULT, #name)); \
    memcpy(&below.name, &address, sizeof address);          \
  } while (0)
  FIND(malloc);
  FIND(free);
  FIND(calloc);
  FIND(realloc);
  FIND(memalign);
  FIND(aligned_alloc);
  FIND(posix_memalign);
#undef FIND
}

#endif
