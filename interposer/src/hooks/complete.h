/*
 * The complete path: every function of malloc's family in every state and accounting mode. The fast path
 * (malloc.c) handles the one case that matters for speed and leaves all else to these.
 *
 * Each is what its name says to the caller, counts one event where one is to be counted, and keeps errno except
 * where the function itself sets it.
 */
#ifndef MALLOMETER_HOOKS_COMPLETE_H
#define MALLOMETER_HOOKS_COMPLETE_H

#include <stddef.h>

void *complete_malloc(size_t size);
void *complete_calloc(size_t count, size_t size);
void *complete_realloc(void *object, size_t size);
void complete_free(void *object);
/* An alignment that is no power of two is left to the allocator to judge. */
void *complete_memalign(size_t alignment, size_t size);
void *complete_aligned_alloc(size_t alignment, size_t size);
size_t complete_usable_size(void *object);

/* Counts an object that the allocator gave out without asking us. */
void complete_adoption(void *object, size_t size);

/* Counts a call that fails before it reaches the allocator, with errno ENOMEM. */
void complete_failure(void);

#endif
