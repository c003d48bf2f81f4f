/*
 * The map of ranges: which call sites mapped which addresses, as the replacements of mmap, munmap and mremap record it
 * (hooks/mappings.c).
 *
 * A range has the call site that reserved its addresses. Memory that is mapped over a known range of one site, as a JVM
 * commits parts of its heap, keeps that site. Addresses leave a range when they are unmapped, or when memory is mapped
 * over them that reaches beyond the ranges of one site. Neighbours of one site are joined to one range, unless another
 * thread is unmapping memory at that moment.
 *
 * The ranges lie in address order in blocks of 64, and the blocks' first addresses in one array: a change searches that
 * array and one block. When more than three quarters of the blocks are in use, each change also packs up to 1,024
 * ranges into fewer blocks, which takes some microseconds, until a quarter of the blocks is free again. Packing forgets
 * the smallest ranges if there are too many, and counts them.
 *
 * Each range has the number of its insertion. A thread that unmaps memory reads the latest number before the system
 * call, and afterwards removes only ranges with numbers up to that one: if the kernel gives the addresses to another
 * thread in between, that thread's range has a higher number and stays.
 *
 * The lock is held for microseconds, with all signals blocked, so that no signal handler waits for a lock that its own
 * thread holds. A thread that does not get the lock within a millisecond leaves the map unchanged and counts a missed
 * change. After 64 missed changes in a row, over at least a second, the map is abandoned until the next start.
 */
#ifndef MALLOMETER_ACCOUNT_RANGES_H
#define MALLOMETER_ACCOUNT_RANGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "mallometer.h"

/* Stands for the site of a range without a site. */
#define RANGE_WITHOUT_SITE UINT32_MAX
/* Stands for the site of a range that the allocator mapped. */
#define RANGE_OF_ALLOCATOR (UINT32_MAX - 1)

/* Stands for the site of a range that was mapped before an attach. Readers do not see the range; memory that the
 * program commits inside the range keeps this site, and needs no stack walk. */
#define RANGE_FROM_BEFORE (UINT32_MAX - 2)

/* Functions that change how many ranges refer to each site. The map calls them in any thread, and may hold its lock. */
struct ranges_sites {
  void (*refer)(uint32_t site, int32_t by);
  void (*release_all)(void);
};

/* Reserves the memory of the map, or uses a map again that was abandoned because its lock was not released. Returns
 * false if the map is not in use afterwards. May be called from any thread. */
bool ranges_start(const struct ranges_sites *sites);

bool ranges_on(void);

/* Returns why ranges are not recorded; NULL if they are. */
const char *ranges_missing(void);

/* Returns the bytes of the map that may be resident. */
size_t ranges_footprint(void);

/* Returns a number that changes when all ranges are forgotten. */
uint32_t ranges_generation(void);

/* Call the first before a system call that may unmap memory, and the second after the removal of the ranges. The first
 * returns the number of the latest insertion, for ranges_remove(). */
uint64_t ranges_before_unmapping(void);
void ranges_after_unmapping(void);

/*
 * Inserts a range and removes its addresses from earlier ranges. Inserts nothing if all ranges were forgotten since the
 * caller read `generation`. Takes over the caller's reference to the site in both cases.
 */
void ranges_insert(uintptr_t begin, uintptr_t end, uint32_t site, uint32_t generation);

/* Inserts a range if none of its addresses belongs to a known range. `site` must be one of the constants above, whose
 * references are not counted. */
void ranges_fill(uintptr_t begin, uintptr_t end, uint32_t site);

/* Removes the addresses from all ranges that were inserted up to number `latest`. */
void ranges_remove(uintptr_t begin, uintptr_t end, uint64_t latest);

/*
 * Returns whether address `begin` belongs to a range, and sets *site to the range's site. The caller then owns a
 * reference to that site. With `whole`, all addresses up to `end` must belong to ranges of that site.
 */
bool ranges_find(uintptr_t begin, uintptr_t end, bool whole, uint32_t *site);

/* Forgets all ranges. Call this when the hooks stop seeing changes. */
void ranges_forget(void);

/*
 * Copies ranges in address order, from the first one that ends after `from`. Holds the lock for 64 ranges at a time.
 * Returns the number of copied ranges; -EAGAIN if none was copied because another thread has the lock or the map is not
 * in use. The result may be incomplete even if fewer than `capacity` ranges were copied.
 */
int ranges_copy(struct mallometer_range *rows, uint32_t capacity, uint64_t from);

/* Releases the lock in the child of a fork. Empties the map there if another thread of the parent held the lock. */
void ranges_forked(void);

/* The present number of ranges, the number of ranges that packing has forgotten, and the number of missed changes. */
struct ranges_totals {
  uint32_t ranges;
  uint64_t forgotten;
  uint64_t missed;
};

struct ranges_totals ranges_totals(void);

#endif
