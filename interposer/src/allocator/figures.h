/*
 * What the allocator below says of itself, and trimming it.
 *
 * Each allocator has an interface of its own; its functions are taken only from the object that serves malloc, because
 * asking another one (glibc's mallinfo under jemalloc, say) would wake a second heap. Nothing here runs on the hook
 * path.
 */
#ifndef MALLOMETER_ALLOCATOR_FIGURES_H
#define MALLOMETER_ALLOCATOR_FIGURES_H

#include <stddef.h>
#include <stdint.h>

#include "mallometer.h"

/* Which interface serves. Looked up once, in allocator_find(); UNKNOWN until then. */
enum mallometer_allocator_kind allocator_kind(void);

/* Finds the interface of the object that serves malloc. Enters the loader; once, before the process has threads. */
void allocator_find(void);

/* Appends the version to an allocator's name, where it tells: "jemalloc 5.3.0". Leaves other names as they are. */
void allocator_name_version(char *name, size_t capacity);

/* Fills all fields, and rows of arenas. 0 or -ENOTSUP. */
int allocator_figures(struct mallometer_allocator_state *out, struct mallometer_arena *arenas, uint32_t capacity);

/* 0 or -ENOTSUP. */
int allocator_trim(void);

#endif
