/*
 * Whether pages were used: the accessed bits that the processor sets in a process's page tables, as the kernel tells
 * them for each mapping, and how they are cleared. Also how many mappings there are.
 *
 * For one thread at a time. Nothing here allocates or is a cancellation point; every function may change errno.
 */
#ifndef MALLOMETER_PLATFORM_PAGE_USE_H
#define MALLOMETER_PLATFORM_PAGE_USE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Calls `mapping` for each mapping of the process, lowest first, until it returns false: with the address at which the
 * mapping begins, and whether any of its pages was used since the bits were cleared. False, with errno, if the kernel
 * does not tell, or only of some.
 */
bool page_use_read(bool (*mapping)(uintptr_t begin, bool used));

/*
 * Clears the bits of these whole pages, so that the next use of any is seen. Pages of them that are not mapped do not
 * matter. False, with errno, if some keep their bits, as pages do that the program has locked, or if the kernel cannot.
 */
bool page_use_clear(void *pages, size_t bytes);

/* Clears the bits of all pages of the process, for every other reader of them too. False, with errno, if that fails. */
bool page_use_clear_all(void);

/* What of the system these three use, for messages. */
const char *page_use_read_name(void);
const char *page_use_clear_name(void);
const char *page_use_clear_all_name(void);

/* How many mappings the process has; SIZE_MAX if the kernel does not tell. */
size_t mappings_count(void);

/* How many it may have; what is usual if the kernel does not tell. */
size_t mappings_most(void);

#endif
