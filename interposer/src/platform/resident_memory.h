/*
 * Reads the process's own memory while the program uses and unmaps it: which pages are in memory, and copies of them.
 * Reading unmapped memory causes no fault. Descriptors are open only within a call, and not in a forked child. May
 * change errno.
 */
#ifndef MALLOMETER_PLATFORM_RESIDENT_MEMORY_H
#define MALLOMETER_PLATFORM_RESIDENT_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "platform/readable_memory.h"

/*
 * The source of page states: /proc/self/pagemap; or mincore(2), for which a swapped page is untouched, and a page of a
 * file or of shared memory is in memory if any process has it there.
 */
enum memory_telling { TELL_BY_PAGEMAP, TELL_BY_MINCORE };

/* Returns whether /proc/self/pagemap can be read. Must be called before all others. */
bool pagemap_is_readable(void);

/*
 * Sets an enum page_state for each page from `begin` on. Returns false if the kernel does not report them. A sandbox
 * may end the process for a call of mincore, so try it in a child first. Only one thread may call this at a time.
 */
bool page_states(enum memory_telling by, uintptr_t begin, size_t pages, uint8_t states[]);

/* process_vm_readv(2) of the process itself, or write(2) into a pipe and read(2) out of it, at twice the cost. */
enum memory_copying { COPY_BY_READV, COPY_BY_PIPE };

/*
 * Copies from an address at which there may be no memory. Returns the number of leading bytes that could be read. Makes
 * pages resident, so use it for resident pages only. A sandbox may end the process for such a call, so try it in a
 * child first.
 */
size_t memory_copy(enum memory_copying by, uintptr_t from, void *to, size_t bytes);

#endif
