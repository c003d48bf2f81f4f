/*
 * The complete route: every function of malloc's family in every state and accounting mode. The fast path (malloc.c)
 * handles the one case that matters for speed, and calls these functions in all others.
 *
 * The name of each function ends with the function that it implements: complete_calloc() implements calloc. The
 * function counts the event if events are counted, and leaves errno as the allocator sets it. `origin` is the program's
 * call.
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
/* The allocator decides whether to accept an alignment that is not a power of two. */
void *complete_memalign(size_t alignment, size_t size, struct origin origin);
void *complete_aligned_alloc(size_t alignment, size_t size, struct origin origin);
/* Serves posix_memalign. `alignment` must be one that posix_memalign accepts. */
void *complete_posix_memalign(size_t alignment, size_t size, struct origin origin);
size_t complete_usable_size(void *object);

/* A free to be counted, recorded while the object still exists. */
struct pending_free {
  const void *object; /* NULL: not counted */
  size_t unit_size;
};

/*
 * The size and the sample of an object, which complete_begin_free() reads while the object still exists.
 *
 * Pass it to complete_confirm_free() before a free or after a successful realloc, and to complete_cancel_free() after
 * a realloc that failed.
 */
struct begun_free {
  struct pending_free pending;
  struct live_sample sample;
};
struct begun_free complete_begin_free(void *object);
void complete_confirm_free(struct begun_free begun);
void complete_cancel_free(void *object, struct begun_free begun);

/* Counts the result of a request, an object or NULL, and returns it. */
void *complete_count_allocation(void *object, size_t requested, struct origin origin);

/* Counts a new object as complete_count_allocation() does. Its content is undefined or zero, so the sampler need not
 * copy it when it moves the object to pages of its own (leak/slots.h). */
void *complete_count_new_allocation(void *object, size_t requested, struct origin origin);

/* Counts the free of an object of this size. `object` is NULL if its address is unknown. */
void complete_count_free(const void *object, size_t unit_size);

/* Counts an object that the allocator's own operator new returned without calling this library's malloc. Counts nothing
 * if objects have headers (MALLOMETER_ACCOUNTING=header). */
void complete_count_foreign_allocation(void *object, size_t size, struct origin origin);

/* Counts a call that fails before it reaches the allocator. */
void complete_count_failure(void);

#endif
