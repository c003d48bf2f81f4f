/* Calls Darwin's allocator by the names of its functions, because dyld does not redirect the calls of an interposing
 * library. Used on Darwin instead of next.c and glibc's files. */
#include <dlfcn.h>
#include <errno.h>
#include <malloc/malloc.h>
#include <stdlib.h>
#include <string.h>

#include "allocator/glibc.h"
#include "allocator/glibc_cache.h"
#include "allocator/glibc_heaps.h"
#include "allocator/next.h"

static void *aligned(size_t alignment, size_t size) { return aligned_alloc(alignment, size); }

static size_t size_of(void *object) { return malloc_size(object); }

struct next_allocator next = {malloc, free, calloc, realloc, aligned, aligned, posix_memalign, size_of};
struct next_allocator after;
bool after_serves;

bool next_allocator_find(const struct next_allocator *ours) {
  (void)ours;
  return true;
}

bool next_allocator_bypass_executable(void) { return true; }

bool next_allocator_may_call_back(void) { return false; }

bool next_allocator_tags_memory(void) { return false; }

/* AddressSanitizer's runtime defines __asan_init, which a program that is built with the sanitizer calls first. */
bool is_of_sanitizer(const void *function) {
  (void)function;
  return dlsym(RTLD_DEFAULT, "__asan_init") != NULL;
}

void next_allocator_name(char *name, size_t capacity) { strlcpy(name, "libsystem_malloc", capacity); }

bool next_allocator_function(void *function, const char *name) {
  (void)name;
  memset(function, 0, sizeof(void *));
  return false;
}

/* ---- The functions of glibc.h, without glibc ----------------------------------------------------------- */

bool glibc_serves(void) { return false; }

void glibc_name(char *name, size_t capacity) { (void)name, (void)capacity; }

bool glibc_chunks_are_readable(void) { return false; }

void glibc_write_mapped_chunk(uintptr_t begin, size_t offset, size_t bytes) { (void)begin, (void)offset, (void)bytes; }

size_t glibc_mapped_bytes(const void *object, size_t offset) {
  (void)object, (void)offset;
  return 0;
}

void glibc_free_unnoticed(void *object) { free(object); }

void glibc_find(void) {}

bool glibc_bytes_in_use(uint64_t *bytes) {
  *bytes = 0;
  return false;
}

int glibc_figures(struct mallometer_allocator_state *out, struct mallometer_arena *arenas, uint32_t capacity) {
  (void)out, (void)arenas, (void)capacity;
  return -ENOTSUP;
}

int glibc_trim(void) { return -ENOTSUP; }

bool glibc_cache_find(void) { return false; }

uint64_t glibc_cache_bytes(void) { return 0; }

bool glibc_caches_open(void) { return false; }

void glibc_caches_close(void) {}

void glibc_caches_note(void) {}

void glibc_caches_compare(uint64_t *bytes, uint64_t *change) { *bytes = *change = 0; }

bool glibc_most_free_chunks(uint64_t *chunks) {
  *chunks = 0;
  return false;
}
