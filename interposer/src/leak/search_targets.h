/*
 * The sampled objects whose addresses a search (search.h) looks for, and the number of words that point to each of
 * them.
 *
 * A word points to an object if its lower 48 bits are the address of any of the object's bytes. Pointers with a tag in
 * their upper 16 bits or in their lowest bits therefore count, and so do pointers into the middle. The address after
 * the last byte does not count, because it belongs to another object or to the allocator. A word in the object itself,
 * such as the head of an empty list, does not count either. Only aligned words are compared.
 *
 * Nearly all words of a process point to none of the objects. A set of hashes, one for each 64 KiB of addresses or
 * more, excludes most of them. Many of the others, such as pairs of 32-bit Java references, point to parts of the
 * address space that have none of the objects. The remaining words are searched in a sorted table.
 */
#ifndef MALLOMETER_LEAK_SEARCH_TARGETS_H
#define MALLOMETER_LEAK_SEARCH_TARGETS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "mallometer.h"
#include "sample/live_sample.h"

#define MOST_SEARCH_TARGETS 8192u
#define MOST_SEARCHED_SITES 64u

/* Reserves memory, once. Returns false if there is none. */
bool targets_start(void);

size_t targets_footprint(void);

/*
 * Chooses the live samples of these sites, at most an equal share of MOST_SEARCH_TARGETS for each site. Returns how
 * many live samples were left out.
 */
uint32_t targets_choose(const uint32_t *sites, uint32_t count);

uint32_t targets_count(void);

/* Counts, for each object, the words that point to it. `address` is the address from which the words were copied. */
void targets_compare(const uintptr_t *words, size_t count, uintptr_t address);

/* Counts separately the words that lie in free parts of a heap. They count as references only if objects may have been
 * moved during the search; targets_add_free_parts() then adds them. */
void targets_compare_free(const uintptr_t *words, size_t count, uintptr_t address);
void targets_add_free_parts(void);

void targets_mark_freed(void);

/* Describes each object in `rows`, and returns the number of objects. */
uint32_t targets_copy(struct mallometer_sought *rows, uint32_t capacity);

#endif
