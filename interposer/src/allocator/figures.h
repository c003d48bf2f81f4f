/*
 * The figures of the allocator that serves the process, and its trim, which returns free memory to the kernel.
 *
 * Functions are taken only from the shared object that serves malloc, because a function of another object (such as
 * glibc's mallinfo under jemalloc) would create a second heap. The hooks call none of these functions.
 */
#ifndef MALLOMETER_ALLOCATOR_FIGURES_H
#define MALLOMETER_ALLOCATOR_FIGURES_H

#include <stddef.h>
#include <stdint.h>

#include "mallometer.h"

/* Returns the kind of the allocator; UNKNOWN until allocator_find() has found it. */
enum mallometer_allocator_kind allocator_kind(void);

/* Finds the interface of the object that serves malloc. Enters the loader. Must be called once, before the process
 * has threads. */
void allocator_find(void);

/* Replaces `name` by a name with a version, such as "jemalloc 5.3.0", if the allocator reports its version. */
void allocator_name_version(char *name, size_t capacity);

/* Fills all fields of `out`, and describes up to `capacity` arenas. Returns 0 or -ENOTSUP. */
int allocator_figures(struct mallometer_allocator_state *out, struct mallometer_arena *arenas, uint32_t capacity);

/* Makes the allocator return free memory to the kernel. Returns 0 or -ENOTSUP. */
int allocator_trim(void);

#endif
