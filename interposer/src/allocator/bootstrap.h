/*
 * Memory for allocations that the loader makes while this library looks up the next allocator. Nothing else can serve
 * them. The buffer has 64 KiB, which are never reused and never counted.
 *
 * The buffer is mapped at a low address, below all objects of the allocator, so that free(p) recognizes an object of
 * the allocator by one comparison. Below these objects are only NULL and memory of this library. If the low address is
 * taken, a static buffer is used, and every free needs a second comparison.
 */
#ifndef MALLOMETER_ALLOCATOR_BOOTSTRAP_H
#define MALLOMETER_ALLOCATOR_BOOTSTRAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "platform/visibility.h"

/* The lowest possible address of an object of the allocator. free() takes the slow path for an object below this
 * address. The value is UINTPTR_MAX until bootstrap_finish(), so that free() examines every object. */
extern HIDDEN uintptr_t low_range_end;

/* Allocates zeroed memory, aligned to 16 bytes or to `alignment`, a power of two, if that is larger. Returns NULL and
 * sets ENOMEM if the buffer is full. */
void *bootstrap_allocate(size_t alignment, size_t size);

bool is_bootstrap(const void *object);

/* Returns the requested size of an object of the buffer. */
size_t bootstrap_size(const void *object);

/* Must be called when the next allocator begins to serve. Sets `low_range_end`. */
void bootstrap_finish(void);

/* Returns whether objects of the buffer are above `low_range_end`. Meaningful only after bootstrap_finish(). */
bool bootstrap_is_above_low_range(void);

/*
 * Raises `low_range_end` to `end`, so that free() takes the slow path for memory that this library has reserved below
 * `end` (leak/slots.h). No object of the allocator may be below `end`.
 */
void low_range_extend(uintptr_t end);

size_t bootstrap_footprint(void);

#endif
