/*
 * The sampled objects whose addresses a search (search.h) looks for, and the number of words that point to each of
 * them.
 *
 * A word points to an object if its lower 48 bits are the address of any of the object's bytes, so tagged pointers and
 * pointers into the middle count. The address after the last byte does not count, and neither does a word in the object
 * itself, such as the head of an empty list. Only aligned words are compared.
 *
 * Nearly all words of a process point to none of the objects. Most words are excluded by a set of hashes. A hash covers
 * 64 KiB of addresses or more. Many other words, such as pairs of 32-bit Java references, are excluded because they are
 * far from all objects. The remaining words are searched in a sorted table.
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

bool targets_start(void);

size_t targets_footprint(void);

/*
 * Chooses the live samples of these sites, at most an equal share of MOST_SEARCH_TARGETS for each site. Returns how
 * many live samples were left out.
 */
uint32_t targets_choose(const uint32_t *sites, uint32_t count);

uint32_t targets_count(void);

/* Counts, for each object, the words that point to it. `address` is the place from which the words were copied. */
void targets_compare(const uintptr_t *words, size_t count, uintptr_t address);

/*
 * targets_compare_free() counts the words in free parts of a heap that point to each object. It has counts of its own.
 * targets_add_free_parts() adds these counts to those of targets_compare().
 *
 * Call targets_add_free_parts() if objects of the heap may have been moved during the search. An object may then have
 * been seen only at its old place, in a free part.
 */
void targets_compare_free(const uintptr_t *words, size_t count, uintptr_t address);
void targets_add_free_parts(void);

void targets_mark_freed(void);

uint32_t targets_copy(struct mallometer_sought *rows, uint32_t capacity);

#endif
