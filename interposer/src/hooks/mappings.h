/*
 * Replacements of mmap, munmap and mremap that record which call sites mapped which addresses (account/ranges.h). shmat
 * and brk are not replaced, so what they map is not recorded.
 *
 * Each replacement calls the next function of its name. It records a successful call while call sites are recorded and
 * counting is on. A child of vfork records nothing, because it shares the map of ranges and may end at any time.
 *
 * A new range gets the call site of the call that maps it. A walk of the stack takes microseconds, so a budget limits
 * the walks. It starts at 4,000 walks, its maximum, and gains 50 a second. The last thousand are reserved for mappings
 * of 256 KiB or more. mappings_not_walked() counts the ranges that get no site. No stack is walked for the allocator's
 * own mappings, nor for memory that is mapped over a known range, which keeps its site.
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
 * Reserves the map of ranges and begins to record. If the process ran uncounted before (`is_late`), records its
 * anonymous mappings of at least 1 MiB as RANGE_FROM_BEFORE. Later calls that map memory inside these ranges then walk
 * no stack. May be called from any thread. May change errno.
 */
void mappings_start(bool is_late);

/* Returns why mappings are not recorded although call sites are; NULL if mappings are recorded. */
const char *mappings_missing(void);

/* Finds the next mmap, munmap and mremap in the search order. The first call must come before the program runs,
 * because this library forwards the program's calls even if nothing is counted. Enters the loader. */
void mappings_find_next(void);

void mappings_forked(void);

/* Returns the number of mappings whose stack was not walked, because the budget of walks was used up. */
uint64_t mappings_not_walked(void);

#endif
