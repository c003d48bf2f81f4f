/* Which memory can be read without a fault. The kernel is asked; where a sandbox forbids that, nothing can. */
#ifndef MALLOMETER_PLATFORM_READABLE_MEMORY_H
#define MALLOMETER_PLATFORM_READABLE_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SMALLEST_PAGE ((uintptr_t)4096) /* asking for more pages than there are does no harm */

static inline uintptr_t page_of(uintptr_t address) { return address & ~(SMALLEST_PAGE - 1); }

/* May change errno. */
bool page_is_readable(uintptr_t page);

/* How many pages from `page` on can be read, at most `pages`. May change errno. */
size_t readable_pages(uintptr_t page, size_t pages);

/* Whether all of it can be read. May change errno. */
bool is_readable(uintptr_t begin, size_t bytes);

#endif
