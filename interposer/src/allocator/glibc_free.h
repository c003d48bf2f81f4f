/*
 * Free chunks of glibc's heaps, recognized in copies of memory without any lock. The search for lost memory skips free
 * chunks, because their old content may still look like addresses.
 *
 * A free chunk that is too large for the lists of small chunks is in a doubly linked list. Its neighbours in the list
 * point back to it, and the next chunk in memory states that the chunk is free and how long it is. glibc corrects both
 * before it hands out the memory. Therefore the remains of a free chunk in a live object are not mistaken for a free
 * chunk.
 */
#ifndef MALLOMETER_ALLOCATOR_GLIBC_FREE_H
#define MALLOMETER_ALLOCATOR_GLIBC_FREE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "platform/resident_memory.h"

/* `begin` is a multiple of 16. The next chunk begins at `end`. */
struct free_chunk {
  uintptr_t begin, end;
};

/* Returns whether chunks of glibc's heaps may be at an address in a mapping from `begin` to `end`. Chunks lie below
 * the break and in heaps of arenas, which begin at multiples of 64 MiB and state their length. */
bool glibc_has_chunks_at(enum memory_copying by, uintptr_t address, uintptr_t begin, uintptr_t end);

bool glibc_chunk_is_free(enum memory_copying by, const struct free_chunk *chunk);

/* Finds the first free chunk that begins in the memory at `address`. `words` is the caller's copy of that memory, of
 * `count` words. Returns false if there is none. */
bool glibc_free_chunk_in(enum memory_copying by, const uintptr_t *words, size_t count, uintptr_t address,
                         struct free_chunk *chunk);

#endif
