/* An allocator that resembles Hoard: its memalign calls the public malloc and returns an address inside of malloc's
 * object. It never frees memory. */
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { BEFORE = 16, BYTES = 1 << 28 };
static _Alignas(BEFORE) char memory[BYTES];
static size_t used;

void *memalign(size_t alignment, size_t size);

static void *begin_at(char *object, size_t size) {
  memcpy(object - BEFORE, &size, sizeof size);
  return object;
}

void *malloc(size_t size) {
  if (size > BYTES / 2) {
    errno = ENOMEM;
    return NULL;
  }
  size_t taken = BEFORE + (size + BEFORE - 1) / BEFORE * BEFORE;
  size_t begin = __atomic_fetch_add(&used, taken, __ATOMIC_RELAXED);
  if (begin + taken > BYTES) abort();
  return begin_at(memory + begin + BEFORE, size);
}

void free(void *object) { (void)object; }

size_t malloc_usable_size(void *object) {
  size_t size = 0;
  if (object) memcpy(&size, (char *)object - BEFORE, sizeof size);
  return size;
}

void *calloc(size_t count, size_t size) {
  size_t bytes;
  if (__builtin_mul_overflow(count, size, &bytes)) return NULL;
  return malloc(bytes); /* is zero, because memory is never reused */
}

void *realloc(void *object, size_t size) {
  size_t old = malloc_usable_size(object);
  void *moved = malloc(size);
  return moved && object ? memcpy(moved, object, old < size ? old : size) : moved;
}

void *memalign(size_t alignment, size_t size) {
  if (alignment < BEFORE) alignment = BEFORE;
  char *object = malloc(size + BEFORE + alignment);
  if (!object) return NULL;
  uintptr_t begin = (uintptr_t)object + BEFORE;
  return begin_at(object + BEFORE + (-begin & (alignment - 1)), size);
}

void *aligned_alloc(size_t alignment, size_t size) { return memalign(alignment, size); }

int posix_memalign(void **object, size_t alignment, size_t size) {
  void *begin = memalign(alignment, size);
  if (begin) *object = begin;
  return begin ? 0 : ENOMEM;
}
