/*
 * The least cost of any LD_PRELOAD: a library that does nothing. Each function jumps to the next one through a pointer
 * that is resolved before main(), or by the first call if that is earlier.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stddef.h>

static void *resolve_malloc(size_t size);
static void resolve_free(void *object);
static void *resolve_calloc(size_t count, size_t size);
static void *resolve_realloc(void *object, size_t size);

static void *(*next_malloc)(size_t) = resolve_malloc;
static void (*next_free)(void *) = resolve_free;
static void *(*next_calloc)(size_t, size_t) = resolve_calloc;
static void *(*next_realloc)(void *, size_t) = resolve_realloc;

/* glibc's dlsym allocates nothing when it finds the symbol. */
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

void *malloc(size_t size) { return next_malloc(size); }
void free(void *object) { next_free(object); }
void *calloc(size_t count, size_t size) { return next_calloc(count, size); }
void *realloc(void *object, size_t size) { return next_realloc(object, size); }
