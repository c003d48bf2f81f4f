/* Objects with a header. See header.h. */
#include "allocator/header.h"

#include <errno.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "allocator/next.h"

struct header {
  size_t size;
  uint64_t tag;
};
_Static_assert(sizeof(struct header) == 16, "objects stay aligned to 16 bytes");

#define COUNTED ((uint64_t)1 << 31)
#define SHIFT_POSITION 25
#define SHIFT_MASK 63u
#define SMALLEST_PAGE 4096u

static struct header *header_of(const void *object) { return (struct header *)(uintptr_t)object - 1; }

static uint64_t magic(const void *object) {
  return (uint64_t)(uint32_t)(0x6d616c6cu ^ (uint32_t)((uintptr_t)object >> 4)) << 32;
}

static bool all_have_headers;

void header_start(bool over_glibc) { all_have_headers = over_glibc; }

/*
 * The header of a page-aligned object lies on the page before. Ours are always mapped; before an object of another
 * allocator there may be nothing. glibc has its own header there, so over glibc nobody has to ask the kernel.
 */
static bool page_before_is_mapped(const void *object) {
  if (all_have_headers || (uintptr_t)object % SMALLEST_PAGE != 0) return true;
  uintptr_t page = (uintptr_t)getpagesize();
  if ((uintptr_t)object % page != 0) return true;
  unsigned char resident;
  int saved_errno = errno;
  bool mapped = mincore((void *)((uintptr_t)object - page), page, &resident) == 0;
  errno = saved_errno;
  return mapped;
}

bool has_header(const void *object) {
  if ((uintptr_t)object % sizeof(struct header) != 0 || !page_before_is_mapped(object)) return false;
  return header_of(object)->tag >> 32 == magic(object) >> 32;
}

size_t header_size(const void *object) { return header_of(object)->size; }

bool header_counted(const void *object) { return header_of(object)->tag & COUNTED; }

static unsigned shift_of(const void *object) {
  return (unsigned)(header_of(object)->tag >> SHIFT_POSITION) & SHIFT_MASK;
}

static void *with_header(void *base, unsigned shift, size_t size, bool counted) {
  if (!base) return NULL;
  void *object = (char *)base + ((size_t)1 << shift);
  struct header *header = header_of(object);
  header->size = size;
  header->tag = magic(object) | (counted ? COUNTED : 0) | (uint64_t)shift << SHIFT_POSITION;
  return object;
}

/* Adds the room before the object. False with ENOMEM if no allocator could serve the sum. */
static bool add_room(size_t size, size_t room, size_t *sum) {
  if (!__builtin_add_overflow(size, room, sum) && *sum <= PTRDIFF_MAX) return true;
  errno = ENOMEM;
  return false;
}

void *header_malloc(size_t size, bool counted) {
  size_t all;
  if (!add_room(size, sizeof(struct header), &all)) return NULL;
  return with_header(next.malloc(all), 4, size, counted);
}

void *header_calloc(size_t bytes, bool counted) {
  size_t all;
  if (!add_room(bytes, sizeof(struct header), &all)) return NULL;
  return with_header(next.calloc(1, all), 4, bytes, counted);
}

void *header_memalign(size_t alignment, size_t size, bool counted) {
  if (alignment <= sizeof(struct header)) return header_malloc(size, counted);
  size_t all;
  if (!add_room(size, alignment, &all)) return NULL;
  return with_header(next.memalign(alignment, all), (unsigned)__builtin_ctzll(alignment), size, counted);
}

static void *base_of(void *object) { return (char *)object - ((size_t)1 << shift_of(object)); }

void header_free(void *object) {
  void *base = base_of(object);
  header_of(object)->tag = 0; /* the memory may come to stand before somebody else's object */
  next.free(base);
}

void *header_realloc(void *object, size_t size, bool counted) {
  size_t all;
  if (!add_room(size, sizeof(struct header), &all)) return NULL;
  if (shift_of(object) == 4) {
    struct header old = *header_of(object);
    void *base = base_of(object);
    header_of(object)->tag = 0;
    void *moved = with_header(next.realloc(base, all), 4, size, counted);
    if (!moved) *header_of(object) = old;
    return moved;
  }
  /* An aligned object: realloc promises no alignment, and its base would not keep the distance. */
  void *moved = header_malloc(size, counted);
  if (!moved) return NULL;
  size_t old_size = header_size(object);
  memcpy(moved, object, old_size < size ? old_size : size);
  header_free(object);
  return moved;
}
