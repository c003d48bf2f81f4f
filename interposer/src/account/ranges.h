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
 * Neighbours of one site are one range, unless another thread unmaps at that moment.
 *
 * The lock is held for microseconds, with all signals blocked, so that no handler meets it in its own thread. A thread
 * that does not get it within a millisecond leaves the map as it is, and a change is then counted as missed. After 64
 * of these in a row, over a second, the map is abandoned until the next start. A child of a fork begins with an empty
 * map if another thread of its parent had the lock. The memory is reserved at once and becomes resident as it is used.
 * Where three quarters of it are in use, each change also packs a slice of 1,024 ranges, in some microseconds, until
 * a quarter is free again. For that the smallest ranges are forgotten and counted.
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

/* The site of addresses from before an attach, which readers do not see: commits inside need no site. */
#define RANGE_FROM_BEFORE (UINT32_MAX - 2)

/* The counts of ranges that refer to sites. Both functions are called with the lock or by a thread that abandons it. */
struct ranges_sites {
  void (*refer)(uint32_t site, int32_t by);
  void (*release_all)(void);
};

/* Reserves the memory, or uses an abandoned map again. Returns false if the map is not in use. From any thread. */
bool ranges_start(const struct ranges_sites *sites);

bool ranges_on(void);

/* Returns why ranges are not recorded; NULL if they are. */
const char *ranges_missing(void);

/* Returns the bytes that are in use. */
size_t ranges_footprint(void);

/* Returns a number that changes when all ranges are forgotten. */
uint32_t ranges_generation(void);

/* Stand around a system call that may unmap, and its removal. The first returns the number of the latest insertion. */
uint64_t ranges_before_unmapping(void);
void ranges_after_unmapping(void);

/*
 * Inserts a range in place of all that was known of its addresses, unless the generation is another by now. Takes the
 * caller's reference to the site.
 */
void ranges_insert(uintptr_t begin, uintptr_t end, uint32_t site, uint32_t generation);

/* Inserts a range if nothing is known of its addresses. `site` is none that counts references. */
void ranges_fill(uintptr_t begin, uintptr_t end, uint32_t site);

/* Removes what was known of the addresses by the insertion with that number. */
void ranges_remove(uintptr_t begin, uintptr_t end, uint64_t latest);

/*
 * Returns whether an address belongs to a range, and sets its site, with a reference that is the caller's. With
 * `whole`, all addresses up to `end` must belong to ranges of that site.
 */
bool ranges_find(uintptr_t begin, uintptr_t end, bool whole, uint32_t *site);

/* Forgets all ranges: from now on changes are not seen. */
void ranges_forget(void);

/*
 * Copies rows in address order, from the first range that ends behind `from`. Holds the lock for 64 rows at a time.
 * Returns their count; -EAGAIN if another thread has the lock. Fewer rows than there is room for need not be all.
 */
int ranges_copy(struct mallometer_range *rows, uint32_t capacity, uint64_t from);

/* Lets the child of a fork use the map. */
void ranges_forked(void);

/* The number of ranges, and of those that were forgotten, and of changes that were missed, so far. */
struct ranges_totals {
  uint32_t ranges;
  uint64_t forgotten;
  uint64_t missed;
};

struct ranges_totals ranges_totals(void);

#endif
