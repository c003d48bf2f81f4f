/*
 * Counts mappings, and reads and clears the accessed bits of pages. The processor sets these bits in page tables, and
 * the kernel reports them for each mapping.
 *
 * Only one thread at a time may use these functions. None of them allocates or is a cancellation point; each may change
 * errno.
 */
#ifndef MALLOMETER_PLATFORM_PAGE_USE_H
#define MALLOMETER_PLATFORM_PAGE_USE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Calls `mapping` for each mapping of the process, in ascending order, until `mapping` returns false. `used` is whether
 * any page of the mapping was accessed since the accessed bits were cleared. Returns false and sets errno if the kernel
 * does not report the mappings, or fails in the middle.
 */
bool page_use_read(bool (*mapping)(uintptr_t begin, bool used));

/* Clears the accessed bits of these whole pages; skips pages that are not mapped. Returns false and sets errno if
 * some pages keep their bits, as locked pages do, or if the kernel cannot clear bits. */
bool page_use_clear(void *pages, size_t bytes);

/* Clears the accessed bits of all pages of the process. Other programs that read these bits then miss accesses.
 * Returns false and sets errno if the kernel does not clear them. */
bool page_use_clear_all(void);

/* Return the names of the system's functions that the functions above call, for messages. */
const char *page_use_read_name(void);
const char *page_use_clear_name(void);
const char *page_use_clear_all_name(void);

/* Returns SIZE_MAX if the kernel does not report the number. */
size_t mappings_count(void);

/* Returns vm.max_map_count, or its default if the kernel does not report it. */
size_t mappings_most(void);

#endif
