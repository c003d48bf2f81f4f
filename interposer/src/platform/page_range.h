/*
 * A range of low addresses whose pages are opened and given back one by one, for objects whose use is read from the
 * kernel's accessed bits, which exist once for each page.
 *
 * Reserved addresses are no memory until they are opened. All addresses and lengths are of whole pages. The functions
 * change errno.
 */
#ifndef MALLOMETER_PLATFORM_PAGE_RANGE_H
#define MALLOMETER_PLATFORM_PAGE_RANGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Reserves a range below 4 GiB, out of the way of executables at fixed addresses and of a heap that grows. Returns its
 * begin; 0 if there is none, with the reason for the user in `why`.
 */
uintptr_t page_range_reserve(size_t bytes, const char **why);

/* Makes pages readable and writable. Pages that are opened first, or were cleared, are zero. False: no memory. */
bool pages_open(uintptr_t begin, size_t bytes);

/*
 * Returns the memory of open pages to the system; they are zero at the next access. Returns false, without an effect,
 * if they are locked.
 */
bool pages_clear(uintptr_t begin, size_t bytes);

/* Unlocks pages. */
void pages_unlock(uintptr_t begin, size_t bytes);

/*
 * Marks that make mappings of neighbours differ, and have no other effect on memory of this kind: the kernel reports
 * pages by mappings, and joins neighbours that are alike. Pages that were never opened have the mark PAGES_EVEN.
 */
enum pages_mark { PAGES_EVEN, PAGES_ODD, PAGES_MERGED };
bool pages_mark(uintptr_t begin, size_t bytes, enum pages_mark mark);

/*
 * Replaces pages by new ones in one mapping, open and marked as merged, whatever they were before. If that fails they
 * are no memory, but stay reserved.
 */
bool pages_renew(uintptr_t begin, size_t bytes);

/* Makes neighbouring pages differ, without memory. */
void pages_separate(uintptr_t begin, size_t bytes);

#endif
