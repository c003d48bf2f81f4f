/* Finds out from the kernel which memory can be read without a fault, and reads memory that may have been unmapped. If
 * a sandbox forbids the system call by which memory is tested, no memory counts as readable. */
#ifndef MALLOMETER_PLATFORM_READABLE_MEMORY_H
#define MALLOMETER_PLATFORM_READABLE_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SMALLEST_PAGE ((uintptr_t)4096) /* pages may be larger; testing one page several times does no harm */

static inline uintptr_t page_of(uintptr_t address) { return address & ~(SMALLEST_PAGE - 1); }

/* Returns whether a page can be read. May change errno. */
bool page_is_readable(uintptr_t page);

/* Returns whether all of a range can be read. May change errno. */
bool is_readable(uintptr_t begin, size_t bytes);

/* ---- Memory that may have been unmapped ---------------------------------------------------------------- */

/*
 * Calls `act`, which opens or closes a descriptor and stores it, while no fork is under way. protected_words_prepare()
 * must have been called before. A forked child closes the stored descriptors. Returns false if forks go on for a
 * second. May change errno.
 */
bool without_forks(void (*act)(void));

/*
 * Opens the process's own memory (/proc/self/mem) for reading, and the states of its pages (/proc/self/pagemap).
 * Returns false if the kernel refuses to open the memory; if it refuses only the states, they are unknown. Several
 * threads may have the files open; the last thread closes them. A forked child closes them, because it may be meant to
 * have fewer rights than its parent. The three functions wait for forks that are under way. If forks go on for a second,
 * own_memory_close() returns false and must be called again, and own_memory_leave() leaves the files open until another
 * thread closes them. May change errno.
 */
bool own_memory_open(void);
bool own_memory_close(void);
void own_memory_leave(void);

/*
 * Copies from an address at which memory may have been unmapped. Returns false if nothing is mapped there. If the page
 * was never accessed, it becomes a page of zeros in the page tables. May change errno.
 */
bool own_memory_read(uintptr_t from, void *to, size_t bytes);

enum page_state { PAGE_UNTOUCHED, PAGE_IN_MEMORY, PAGE_SWAPPED, PAGE_UNKNOWN };

/*
 * Decodes the word that /proc/self/pagemap has for a page (Documentation/admin-guide/mm/pagemap.rst of Linux). The
 * kernel marks guard pages, which glibc 2.42 has at the ends of its stacks, as swapped. They are empty, so this
 * function returns PAGE_UNTOUCHED for them.
 */
enum page_state page_state_of(uint64_t word);

/* Returns the state of a page without changing it; PAGE_UNTOUCHED if nothing is mapped there. May change errno. */
enum page_state own_page_state(uintptr_t address);

#endif
