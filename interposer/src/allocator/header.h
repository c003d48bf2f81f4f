/*
 * Accounting by requested size (MALLOMETER_ACCOUNTING=header): a header of 16 bytes before each object. An allocation
 * has these parts, beginning at its base:
 *
 * - unused bytes, if the alignment is above 16: the alignment minus 16;
 * - the size, 8 bytes;
 * - the tag, 8 bytes;
 * - the object.
 *
 * The upper half of the tag is a magic number mixed with the object's address. Other memory before an object, such as
 * glibc's size word, does not contain this number, so the tag proves that an object has a header. Objects that were
 * allocated without the library are thus recognized when they are freed, and passed to the allocator. The lower half of
 * the tag holds a bit for "was counted", the distance to the base as a power of two, and room for the number of the
 * call site. A set tells which objects at the beginning of a page have a header (page_set.h), because the page before
 * may be unmapped.
 *
 * If an object with a header is freed without a call of the library, the allocator aborts. This mode is therefore
 * opt-in, and refuses libraries that are known to free objects in this way (control/refusal.c).
 */
#ifndef MALLOMETER_ALLOCATOR_HEADER_H
#define MALLOMETER_ALLOCATOR_HEADER_H

#include <stdbool.h>
#include <stddef.h>

#include "allocator/next.h"

/* Do the work of malloc and calloc, with a header before the object. May change errno as malloc and calloc do. */
void *header_malloc(size_t size, bool counted);
void *header_calloc(size_t bytes, bool counted);
/* `function` is a function of the allocator, and `alignment` is a power of two. */
void *header_memalign(aligned_function *function, size_t alignment, size_t size, bool counted);
/* Returns NULL, and leaves the object unchanged, if there is no memory. */
void *header_realloc(void *object, size_t size, bool counted);
void header_free(void *object);

bool has_header(const void *object);
/* `object` must have a header. */
size_t header_size(const void *object);
bool header_counted(const void *object);

#endif
