/*
 * Accounting by requested size (MALLOMETER_ACCOUNTING=header): 16 bytes of ours before each object.
 *
 *     base                            object
 *     |  (alignment - 16, if > 16)  |  size (8)  |  tag (8)  |  object ...
 *
 * The tag says that a header is there at all: its upper half is a magic number mixed with the object's address, so
 * that stale memory does not look like a header and glibc's size word, which stands at the same place before an object
 * without header, never does (its upper half is 0). Objects that came past us and are freed through us are so
 * recognised and left to the allocator. The lower half holds a bit for "was counted", the distance to the base as
 * a power of two, and room for the number of the call site.
 *
 * The other direction has no remedy: an object of ours that is freed past us aborts in the allocator, which is why this
 * mode is opt-in and refuses libraries that are known to do so (control/refusal.c).
 */
#ifndef MALLOMETER_ALLOCATOR_HEADER_H
#define MALLOMETER_ALLOCATOR_HEADER_H

#include <stdbool.h>
#include <stddef.h>

/* Before the first object: whether what lies below is glibc. */
void header_start(bool over_glibc);

/* As the allocator's functions of the same kind; NULL with ENOMEM also when size and header overflow. */
void *header_malloc(size_t size, bool counted);
void *header_calloc(size_t bytes, bool counted);
/* `alignment` is a power of two. */
void *header_memalign(size_t alignment, size_t size, bool counted);
/* For an object with header. NULL: the object is as it was. */
void *header_realloc(void *object, size_t size, bool counted);
/* For an object with header. */
void header_free(void *object);

bool has_header(const void *object);
/* For an object with header. */
size_t header_size(const void *object);
bool header_counted(const void *object);

#endif
