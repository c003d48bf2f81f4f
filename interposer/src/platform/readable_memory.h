/*
 * Which memory can be read without a fault, and reading what may be gone by then. The kernel is asked; where a sandbox
 * forbids that, nothing can.
 */
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

/* ---- Memory that may be gone --------------------------------------------------------------------------- */

/*
 * Opens or closes a descriptor and notes it, by `act`, while no fork is under way; after protected_words_prepare(). A
 * child closes what is noted. False if forks go on for a second. May change errno.
 */
bool without_forks(void (*act)(void));

/*
 * Opens the process's own memory to read, and what the kernel tells of its pages. False if it refuses. Threads may have
 * it open at once; the last one closes it. A forked child has neither: it may be meant to have fewer rights than its
 * parent. Both wait for forks that are under way. May change errno.
 */
bool own_memory_open(void);
void own_memory_close(void);

/*
 * Copies from an address at which there may be no memory any more: false then. A page that was never touched becomes
 * one of zeros with a place in the page tables. May change errno.
 */
bool own_memory_read(uintptr_t from, void *to, size_t bytes);

enum page_state { PAGE_UNTOUCHED, PAGE_IN_MEMORY, PAGE_SWAPPED, PAGE_UNKNOWN };

/* Changes nothing about the page. Untouched if nothing is mapped there. May change errno. */
enum page_state own_page_state(uintptr_t address);

#endif
