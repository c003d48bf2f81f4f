/*
 * Measures the least cost of an LD_PRELOAD library: the functions do nothing but jump to the next library's functions.
 * A constructor looks those functions up before main(). A call that comes even earlier looks them up itself.
 *
 * With COUNTERS the library measures the least cost of counting: it counts the allocations and frees of the calling
 * thread, and their bytes. Unlike mallometer it has no size classes and no way to read the counts, does not keep the
 * counts of threads that end, and supports only glibc's allocator. The bytes are read from the word before the object,
 * where glibc keeps the size of the chunk and three flags.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stddef.h>
#include <stdint.h>

static void *resolve_malloc(size_t size);
static void resolve_free(void *object);
static void *resolve_calloc(size_t count, size_t size);
static void *resolve_realloc(void *object, size_t size);

static void *(*next_malloc)(size_t) = resolve_malloc;
static void (*next_free)(void *) = resolve_free;
static void *(*next_calloc)(size_t, size_t) = resolve_calloc;
static void *(*next_realloc)(void *, size_t) = resolve_realloc;

/* glibc's dlsym() does not allocate when it finds the symbol, so it does not call the functions that are being
 * resolved. */
__attribute__((constructor)) static void resolve(void) {
  next_malloc = (void *(*)(size_t))dlsym(RTLD_NEXT, "malloc");
  next_free = (void (*)(void *))dlsym(RTLD_NEXT, "free");
  next_calloc = (void *(*)(size_t, size_t))dlsym(RTLD_NEXT, "calloc");
  next_realloc = (void *(*)(void *, size_t))dlsym(RTLD_NEXT, "realloc");
}

static void *resolve_malloc(size_t size) {
  resolve();
  return next_malloc(size);
}

static void resolve_free(void *object) {
  resolve();
  next_free(object);
}

static void *resolve_calloc(size_t count, size_t size) {
  resolve();
  return next_calloc(count, size);
}

static void *resolve_realloc(void *object, size_t size) {
  resolve();
  return next_realloc(object, size);
}

#ifdef COUNTERS

static __thread struct {
  uint64_t allocations, allocated_bytes, frees, freed_bytes;
} counters __attribute__((tls_model("initial-exec")));

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

void *malloc(size_t size) { return counted(next_malloc(size)); }

void free(void *object) {
  if (__builtin_expect(!object, 0)) return;
  count_free(chunk_bytes(object));
  next_free(object);
}

void *calloc(size_t count, size_t size) { return counted(next_calloc(count, size)); }

void *realloc(void *object, size_t size) {
  size_t old_bytes = object ? chunk_bytes(object) : 0;
  void *moved = next_realloc(object, size);
  if (object && (moved || size == 0)) count_free(old_bytes);
  return counted(moved);
}

#else

void *malloc(size_t size) { return next_malloc(size); }
void free(void *object) { next_free(object); }
void *calloc(size_t count, size_t size) { return next_calloc(count, size); }
void *realloc(void *object, size_t size) { return next_realloc(object, size); }

#endif
