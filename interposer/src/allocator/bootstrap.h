/*
 * Memory for the moment in which the next allocator is being looked up: the loader may allocate then, and nobody
 * else can serve it. 64 KiB, never reused, never counted.
 *
 * The buffer is mapped at a low address, where only NULL and things of ours can be: free(p) then needs one
 * comparison to tell the usual object from both. Where that address is not to be had, a static buffer serves, and
 * every free begins with a second test.
 */
#ifndef MALLOMETER_ALLOCATOR_BOOTSTRAP_H
#define MALLOMETER_ALLOCATOR_BOOTSTRAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "platform/visibility.h"

/*
 * No object of the next allocator that needs no second look lies below. UINTPTR_MAX until bootstrap_finished():
 * everything is looked at twice.
 */
extern HIDDEN uintptr_t low_range_end;

/* 16-byte aligned, or aligned to `alignment` (a power of two) if that is more; zeroed. NULL with ENOMEM when full. */
void *bootstrap_allocate(size_t alignment, size_t size);

bool is_bootstrap(const void *object);

/* The requested size of an object of the buffer. */
size_t bootstrap_size(const void *object);

/* The next allocator serves from now on. */
void bootstrap_finished(void);

/* Whether objects of the buffer lie above `low_range_end`. Known when the next allocator serves. */
bool bootstrap_is_elsewhere(void);

/* Something else of ours lies below `end`, and no object that needs no second look. */
void low_range_extend(uintptr_t end);

/* Bytes mapped for the buffer; 0 if the static one serves. */
size_t bootstrap_footprint(void);

#endif
