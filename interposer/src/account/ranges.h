/*
 * The map of ranges: who mapped which addresses, as the hooks of mappings saw it (hooks/mappings.c).
 *
 * A range has the call site that reserved its addresses. Memory that is mapped over a known range of one site, as a JVM
 * commits parts of its heap, keeps that site. A range lasts until its addresses are unmapped or mapped by another.
 *
 * The ranges lie in address order in blocks of 64, and the blocks' first addresses in one array: a change searches that
 * array and one block, without recursion or memory of its own. Each range has the number of its insertion. A thread
 * that unmaps notes the number before the system call and removes afterwards what is not younger: a range that another
 * thread gets from the kernel in between stays, and a call that fails has changed nothing.
 *
 * The lock is held for microseconds, with all signals blocked, so that no handler meets it in its own thread, and over
 * a fork. A thread that does not get it within 20 ms leaves the map as it is, and that is counted. The memory is
 * reserved at once and becomes resident as it is used. If it is full, the smallest ranges are forgotten and counted.
 */
#ifndef MALLOMETER_ACCOUNT_RANGES_H
#define MALLOMETER_ACCOUNT_RANGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "mallometer.h"

/* The site of a range that has none. */
#define RANGE_WITHOUT_SITE UINT32_MAX
/* The site of a range that the allocator mapped. */
#define RANGE_OF_ALLOCATOR (UINT32_MAX - 1)

/*
 * Reserves the memory, once. `change` adds a number to the count of ranges that refer to a site; it is called with the
 * lock. Returns false if there is no memory. From any thread.
 */
bool ranges_start(void (*change)(uint32_t site, int32_t by));

bool ranges_on(void);
size_t ranges_footprint(void);

/* Returns the number of the latest insertion. */
uint64_t ranges_latest(void);

/* Inserts a range in place of all that was known of its addresses. The caller's reference to the site becomes the
 * range's. */
void ranges_insert(uintptr_t begin, uintptr_t end, uint32_t site);

/* Removes what was known of the addresses by the insertion with that number. */
void ranges_remove(uintptr_t begin, uintptr_t end, uint64_t latest);

/*
 * Returns whether an address belongs to a range, and sets its site, with a reference that is the caller's. With
 * `whole`, all addresses up to `end` must belong to ranges of that site.
 */
bool ranges_find(uintptr_t begin, uintptr_t end, bool whole, uint32_t *site);

/* Forgets all ranges: from now on changes are not seen. */
void ranges_forget(void);

/* Copies rows in address order, from the first range that ends behind `from`. Holds the lock for 64 rows at a time. */
uint32_t ranges_copy(struct mallometer_range *rows, uint32_t capacity, uint64_t from);

/* The number of ranges, and of those that were forgotten, or missed because the lock was held, so far. */
struct ranges_totals {
  uint32_t ranges;
  uint64_t forgotten;
  uint64_t missed;
};

struct ranges_totals ranges_totals(void);

/* Keep the map over a fork: called before it, and after it in the parent and in the child. */
void ranges_before_fork(void);
void ranges_after_fork(void);
void ranges_forked(void);

#endif
