/*
 * Finds out which pages of the process are in memory, and copies pages, while the program uses and unmaps the memory.
 * Unmapped memory causes no fault. Descriptors are open only within a call, and not in a forked child. May change
 * errno.
 */
#ifndef MALLOMETER_PLATFORM_RESIDENT_MEMORY_H
#define MALLOMETER_PLATFORM_RESIDENT_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "platform/readable_memory.h"

/* The source of page states: /proc/self/pagemap or mincore(2). mincore is less exact. It reports a swapped page as
 * untouched. It reports a page of a file or of shared memory as in memory even if only another process uses the
 * page. */
enum memory_telling { TELL_BY_PAGEMAP, TELL_BY_MINCORE };

/* Returns whether /proc/self/pagemap can be read. Must be called before all other functions here. */
bool pagemap_is_readable(void);

/*
 * Sets an enum page_state for each page from `begin` on. Returns false if the kernel does not report the states. A
 * sandbox may end a process that calls mincore, so try TELL_BY_MINCORE in a child first. Only one thread may call this
 * at a time.
 */
bool page_states(enum memory_telling by, uintptr_t begin, size_t pages, uint8_t states[]);

/* The ways to copy: process_vm_readv(2), or write(2) into a pipe and read(2) from it, which takes twice the time. */
enum memory_copying { COPY_BY_READV, COPY_BY_PIPE };

/*
 * Copies memory up to the first byte that cannot be read. Returns the number of copied bytes. Use this only for
 * resident pages, because reading makes pages resident. A sandbox may end a process that makes the system calls of `by`
 * (see enum memory_copying), so try each value of `by` in a child process first.
 */
size_t memory_copy(enum memory_copying by, uintptr_t from, void *to, size_t bytes);

#endif
