/*
 * Accounting by requested size (MALLOMETER_ACCOUNTING=header): a header of 16 bytes before each object.
 *
 *     base                            object
 *     |  (alignment - 16, if > 16)  |  size (8)  |  tag (8)  |  object ...
 *
 * The tag proves that an object has a header: its upper half is a magic number mixed with the object's address, which
 * other memory before an object, such as glibc's size word, does not contain. Objects that were allocated without the
 * library are thus recognized when they are freed, and passed to the allocator. The lower half holds a bit for "was
 * counted", the distance to the base as a power of two, and room for the number of the call site. For objects at the
 * beginning of a page, a set says which have a header (page_set.h), because the page before may be unmapped.
 *
 * If an object with a header is freed without a call of the library, the allocator aborts. This mode is therefore
 * opt-in, and refuses libraries that are known to do so (control/refusal.c).
 */
#ifndef MALLOMETER_ALLOCATOR_HEADER_H
#define MALLOMETER_ALLOCATOR_HEADER_H

#include <stdbool.h>
#include <stddef.h>

#include "allocator/next.h"

/* Do the work of malloc and calloc with a header before the object. May change errno as these do. */
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
