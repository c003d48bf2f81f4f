/*
 * A range of low addresses whose pages are opened and given back one by one. The range is for objects of which the
 * kernel's accessed bits show whether they are used; each page has one such bit.
 *
 * Reserved addresses have no memory until they are opened. All addresses and lengths are multiples of a page. The
 * functions change errno.
 */
#ifndef MALLOMETER_PLATFORM_PAGE_RANGE_H
#define MALLOMETER_PLATFORM_PAGE_RANGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Reserves a range below 4 GiB, away from executables at fixed addresses and from a heap that grows. Returns its
 * beginning; 0 if there is no room, and then sets `why` to the reason for the user.
 */
uintptr_t page_range_reserve(size_t bytes, const char **why);

/* Makes pages readable and writable. Pages that are opened for the first time or were cleared are zero. Returns false
 * if there is no memory. */
bool pages_open(uintptr_t begin, size_t bytes);

/*
 * Returns the memory of open pages to the system; they are zero at the next access. Returns false, and changes nothing,
 * if they are locked.
 */
bool pages_clear(uintptr_t begin, size_t bytes);

/* Unlocks pages that the program or mlockall(2) has locked. */
void pages_unlock(uintptr_t begin, size_t bytes);

/*
 * Marks (advice of madvise(2)) that make neighbouring pages differ, so that the kernel does not merge them into one
 * mapping. The kernel reports accesses for each mapping, not for each page. The marks have no other effect on anonymous
 * memory. Pages that were never opened have the mark PAGES_EVEN.
 */
enum pages_mark { PAGES_EVEN, PAGES_ODD, PAGES_MERGED };
bool pages_mark(uintptr_t begin, size_t bytes, enum pages_mark mark);

/*
 * Replaces pages, whatever their state is, by one mapping of new pages, which are open and have the mark PAGES_MERGED.
 * Returns false if there is no memory; then the pages are closed, but stay reserved.
 */
bool pages_renew(uintptr_t begin, size_t bytes);

/* Makes each of these pages a mapping of its own, without giving them memory. */
void pages_separate(uintptr_t begin, size_t bytes);

#endif
