/*
 * Replacements of mmap, munmap and mremap, which keep the map of ranges (account/ranges.h).
 *
 * Each calls the next function of its name. After a success it records the change in the map. Nothing is recorded
 * before call sites are, while counting is off, and in a child of vfork, which shares the map and may end at any time.
 * mprotect and madvise are not replaced, because they neither map nor unmap addresses. shmat and brk are not replaced
 * either, so what they map is not recorded.
 *
 * A new range gets the call site of the call. The walk of the stack takes microseconds, so a budget limits it: 4,000
 * walks at once and 50 a second, of which the last thousand are for mappings of 256 KiB or more. Other ranges have no
 * site, and are counted. There is no walk for memory that is mapped over a known range, which keeps its site, nor for
 * the allocator's own mappings.
 */
#ifndef MALLOMETER_HOOKS_MAPPINGS_H
#define MALLOMETER_HOOKS_MAPPINGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <unistd.h>

#include "platform/visibility.h"

/* These functions have other names in C, so that attributes of the C library's declarations do not apply to them. */
EXPORT void *program_mmap(void *wish, size_t bytes, int protection, int flags, int file, off_t offset) __asm__("mmap");
EXPORT void *program_mmap64(void *wish, size_t bytes, int protection, int flags, int file,
                            off_t offset) __asm__("mmap64");
EXPORT int program_munmap(void *memory, size_t bytes) __asm__("munmap");
EXPORT void *program_mremap(void *memory, size_t old_bytes, size_t bytes, int flags, ...) __asm__("mremap");

/*
 * Reserves the map of ranges and begins to record. `is_late`: the process ran uncounted before. The large mappings that
 * it already has are recorded as older ones, and commits inside them walk no stack. May be called from any thread;
 * preserves errno.
 */
void mappings_start(bool is_late);

/* Returns the reason why mappings are not recorded although call sites are; NULL if they are recorded, too. */
const char *mappings_missing(void);

/*
 * Finds the functions to which this library passes mmap, munmap and mremap on. The first call is made before the
 * program runs, because a program's calls pass through this library even in a process that is not counted. Enters the
 * loader.
 */
void mappings_find_next(void);

/* Lets the child of a fork note what it maps. */
void mappings_forked(void);

/* Returns the number of mappings whose stack was not walked, because the budget was used up. */
uint64_t mappings_not_walked(void);

#endif
