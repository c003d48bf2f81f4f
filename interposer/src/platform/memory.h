/*
 * Memory for the library's tables. Each table is a mapping of its own that becomes resident page by page.
 *
 * This memory has no huge pages: the first access to a huge page would zero 2 MiB in the middle of a malloc, and almost
 * all of the table would become resident. memory_reserve() also keeps its memory unlocked if the process locks new
 * mappings (mlockall(2)), because the tables contain no data of the program.
 *
 * Reserved memory counts in full against RLIMIT_AS and RLIMIT_DATA, which are meant for the program. A table is
 * therefore reserved when it is first needed, and only if the limit leaves the program much more memory than the table
 * takes.
 */
#ifndef MALLOMETER_PLATFORM_MEMORY_H
#define MALLOMETER_PLATFORM_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Returns the bytes of a page. Makes no system call; preserves errno. */
size_t memory_page_bytes(void);

size_t memory_whole_pages(size_t bytes);

/* Makes pages of the library's own variables resident. No other thread may change the variables meanwhile. */
static inline void memory_touch(void *memory, size_t bytes) {
  volatile char *at = memory;
  for (size_t i = 0; i < bytes; i += memory_page_bytes()) at[i] = at[i];
  at[bytes - 1] = at[bytes - 1];
}

/* Returns zeroed memory between two inaccessible pages, which keep the kernel from merging the memory with a
 * neighbouring mapping. Returns NULL and sets errno if there is no memory. Makes system calls. */
void *memory_reserve(size_t bytes);
void memory_give_back(void *memory, size_t bytes);

/*
 * Returns zeroed memory on whole pages. The memory begins at `wish` if that is not NULL and the address is free.
 * Returns NULL and sets errno if there is no memory. Makes system calls. Memory with a `wish` is meant for the
 * program, so it is not recorded as the library's own. memory_unmap() must be called with the same number of bytes.
 */
void *memory_map(void *wish, size_t bytes);
void memory_unmap(void *memory, size_t bytes);

/*
 * Sets `begin` and `end` to the bounds of range `number` of the library's own memory. Returns false if there is no such
 * range. May be called from any thread.
 *
 * Numbers below MOST_PRIVATE_RANGES are for memory that contains no data of the program (memory_reserve(),
 * memory_own_add()). Larger numbers, below MOST_OWN_RANGES, are for memory_map(). A range is not recorded if all
 * numbers of its kind are in use.
 */
#define MOST_PRIVATE_RANGES 32u
#define MOST_OWN_RANGES 288u
bool memory_own_range(unsigned number, uintptr_t *begin, uintptr_t *end);
void memory_own_add(uintptr_t begin, size_t bytes);
void memory_own_remove(uintptr_t begin);

/*
 * Returns the end of the process's data segment (sbrk(2)), where a C library may have its heap; 0 if there is none.
 */
uintptr_t memory_break(void);

/* Returns whether it is certain that nothing is mapped at this page. May change errno. */
bool memory_is_unmapped(const void *page);

/* ---- Limits -------------------------------------------------------------------------------------------- */

/* Describes the limit on the process's memory (RLIMIT_AS or RLIMIT_DATA); NULL if none is set. */
const char *memory_limit(void);

/* Returns NULL if the limits RLIMIT_AS and RLIMIT_DATA leave room for 64 tables of this size. Otherwise describes
 * the limit that leaves too little. */
const char *memory_shortage(size_t bytes);

/* Returns whether the process has locked its mappings (MCL_CURRENT) or locks new ones (MCL_FUTURE). */
bool memory_is_locked(void);

#endif
