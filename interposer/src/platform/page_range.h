/*
 * A range of low addresses whose pages are opened and given back one by one. Each page has an accessed bit, which
 * shows whether the object in it is used.
 *
 * Reserved addresses have no memory until they are opened. All addresses and lengths are multiples of a page. The
 * functions change errno.
 */
#ifndef MALLOMETER_PLATFORM_PAGE_RANGE_H
#define MALLOMETER_PLATFORM_PAGE_RANGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Reserves a range below 4 GiB, away from executables at fixed addresses and from a heap that grows. Returns its
 * beginning. If there is no room, returns 0 and sets `why` to the reason for the user. */
uintptr_t page_range_reserve(size_t bytes, const char **why);

/* Opens pages, that is, makes them readable and writable. They are zero if they are opened for the first time or
 * were cleared. Returns false if there is no memory. */
bool pages_open(uintptr_t begin, size_t bytes);

/* Gives the memory of pages back to the system. The pages stay readable and writable, and are zero at the next
 * access. Returns false, without a change, if the pages are locked. */
bool pages_clear(uintptr_t begin, size_t bytes);

void pages_unlock(uintptr_t begin, size_t bytes);

/*
 * Different marks (advice of madvise(2)) keep neighbouring pages in separate mappings, because the kernel reports
 * accesses for each mapping, not for each page. The marks have no other effect on anonymous memory. Pages for which
 * pages_open() was never called have the mark PAGES_EVEN.
 */
enum pages_mark { PAGES_EVEN, PAGES_ODD, PAGES_MERGED };
bool pages_mark(uintptr_t begin, size_t bytes, enum pages_mark mark);

/* Replaces pages in any state by one mapping of new pages, which are readable and writable and have the mark
 * PAGES_MERGED. Returns false if there is no memory; then the pages are inaccessible, but stay reserved. */
bool pages_renew(uintptr_t begin, size_t bytes);

/* Makes each of these pages a mapping of its own, without giving them memory. */
void pages_separate(uintptr_t begin, size_t bytes);

#endif
