/* Writes, checks and erases headers. See header.h. */
#include "allocator/header.h"

#include <stdint.h>
#include <string.h>

#include "allocator/next.h"
#include "allocator/page_set.h"

struct header {
  size_t size;
  uint64_t tag;
};
_Static_assert(sizeof(struct header) == 16, "objects stay aligned to 16 bytes");

#define COUNTED ((uint64_t)1 << 31)
#define SHIFT_POSITION 25
#define SHIFT_MASK 63u

static struct header *header_of(const void *object) { return (struct header *)(uintptr_t)object - 1; }

static uint64_t magic(const void *object) {
  return (uint64_t)(uint32_t)(0x6d616c6cu ^ (uint32_t)((uintptr_t)object >> 4)) << 32;
}

/*
 * The header of a page-aligned object would be on the previous page, which may be unmapped. The set of pages
 * (page_set.h) therefore tells which of these objects have a header. A system call could tell, too, but sandboxes
 * forbid it.
 */
bool has_header(const void *object) {
  if (is_page(object)) return page_set_contains(object);
  return (uintptr_t)object % sizeof(struct header) == 0 && header_of(object)->tag >> 32 == magic(object) >> 32;
}

size_t header_size(const void *object) { return header_of(object)->size; }

bool header_counted(const void *object) { return header_of(object)->tag & COUNTED; }

static unsigned shift_of(const void *object) {
  return (unsigned)(header_of(object)->tag >> SHIFT_POSITION) & SHIFT_MASK;
}

/* Writes a header. If there is no memory to record its page, returns `base`, an object without header. */
static void *write_header(void *base, unsigned shift, size_t size, bool counted) {
  if (!base) return NULL;
  void *object = (char *)base + ((size_t)1 << shift);
  if (is_page(object) && !page_set_add(object)) return base;
  struct header *header = header_of(object);
  header->size = size;
  header->tag = magic(object) | (counted ? COUNTED : 0) | (uint64_t)shift << SHIFT_POSITION;
  return object;
}

/* Erases the header. Otherwise a later object without header at the same address would seem to have one. */
static void erase_header(void *object) {
  if (is_page(object)) page_set_remove(object);
  header_of(object)->tag = 0;
}

/* Adds the room for the header. A size that is too large for any allocator stays unchanged, so that the allocator
 * refuses it. */
static size_t size_with_header(size_t size, size_t room) {
  size_t sum;
  return __builtin_add_overflow(size, room, &sum) || sum > PTRDIFF_MAX ? size : sum;
}

void *header_malloc(size_t size, bool counted) {
  return write_header(next.malloc(size_with_header(size, sizeof(struct header))), 4, size, counted);
}

void *header_calloc(size_t bytes, bool counted) {
  return write_header(next.calloc(1, size_with_header(bytes, sizeof(struct header))), 4, bytes, counted);
}

void *header_memalign(aligned_function *function, size_t alignment, size_t size, bool counted) {
  if (alignment < sizeof(struct header)) alignment = sizeof(struct header);
  void *base = function(alignment, size_with_header(size, alignment));
  return write_header(base, (unsigned)__builtin_ctzll(alignment), size, counted);
}

static void *base_of(void *object) { return (char *)object - ((size_t)1 << shift_of(object)); }

void header_free(void *object) {
  void *base = base_of(object);
  erase_header(object);
  next.free(base);
}

static void *header_realloc_usual(void *object, size_t size, bool counted) {
  bool was_counted = header_counted(object);
  size_t old_size = header_size(object);
  char *base = base_of(object);
  erase_header(object);
  char *moved = next.realloc(base, size_with_header(size, sizeof(struct header)));
  if (!moved) {
    write_header(base, 4, old_size, was_counted); /* cannot fail, because the page was recorded before */
    return NULL;
  }
  object = write_header(moved, 4, size, counted);
  return object == moved ? memmove(moved, moved + sizeof(struct header), size) : object;
}

void *header_realloc(void *object, size_t size, bool counted) {
  if (shift_of(object) == 4) return header_realloc_usual(object, size, counted);
  /*
   * The object is copied, because the allocator's realloc keeps neither its alignment nor its distance to the beginning
   * of the allocation.
   */
  void *moved = header_malloc(size, counted);
  if (!moved) return NULL;
  size_t old_size = header_size(object);
  memcpy(moved, object, old_size < size ? old_size : size);
  header_free(object);
  return moved;
}
