/*
 * The functions that this library takes over from the allocator below it. Declared here rather than by stdlib.h and
 * malloc.h, which say nothing of the older and the newer ones and attach promises that bind the implementer too.
 */
#ifndef MALLOMETER_HOOKS_INTERPOSED_H
#define MALLOMETER_HOOKS_INTERPOSED_H

#include <stddef.h>

#include "platform/visibility.h"

EXPORT void *malloc(size_t size);
EXPORT void free(void *object);
EXPORT void *calloc(size_t count, size_t size);
EXPORT void *realloc(void *object, size_t size);
EXPORT void *reallocarray(void *object, size_t count, size_t size);
EXPORT void *memalign(size_t alignment, size_t size);
EXPORT void *aligned_alloc(size_t alignment, size_t size);
EXPORT int posix_memalign(void **object, size_t alignment, size_t size);
EXPORT void *valloc(size_t size);
EXPORT void *pvalloc(size_t size);
EXPORT size_t malloc_usable_size(void *object);
/* In glibc up to 2.25. */
EXPORT void cfree(void *object);
/* C23. */
EXPORT void free_sized(void *object, size_t size);
EXPORT void free_aligned_sized(void *object, size_t alignment, size_t size);

#endif
