/*
 * Memory for the library's tables. Each table is a mapping of its own that becomes resident page by page.
 *
 * This memory has no huge pages: the first access to one would zero 2 MiB in the middle of a malloc, and almost all of
 * the table would become resident. Memory of memory_reserve() is not locked either, even if the process locks what it
 * maps (mlockall(2)), because the tables contain no data of the program.
 *
 * Reserved memory costs the system nothing, but counts in full against RLIMIT_AS and RLIMIT_DATA, which are meant for
 * the program. A table is therefore reserved when it is first needed, and only if the limit leaves the program much
 * more than the table takes.
 */
#ifndef MALLOMETER_PLATFORM_MEMORY_H
#define MALLOMETER_PLATFORM_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Returns the bytes of a page, a power of two. Makes no system call; preserves errno. */
size_t memory_page_bytes(void);

/* Rounds a number of bytes up to whole pages. */
size_t memory_whole_pages(size_t bytes);

/* Makes pages of the library's own variables resident. No other thread may change the variables meanwhile. */
static inline void memory_touch(void *memory, size_t bytes) {
  volatile char *at = memory;
  for (size_t i = 0; i < bytes; i += memory_page_bytes()) at[i] = at[i];
  at[bytes - 1] = at[bytes - 1];
}

/*
 * Returns zeroed memory between two inaccessible pages, so that the kernel does not merge it with a neighbour. Returns
 * NULL and sets errno if there is no memory. Makes system calls.
 */
void *memory_reserve(size_t bytes);
void memory_give_back(void *memory, size_t bytes);

/*
 * Returns zeroed memory on whole pages, without inaccessible pages around it: at the address `wish` if that is not NULL
 * and is free, otherwise anywhere. Returns NULL and sets errno if there is no memory. Makes system calls.
 * memory_unmap() must be called with the same number of bytes. If `wish` is not NULL, the memory is not recorded as the
 * library's own, because it is meant for the program.
 */
void *memory_map(void *wish, size_t bytes);
void memory_unmap(void *memory, size_t bytes);

/*
 * The ranges of the library's own memory, by number. Numbers below MOST_PRIVATE_RANGES are for memory that contains no
 * data of the program: that of memory_reserve(), and ranges that memory_own_add() adds. Numbers from there to
 * MOST_OWN_RANGES - 1 are for the memory of memory_map(). When all numbers of a kind are used, further ranges of that
 * kind are not recorded. memory_own_range() returns false if the number has no range. May be called from any thread.
 */
#define MOST_PRIVATE_RANGES 32u
#define MOST_OWN_RANGES 288u
bool memory_own_range(unsigned number, uintptr_t *begin, uintptr_t *end);
void memory_own_add(uintptr_t begin, size_t bytes);
void memory_own_remove(uintptr_t begin);

/* Returns the end of the process's data segment (sbrk(2)), below which a C library may have its heap; 0 if there is
 * none. */
uintptr_t memory_break(void);

/* Returns whether it is certain that nothing is mapped at this page. May change errno. */
bool memory_is_unmapped(const void *page);

/* ---- Limits -------------------------------------------------------------------------------------------- */

/* Returns a description of the limit that is set on the process's memory (RLIMIT_AS or RLIMIT_DATA); NULL if none is.
 */
const char *memory_limit(void);

/* Returns a description of the limit (RLIMIT_AS or RLIMIT_DATA) that leaves less than 64 times `bytes` for the program;
 * NULL if there is none. */
const char *memory_shortage(size_t bytes);

/* Returns whether the process has locked the mappings that it had (MCL_CURRENT), or locks new mappings (MCL_FUTURE). */
bool memory_is_locked(void);

#endif
