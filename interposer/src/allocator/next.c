/* Finding and knowing the next allocator. See next.h. */
#include "allocator/next.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#ifdef __GLIBC__
#include <gnu/libc-version.h>
#endif

#include "platform/glibc_versions.h"

struct next_allocator next;

/* ISO C has no conversion from object to function pointer; POSIX asks dlsym's users to go through memory. */
static bool find(void *function, const char *name) {
  void *address = dlsym(RTLD_NEXT, name);
  memcpy(function, &address, sizeof address);
  return address != NULL;
}

bool next_allocator_find(void) {
  struct next_allocator found = {0};
  bool complete = find(&found.malloc, "malloc") & find(&found.free, "free") & find(&found.calloc, "calloc") &
                  find(&found.realloc, "realloc") & find(&found.memalign, "memalign") &
                  find(&found.aligned_alloc, "aligned_alloc") & find(&found.posix_memalign, "posix_memalign") &
                  find(&found.usable_size, "malloc_usable_size");
  if (complete) next = found;
  return complete;
}

static bool is_glibc_malloc(void) {
#ifdef __GLIBC__
  Dl_info serving, libc;
  void *malloc_address, *libc_address;
  const char *(*version)(void) = gnu_get_libc_version;
  memcpy(&malloc_address, &next.malloc, sizeof malloc_address);
  memcpy(&libc_address, &version, sizeof libc_address);
  return dladdr(malloc_address, &serving) && dladdr(libc_address, &libc) && serving.dli_fbase == libc.dli_fbase;
#else
  return false;
#endif
}

static bool chunk_agrees(size_t request) {
  void *object = next.malloc(request);
  if (!object) return true; /* says nothing; the other sizes decide */
  size_t usable = next.usable_size(object);
  size_t word = ((size_t *)object)[-1];
  bool singly_mapped = word & 2;
  bool agrees = glibc_usable_size(object) == usable + (singly_mapped ? sizeof(size_t) : 0) && usable >= request;
  next.free(object);
  return agrees;
}

bool next_allocator_has_glibc_chunks(void) {
#if defined(__GLIBC__) && defined(__x86_64__)
  static const size_t requests[] = {0, 1, 24, 25, 100, 1000, 5000, 70000, 300000};
  if (!is_glibc_malloc()) return false;
  for (size_t i = 0; i < sizeof requests / sizeof *requests; i++) {
    if (!chunk_agrees(requests[i])) return false;
  }
  return true;
#else
  return false;
#endif
}

void next_allocator_name(char *name, size_t capacity) {
  Dl_info serving;
  void *address;
  memcpy(&address, &next.malloc, sizeof address);
#ifdef __GLIBC__
  if (is_glibc_malloc()) {
    snprintf(name, capacity, "glibc %s", gnu_get_libc_version());
    return;
  }
#endif
  if (!address || !dladdr(address, &serving) || !serving.dli_fname) {
    snprintf(name, capacity, "unknown");
    return;
  }
  const char *slash = strrchr(serving.dli_fname, '/');
  snprintf(name, capacity, "%s", slash ? slash + 1 : serving.dli_fname);
}
