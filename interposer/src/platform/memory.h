/*
 * Memory for the library's tables, each a mapping of its own that becomes resident page by page.
 *
 * Never by huge pages: the first touch of one would zero 2 MiB in the middle of a malloc, and what is resident would
 * come near to what is reserved. Nor all at once in a process that locks the memory it maps (mlockall(2)): nothing of
 * the program's is in a table.
 *
 * Reserved memory costs the system nothing, but counts in full against RLIMIT_AS and RLIMIT_DATA, which are meant for
 * the program. So a table is reserved when it is first needed, and not where a limit leaves little more than that.
 */
#ifndef MALLOMETER_PLATFORM_MEMORY_H
#define MALLOMETER_PLATFORM_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Bytes of a page, a power of two. Makes no system call; keeps errno. */
size_t memory_page_bytes(void);

/* Whole pages for so many bytes. */
size_t memory_whole_pages(size_t bytes);

/*
 * Zeroed memory between two pages that are no memory, so that the kernel joins it to no neighbour. NULL, with errno, if
 * there is none. Makes system calls.
 */
void *memory_reserve(size_t bytes);
void memory_give_back(void *memory, size_t bytes);

/*
 * Zeroed memory on whole pages without such pages around it, at `wish` if that is free and not NULL, else anywhere.
 * NULL, with errno, if there is none. Makes system calls. What it returns ends with memory_unmap() of as many bytes.
 */
void *memory_map(void *wish, size_t bytes);
void memory_unmap(void *memory, size_t bytes);

/*
 * Ranges that hold nothing of the program's: what memory_reserve() has given out, and what is added. They are numbered
 * from 0, below MOST_OWN_RANGES; of those beyond nobody knows. From any thread.
 */
#define MOST_OWN_RANGES 32u
bool memory_own_range(unsigned number, uintptr_t *begin, uintptr_t *end);
void memory_own_add(uintptr_t begin, size_t bytes);
void memory_own_remove(uintptr_t begin);

/* Whether it is certain that the process has no mapping at this page. May change errno. */
bool memory_is_unmapped(const void *page);

/* ---- Limits -------------------------------------------------------------------------------------------- */

/* Which limit keeps the process from all memory that there is, in words; NULL if none does. */
const char *memory_limit(void);

/* Which limit would not leave the program 64 times as much as that, in words; NULL if none. */
const char *memory_shortage(size_t bytes);

/* Whether the process locks what it maps from now on (MCL_FUTURE), or has locked what it had (MCL_CURRENT). */
bool memory_is_locked(void);

#endif
