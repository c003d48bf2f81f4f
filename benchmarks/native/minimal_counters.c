/*
 * The least cost of counting: the numbers and bytes of allocations and frees of the calling thread. Size classes,
 * readers, the ends of threads and allocators other than glibc are missing: mallometer's additional cost pays for
 * these.
 *
 * The bytes are read from the word before the object, where glibc keeps a chunk's size and three flags.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stddef.h>
#include <stdint.h>

static __thread struct {
  uint64_t allocations, allocated_bytes, frees, freed_bytes;
} counters __attribute__((tls_model("initial-exec")));

static void *(*next_malloc)(size_t);
static void (*next_free)(void *);
static void *(*next_calloc)(size_t, size_t);
static void *(*next_realloc)(void *, size_t);

__attribute__((constructor)) static void resolve(void) {
  next_malloc = (void *(*)(size_t))dlsym(RTLD_NEXT, "malloc");
  next_free = (void (*)(void *))dlsym(RTLD_NEXT, "free");
  next_calloc = (void *(*)(size_t, size_t))dlsym(RTLD_NEXT, "calloc");
  next_realloc = (void *(*)(void *, size_t))dlsym(RTLD_NEXT, "realloc");
}

static inline void resolve_once(void) {
  if (__builtin_expect(!next_malloc, 0)) resolve();
}

static inline size_t chunk_bytes(const void *object) { return ((const size_t *)object)[-1] & ~(size_t)7; }

static inline void *counted(void *object) {
  if (__builtin_expect(object != NULL, 1)) {
    counters.allocations++;
    counters.allocated_bytes += chunk_bytes(object);
  }
  return object;
}

static inline void count_free(size_t bytes) {
  counters.frees++;
  counters.freed_bytes += bytes;
}

void *malloc(size_t size) {
  resolve_once();
  return counted(next_malloc(size));
}

void free(void *object) {
  if (__builtin_expect(!object, 0)) return;
  resolve_once();
  count_free(chunk_bytes(object));
  next_free(object);
}

void *calloc(size_t count, size_t size) {
  resolve_once();
  return counted(next_calloc(count, size));
}

void *realloc(void *object, size_t size) {
  resolve_once();
  size_t old_bytes = object ? chunk_bytes(object) : 0;
  void *moved = next_realloc(object, size);
  if (object && (moved || size == 0)) count_free(old_bytes);
  return counted(moved);
}
