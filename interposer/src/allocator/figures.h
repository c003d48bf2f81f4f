/*
 * What the allocator below says of itself, and trimming it.
 *
 * Each allocator has an interface of its own; its functions are taken only from the object that serves malloc, because
 * asking another one (glibc's mallinfo under jemalloc, say) would wake a second heap. Nothing here runs on the hook
 * path.
 */
#ifndef MALLOMETER_ALLOCATOR_FIGURES_H
#define MALLOMETER_ALLOCATOR_FIGURES_H

#include "mallometer.h"

/* Which interface serves. Looked up once, in allocator_find(); UNKNOWN until then. */
enum mallometer_allocator_kind allocator_kind(void);

/* Finds the interface of the object that serves malloc. Enters the loader; once, before the process has threads. */
void allocator_find(void);

/* Fills all fields but size and version. 0 or -ENOTSUP. */
int allocator_figures(struct mallometer_allocator_state *out);

/* 0 or -ENOTSUP. */
int allocator_trim(void);

#endif
