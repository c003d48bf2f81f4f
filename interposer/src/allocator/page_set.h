/*
 * A set of addresses that are multiples of the smallest page size. It has one bit for each such address, in a tree
 * that grows with the addresses: 512 bytes serve 16 MiB of addresses.
 *
 * The set needs no lock. Any thread may change and test the bits of its own objects. The tree's memory comes from the
 * next allocator and is never given back.
 */
#ifndef MALLOMETER_ALLOCATOR_PAGE_SET_H
#define MALLOMETER_ALLOCATOR_PAGE_SET_H

#include <stdbool.h>
#include <stdint.h>

#include "platform/readable_memory.h"

static inline bool is_page(const void *address) { return (uintptr_t)address % SMALLEST_PAGE == 0; }

/* Returns false if there is no memory, or if the address has more than 48 bits. An address that was in the set before
 * can always be added. */
bool page_set_add(const void *page);

void page_set_remove(const void *page);

bool page_set_contains(const void *page);

#endif
