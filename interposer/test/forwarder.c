/*
 * An interposer of malloc that passes calls on to the next malloc in the loader's order. It is compiled into a
 * preloaded library and into an executable.
 *
 * With SOME, it defines only malloc and free. With MARKED, it puts a mark before each object, and aborts if an object
 * without a mark is freed or resized. Calls that reach this code twice or not at all are found in this way.
 */
#include <dlfcn.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static void find(void *function, const char *name) {
  void *address;
  memcpy(&address, function, sizeof address);
  if (address) return;
  address = dlsym(RTLD_NEXT, name);
  if (!address) abort();
  memcpy(function, &address, sizeof address);
}

#define NEXT(type, name, ...)         \
  static type(*next_one) __VA_ARGS__; \
  find(&next_one, #name)

#ifdef MARKED
enum { MARK = 0x6d61726b };
struct mark {
  void *begin;
  uintptr_t mark;
};

static inline struct mark *mark_of(void *object) {
  struct mark *mark = (struct mark *)object - 1;
  if (mark->mark != MARK) abort();
  return mark;
}

static inline void *begin_of(void *object) { return object ? mark_of(object)->begin : NULL; }

static inline void *marked(void *begin, size_t before) {
  if (!begin) return NULL;
  void *object = (char *)begin + before;
  *((struct mark *)object - 1) = (struct mark){begin, MARK};
  return object;
}

static inline void *unmarked(void *object) {
  void *begin = begin_of(object);
  if (object) mark_of(object)->mark = 0;
  return begin;
}

static inline size_t before(size_t alignment) {
  return alignment > sizeof(struct mark) ? alignment : sizeof(struct mark);
}
static inline size_t before_in(void *object) {
  return object ? (size_t)((char *)object - (char *)begin_of(object)) : 0;
}
#else
static inline void *begin_of(void *object) { return object; }
static inline void *unmarked(void *object) { return object; }
static inline void *marked(void *begin, size_t before) {
  (void)before;
  return begin;
}
static inline size_t before(size_t alignment) {
  (void)alignment;
  return 0;
}
static inline size_t before_in(void *object) { return before((size_t)object); }
#endif

void *malloc(size_t size) {
  NEXT(void *, malloc, (size_t));
  return marked(next_one(before(1) + size), before(1));
}

void free(void *object) {
  NEXT(void, free, (void *));
  next_one(unmarked(object));
}

#ifndef SOME
void *calloc(size_t count, size_t size) {
  NEXT(void *, calloc, (size_t, size_t));
  size_t bytes;
  if (__builtin_mul_overflow(count, size, &bytes)) return NULL;
  return marked(next_one(1, before(1) + bytes), before(1));
}

void *realloc(void *object, size_t size) {
  NEXT(void *, realloc, (void *, size_t));
  size_t front = object ? before_in(object) : before(1);
  return marked(next_one(unmarked(object), front + size), front);
}

void *memalign(size_t alignment, size_t size) {
  NEXT(void *, memalign, (size_t, size_t));
  return marked(next_one(alignment, before(alignment) + size), before(alignment));
}

void *aligned_alloc(size_t alignment, size_t size) {
  NEXT(void *, aligned_alloc, (size_t, size_t));
  return marked(next_one(alignment, before(alignment) + size), before(alignment));
}

int posix_memalign(void **object, size_t alignment, size_t size) {
  NEXT(int, posix_memalign, (void **, size_t, size_t));
  void *begin;
  int error = next_one(&begin, alignment, before(alignment) + size);
  if (error == 0) *object = marked(begin, before(alignment));
  return error;
}

enum { PAGE = 4096 };

void *valloc(size_t size) {
  NEXT(void *, valloc, (size_t));
  return marked(next_one(before(PAGE) + size), before(PAGE));
}

void *pvalloc(size_t size) {
  NEXT(void *, pvalloc, (size_t));
  return marked(next_one(before(PAGE) + size), before(PAGE));
}

size_t malloc_usable_size(void *object) {
  NEXT(size_t, malloc_usable_size, (void *));
  return next_one(begin_of(object)) - before_in(object);
}
#endif
