/* Finds out which memory can be read without a fault, and reads memory that may have been unmapped. If a sandbox
 * forbids the necessary system call, no memory counts as readable. The functions may change errno. */
#ifndef MALLOMETER_PLATFORM_READABLE_MEMORY_H
#define MALLOMETER_PLATFORM_READABLE_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SMALLEST_PAGE ((uintptr_t)4096) /* Pages may be larger; testing one page several times does no harm. */

static inline uintptr_t page_of(uintptr_t address) { return address & ~(SMALLEST_PAGE - 1); }

bool page_is_readable(uintptr_t page);

bool is_readable(uintptr_t begin, size_t bytes);

/* ---- Memory that may have been unmapped ---------------------------------------------------------------- */

/* Calls `act` while no fork is under way. `act` opens or closes descriptors that forked children close
 * (close_in_children()). Must be called after protected_words_prepare(). Returns false, without calling `act`, if
 * forks go on for a second. */
bool without_forks(void (*act)(void));

/*
 * Opens /proc/self/mem (the process's own memory) and /proc/self/pagemap (the states of its pages) for reading. Returns
 * false if /proc/self/mem cannot be opened. Without /proc/self/pagemap, the states of all pages are unknown. If several
 * threads have opened the files, the last thread to close them closes the descriptors. A forked child closes the
 * descriptors, because it may be meant to have fewer rights than its parent.
 *
 * The three functions wait for forks. If forks go on for a second, own_memory_open() returns false, own_memory_close()
 * returns false and must be called again, and own_memory_leave() leaves the files open until another thread closes
 * them.
 */
bool own_memory_open(void);
bool own_memory_close(void);
void own_memory_leave(void);

/* Copies memory that may have been unmapped. Returns false if nothing is mapped there. A page that was never accessed
 * becomes a page of zeros in the page tables. */
bool own_memory_read(uintptr_t from, void *to, size_t bytes);

enum page_state { PAGE_UNTOUCHED, PAGE_IN_MEMORY, PAGE_SWAPPED, PAGE_UNKNOWN };

/*
 * Decodes a page's word of /proc/self/pagemap (Documentation/admin-guide/mm/pagemap.rst of Linux). Returns
 * PAGE_UNTOUCHED for a guard page: the page is empty, although the kernel marks it as swapped. glibc 2.42 has guard
 * pages in its stacks.
 */
enum page_state page_state_of(uint64_t word);

/* Returns the state of a page without changing it; PAGE_UNTOUCHED if nothing is mapped there. */
enum page_state own_page_state(uintptr_t address);

#endif
