/*
 * glibc's own allocator: how it is recognized, what stands in front of its objects, what it says of itself, and its
 * trim. A C library whose allocator tells other things, or nothing, differs here.
 */
#ifndef MALLOMETER_ALLOCATOR_GLIBC_H
#define MALLOMETER_ALLOCATOR_GLIBC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "mallometer.h"

/* Whether malloc is glibc's own. The next allocator was found. Enters the loader. */
bool glibc_serves(void);

/* Writes "glibc 2.36", for example. It serves. */
void glibc_name(char *name, size_t capacity);

/* ---- Chunks ------------------------------------------------------------------------------------------- */

/*
 * Whether the size word of glibc's chunks may be read in place of calling malloc_usable_size. True only if malloc is
 * glibc's own and a few objects, a singly mapped one among them, agree; false under checking or replaced allocators,
 * and where memory is tagged. Allocates and frees.
 */
bool glibc_chunks_are_readable(void);

/*
 * Usable size of a glibc object: the chunk's size without its flag bits, less the size word itself. Before glibc 2.43 8
 * bytes more than malloc_usable_size for a chunk that is mapped singly; it never changes while the object lives.
 */
static inline size_t glibc_usable_size(const void *object) {
  return (((const size_t *)object)[-1] & ~(size_t)7) - sizeof(size_t);
}

/* The flag in the size word of a chunk that glibc has mapped singly. */
#define GLIBC_IS_MAPPED 2u

/*
 * Writes what glibc has in front of an object that it has mapped singly: at `offset`, a power of two from 16 on, of
 * `bytes` in whole pages from `begin` on. Its free unmaps them then, and its realloc moves or remaps them; from glibc
 * 2.43 on it moves all but the last 8 bytes. Chunks were found to be readable.
 */
void glibc_write_mapped_chunk(uintptr_t begin, size_t offset, size_t bytes);

/* How many bytes its pages have, by what stands in front of it; 0 if that is not of this kind. */
size_t glibc_mapped_bytes(const void *object, size_t offset);

/*
 * Frees an object of ours, or one that has moved. glibc takes the free of an object that it has mapped singly for a
 * sign that the program frees such ones, and has the next from its heap, where freed memory may stay. From one of a
 * page it learns nothing.
 */
void glibc_free_unnoticed(void *object);

/* ---- Figures and trimming: after glibc_find() ---------------------------------------------------------- */

/* Looks the functions up. It serves. Enters the loader; once, before the process has threads. */
void glibc_find(void);

/*
 * Bytes of all chunks that are in use, their size words included; what lies in threads' caches counts as in use. Takes
 * the lock of one arena after the other for some 0.3 us for each free chunk. False if it is not told.
 */
bool glibc_bytes_in_use(uint64_t *bytes);

/* As allocator_figures() and allocator_trim(). */
int glibc_figures(struct mallometer_allocator_state *out, struct mallometer_arena *arenas, uint32_t capacity);
int glibc_trim(void);

#endif
