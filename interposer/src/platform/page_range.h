/*
 * A range of low addresses whose pages come and go one by one: for objects of which the kernel is asked, page by page,
 * whether anybody uses them.
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
 * Reserves a range below 4 GiB, out of the way of executables at fixed addresses and of a program's heap that grows.
 * Returns its begin; 0 if there is none, and `why` says what is in the way, for somebody who runs the program.
 */
uintptr_t page_range_reserve(size_t bytes, const char **why);

/* Pages can be read and written from now on. What was never opened, or was cleared, is zero. False: no memory. */
bool pages_open(uintptr_t begin, size_t bytes);

/*
 * Gives the memory of open pages back to the system: they are zero when they are next touched. False if they are
 * locked, and nothing was done.
 */
bool pages_clear(uintptr_t begin, size_t bytes);

/* Locked pages are so no longer. */
void pages_unlock(uintptr_t begin, size_t bytes);

/*
 * The system tells of pages by mappings, and joins neighbours that are alike; these marks make them differ, and mean
 * nothing else for memory of this kind. Pages that were never opened are like PAGES_EVEN, but for not being open.
 */
enum pages_mark { PAGES_EVEN, PAGES_ODD, PAGES_MERGED };
bool pages_mark(uintptr_t begin, size_t bytes, enum pages_mark mark);

/*
 * Makes new pages of these, in one mapping, open and marked as merged, whatever became of them before. If it fails,
 * they are no memory, and nobody else's mapping comes to lie there.
 */
bool pages_renew(uintptr_t begin, size_t bytes);

/* Makes each page, without memory, differ from the next. */
void pages_separate(uintptr_t begin, size_t bytes);

#endif
