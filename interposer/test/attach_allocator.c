/* An allocator that, like mimalloc, defines strdup, strndup and realpath, which allocate without a call of malloc(). */
#include <errno.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

extern void *__libc_malloc(size_t size);
extern void __libc_free(void *object);
extern void *__libc_calloc(size_t count, size_t size);
extern void *__libc_realloc(void *object, size_t size);
extern void *__libc_memalign(size_t alignment, size_t size);

/* malloc() raises SIGUSR1 at the next `interruptions` requests of two bytes. */
int interruptions;

void *malloc(size_t size) {
  if (size == 2 && interruptions > 0) {
    interruptions--;
    raise(SIGUSR1);
  }
  return __libc_malloc(size);
}

void free(void *object) { __libc_free(object); }

void *calloc(size_t count, size_t size) { return __libc_calloc(count, size); }

void *realloc(void *object, size_t size) { return __libc_realloc(object, size); }

void *memalign(size_t alignment, size_t size) { return __libc_memalign(alignment, size); }

void *valloc(size_t size) { return __libc_memalign(4096, size); }

void *aligned_alloc(size_t alignment, size_t size) { return __libc_memalign(alignment, size); }

int posix_memalign(void **object, size_t alignment, size_t size) {
  *object = __libc_memalign(alignment, size);
  return *object ? 0 : ENOMEM;
}

size_t malloc_usable_size(void *object) { return object ? (((size_t *)object)[-1] & ~(size_t)7) - sizeof(size_t) : 0; }

char *strndup(const char *text, size_t most) {
  size_t length = strnlen(text, most);
  char *copy = __libc_malloc(length + 1);
  if (!copy) return NULL;
  copy[length] = '\0';
  return memcpy(copy, text, length);
}

char *strdup(const char *text) { return strndup(text, SIZE_MAX); }

/* Works only for absolute paths without symbolic links. */
char *realpath(const char *path, char *resolved) { return resolved ? strcpy(resolved, path) : strdup(path); }
