/*
 * The sampled objects that a search (search.h) is about, and how many words were found that point at each.
 *
 * A word points at an object if its lower 48 bits are an address in it: of its first byte, or of any other up to the
 * last. So pointers with a tag in their upper 16 bits or in their lowest ones count, and pointers into the middle. The
 * address behind the last byte does not: it is another object's, or the allocator's. Nor does a word that lies in the
 * object itself, such as an empty list's head. Words are looked for where the processor aligns them.
 *
 * Nearly all words of a process point at none. A set of hashes, one for each 64 KiB of addresses or more, tells so of
 * most of them. Of the others many, such as pairs of Java references of 32 bits, are in no part of the address space
 * where any object is; the rest is looked up in a sorted table.
 */
#ifndef MALLOMETER_LEAK_SOUGHT_H
#define MALLOMETER_LEAK_SOUGHT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "mallometer.h"
#include "sample/live_sample.h"

#define MOST_SOUGHT 8192u
#define MOST_SOUGHT_SITES 64u

/* Reserves memory, once. False if there is none. */
bool sought_start(void);

size_t sought_footprint(void);

/*
 * Chooses the live samples of these sites, as many of each at most as there is room for. Returns how many were left
 * out.
 */
uint32_t sought_choose(const uint32_t *sites, uint32_t count);

uint32_t sought_count(void);

/* Adds up what words point at; they were at this address. */
void sought_compare(const uintptr_t *words, size_t count, uintptr_t address);

/* Notes which of the objects are no longer live. */
void sought_mark_freed(void);

/* Writes a row for each; returns how many. */
uint32_t sought_copy(struct mallometer_sought *rows, uint32_t capacity);

#endif
