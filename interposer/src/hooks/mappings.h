/*
 * Replacements of mmap, munmap and mremap that record which call sites mapped which addresses (account/ranges.h).
 *
 * Each calls the next function of the same name in the search order, and records the change in the map of ranges after
 * a success. Nothing is recorded until call sites are recorded, while counting is off, and in a child of vfork, which
 * shares the map and may end at any time. shmat and brk are not replaced, so what they map is not recorded.
 *
 * A new range gets the call site of the call that maps it. The walk of the stack takes microseconds, so a budget limits
 * the walks: it holds at most 4,000 and gains 50 a second, and its last thousand are for mappings of 256 KiB or more. A
 * range for which no walk is left gets no site; mappings_not_walked() counts such ranges. There is no walk for memory
 * that is mapped over a known range, which keeps its site, nor for the allocator's own mappings.
 */
#ifndef MALLOMETER_HOOKS_MAPPINGS_H
#define MALLOMETER_HOOKS_MAPPINGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <unistd.h>

#include "platform/visibility.h"

/* The functions have other names in C, so that attributes of the C library's declarations do not apply to them. */
EXPORT void *program_mmap(void *wish, size_t bytes, int protection, int flags, int file, off_t offset) __asm__("mmap");
EXPORT void *program_mmap64(void *wish, size_t bytes, int protection, int flags, int file,
                            off_t offset) __asm__("mmap64");
EXPORT int program_munmap(void *memory, size_t bytes) __asm__("munmap");
EXPORT void *program_mremap(void *memory, size_t old_bytes, size_t bytes, int flags, ...) __asm__("mremap");

/*
 * Reserves the map of ranges and begins to record. `is_late`: the process ran uncounted before. Its anonymous mappings
 * of at least a mebibyte are then recorded as RANGE_FROM_BEFORE, so that a mapping of memory inside them walks no
 * stack. May be called from any thread; may change errno.
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

/* Lets the child of a fork record its own mappings. */
void mappings_forked(void);

/* Returns the number of mappings whose stack was not walked, because the budget of walks was used up. */
uint64_t mappings_not_walked(void);

#endif
