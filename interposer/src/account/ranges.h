/*
 * The map of ranges: which call sites mapped which addresses. The replacements of mmap, munmap and mremap record it
 * (hooks/mappings.c).
 *
 * A range has the call site that reserved its addresses. A mapping inside the ranges of one site keeps that site, as
 * when a JVM commits parts of its heap. A mapping that also covers other addresses gets a site of its own, and its
 * addresses leave the earlier ranges. Unmapped addresses leave their ranges, too. Adjacent ranges of one site are
 * joined, unless another thread is unmapping memory.
 *
 * The ranges lie in address order in blocks of 64. One array has the first address of each block, so a change searches
 * only that array and one block. While more than three quarters of the blocks are in use, each change also packs up to
 * 1,024 ranges into fewer blocks, which takes some microseconds. If there are too many ranges, packing forgets the
 * smallest ones and counts them.
 *
 * Each range has an insertion number. A thread that unmaps memory reads the latest number before the system call, and
 * afterwards removes only ranges with numbers up to the number it has read. If the kernel gives the addresses to
 * another thread in between, the other thread's range has a higher number and stays.
 *
 * The lock is held for microseconds. All signals are blocked meanwhile, so that no signal handler waits for a lock that
 * its own thread holds. A thread that does not get the lock within a millisecond skips the change and counts it as
 * missed. After 64 missed changes in a row, over at least a second, the map is abandoned until ranges_start() is called
 * again.
 */
#ifndef MALLOMETER_ACCOUNT_RANGES_H
#define MALLOMETER_ACCOUNT_RANGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "mallometer.h"

#define RANGE_WITHOUT_SITE UINT32_MAX
#define RANGE_OF_ALLOCATOR (UINT32_MAX - 1)

/* The site of a range that was mapped before an attach. ranges_copy() leaves such ranges out. Memory that the program
 * commits inside such a range gets this site without a stack walk. */
#define RANGE_FROM_BEFORE (UINT32_MAX - 2)

/* Functions that change how many ranges refer to each site. They are called in any thread, and perhaps under the
 * map's lock. */
struct ranges_sites {
  void (*refer)(uint32_t site, int32_t by);
  void (*release_all)(void);
};

/* Makes the map of ranges usable: the first call reserves memory for the map, and a later call takes an abandoned
 * map into use again if the map's lock is free. Returns false if this fails. May be called from any thread. */
bool ranges_start(const struct ranges_sites *sites);

bool ranges_on(void);

/* Returns why ranges are not recorded; NULL if they are. */
const char *ranges_missing(void);

size_t ranges_footprint(void);

/* Returns a number that changes when all ranges are forgotten. */
uint32_t ranges_generation(void);

/* Must enclose a system call that may unmap memory, and the ranges_remove() that follows it.
 * ranges_before_unmapping() returns the latest insertion number, which ranges_remove() needs. */
uint64_t ranges_before_unmapping(void);
void ranges_after_unmapping(void);

/* Inserts a range and removes its addresses from earlier ranges. Inserts nothing if all ranges were forgotten since
 * the caller read `generation`. Takes over the caller's reference to the site in both cases. */
void ranges_insert(uintptr_t begin, uintptr_t end, uint32_t site, uint32_t generation);

/* Inserts a range whose `site` is one of the constants above. Inserts nothing if an address of the range belongs to
 * a known range. */
void ranges_fill(uintptr_t begin, uintptr_t end, uint32_t site);

/* Removes the addresses from all ranges with insertion numbers up to `latest`. */
void ranges_remove(uintptr_t begin, uintptr_t end, uint64_t latest);

/* Returns whether address `begin` belongs to a range, and sets *site to the range's site. The caller then owns a
 * reference to the site. If `whole` is set, all addresses up to `end` must belong to ranges of that site. */
bool ranges_find(uintptr_t begin, uintptr_t end, bool whole, uint32_t *site);

/* Forgets all ranges. Must be called when the hooks stop seeing changes. */
void ranges_forget(void);

/*
 * Copies ranges from the first one that ends after `from`, and returns their number. Takes the lock anew for each 64
 * ranges, so even a result of fewer than `capacity` ranges may be incomplete. Returns -EAGAIN if none was copied
 * because another thread has the lock or the map is not in use.
 */
int ranges_copy(struct mallometer_range *rows, uint32_t capacity, uint64_t from);

/* Releases the lock in the child of a fork. Empties the map if another thread of the parent held the lock. */
void ranges_forked(void);

/* `forgotten` counts the ranges that were removed for lack of room. `missed` counts the changes that were skipped
 * because another thread had the lock. */
struct ranges_totals {
  uint32_t ranges;
  uint64_t forgotten;
  uint64_t missed;
};

struct ranges_totals ranges_totals(void);

#endif
