/*
 * The complete path: every function of malloc's family in every state and accounting mode. The fast path
 * (malloc.c) handles the one case that matters for speed and leaves all else to these.
 *
 * Each is what its name says to the caller, counts one event where one is to be counted, and leaves errno as the
 * allocator does. `origin` is the program's call.
 */
#ifndef MALLOMETER_HOOKS_COMPLETE_H
#define MALLOMETER_HOOKS_COMPLETE_H

#include <stddef.h>

#include "sample/live_sample.h"
#include "sample/sampler.h"

void *complete_malloc(size_t size, struct origin origin);
void *complete_calloc(size_t count, size_t size, struct origin origin);
void *complete_realloc(void *object, size_t size, struct origin origin);
void complete_free(void *object);
/* An alignment that is no power of two is left to the allocator to judge. */
void *complete_memalign(size_t alignment, size_t size, struct origin origin);
void *complete_aligned_alloc(size_t alignment, size_t size, struct origin origin);
/* posix_memalign for an alignment that it accepts. */
void *complete_posix_memalign(size_t alignment, size_t size, struct origin origin);
size_t complete_usable_size(void *object);

/* What is to be counted when an object is freed, taken down while the object is still there. */
struct pending_free {
  const void *object; /* NULL: it does not count */
  size_t unit_size;
};

/*
 * An object that is about to be freed or moved by a function of its own, taken down while it is there. Then either
 * complete_left(), before the object is given back, for the address may be another object's the moment after; or
 * complete_stayed(), if it could not be moved.
 */
struct leaving {
  struct pending_free pending;
  struct live_sample sample;
};
struct leaving complete_leaving(void *object);
void complete_left(struct leaving leaving);
void complete_stayed(void *object, struct leaving leaving);

/* Counts what the allocator returned for a request, an object or NULL, and returns it. */
void *complete_allocation(void *object, size_t requested, struct origin origin);

/* The same where the object has nothing in it, or zeros. */
void *complete_new_allocation(void *object, size_t requested, struct origin origin);

/* Counts that an object of this size was freed; NULL if it is not known which. */
void complete_count_free(const void *object, size_t unit_size);

/* Counts an object that the allocator gave out without asking us. */
void complete_foreign_allocation(void *object, size_t size, struct origin origin);

/* Counts a call that fails before it reaches the allocator. */
void complete_failure(void);

#endif
