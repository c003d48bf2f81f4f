/*
 * A preloaded library that counts each call of malloc's family, and the bytes, by atomic additions. Tests compare the
 * counts of an attached mallometer with these counts. The library calls glibc's internal names, which need no dlsym(),
 * so it counts from the first call on.
 */
#include <errno.h>
#include <malloc.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

extern void *__libc_malloc(size_t), *__libc_calloc(size_t, size_t), *__libc_realloc(void *, size_t);
extern void *__libc_memalign(size_t, size_t);
extern void __libc_free(void *);

struct exact_counters {
  uint64_t allocations, frees, allocated_bytes, freed_bytes;
};

static struct exact_counters counters;

static void add(uint64_t *counter, uint64_t amount) { __atomic_fetch_add(counter, amount, __ATOMIC_RELAXED); }

static size_t bytes_of(void *object) {
  enum { OF_CHUNK = sizeof(size_t), MAPPED = 2 };
  size_t head = ((const size_t *)object)[-1];
  return (head & ~(size_t)7) - OF_CHUNK - (head & MAPPED ? OF_CHUNK : 0);
}

static void *allocated(void *object) {
  if (object) {
    add(&counters.allocations, 1);
    add(&counters.allocated_bytes, bytes_of(object));
  }
  return object;
}

static void freed(size_t bytes) {
  add(&counters.frees, 1);
  add(&counters.freed_bytes, bytes);
}

void exact_counters_read(struct exact_counters *now) {
  now->allocations = __atomic_load_n(&counters.allocations, __ATOMIC_RELAXED);
  now->frees = __atomic_load_n(&counters.frees, __ATOMIC_RELAXED);
  now->allocated_bytes = __atomic_load_n(&counters.allocated_bytes, __ATOMIC_RELAXED);
  now->freed_bytes = __atomic_load_n(&counters.freed_bytes, __ATOMIC_RELAXED);
}

void *malloc(size_t size) { return allocated(__libc_malloc(size)); }

void *calloc(size_t count, size_t size) { return allocated(__libc_calloc(count, size)); }

void free(void *object) {
  if (object) freed(bytes_of(object));
  __libc_free(object);
}

void *realloc(void *object, size_t size) {
  size_t before = object ? bytes_of(object) : 0;
  void *moved = __libc_realloc(object, size);
  if (object && (moved || size == 0)) freed(before);
  return allocated(moved);
}

void *reallocarray(void *object, size_t count, size_t size) {
  size_t bytes;
  if (__builtin_mul_overflow(count, size, &bytes)) {
    errno = ENOMEM;
    return NULL;
  }
  return realloc(object, bytes);
}

void *memalign(size_t alignment, size_t size) { return allocated(__libc_memalign(alignment, size)); }

void *aligned_alloc(size_t alignment, size_t size) { return memalign(alignment, size); }

int posix_memalign(void **object, size_t alignment, size_t size) {
  if (alignment % sizeof(void *) != 0 || (alignment & (alignment - 1)) != 0 || alignment == 0) return EINVAL;
  void *found = memalign(alignment, size);
  if (!found) return ENOMEM;
  *object = found;
  return 0;
}

void *valloc(size_t size) { return memalign((size_t)sysconf(_SC_PAGESIZE), size); }

void *pvalloc(size_t size) {
  size_t page = (size_t)sysconf(_SC_PAGESIZE);
  return memalign(page, (size + page - 1) / page * page);
}

size_t malloc_usable_size(void *object) { return object ? bytes_of(object) : 0; }
