/*
 * glibc's own allocator: how it is recognized, the words before its objects, its statistics, and its trim. Another
 * C library needs other definitions of these functions.
 */
#ifndef MALLOMETER_ALLOCATOR_GLIBC_H
#define MALLOMETER_ALLOCATOR_GLIBC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "mallometer.h"

/* Returns whether malloc is glibc's own. The next allocator must be known. Enters the loader. */
bool glibc_serves(void);

/* Writes a name such as "glibc 2.36". Call this only if glibc_serves(). */
void glibc_name(char *name, size_t capacity);

/* ---- Chunks ------------------------------------------------------------------------------------------- */

/*
 * Returns whether the size word of glibc's chunks may be read instead of calling malloc_usable_size: malloc is glibc's
 * own, memory is not tagged, and the size words of a few objects, including one with its own mapping, are as expected.
 * Allocates and frees.
 */
bool glibc_chunks_are_readable(void);

/*
 * Returns the usable size of a glibc object: the chunk's size without its flag bits, less the size word itself. Before
 * glibc 2.43, the result exceeds malloc_usable_size by 8 bytes for an object with its own mapping. Constant while the
 * object lives.
 */
static inline size_t glibc_usable_size(const void *object) {
  return (((const size_t *)object)[-1] & ~(size_t)7) - sizeof(size_t);
}

/* The flag in the size word of a chunk with its own mapping. */
#define GLIBC_IS_MAPPED 2u

/*
 * Writes the words that glibc stores before an object with its own mapping, so that glibc's free unmaps the mapping.
 * The mapping begins at `begin` and is `bytes` long, a multiple of the page size. The object is at `offset` in the
 * mapping, a power of two of at least 16. glibc's realloc remaps the mapping or copies the object, from glibc 2.43 on
 * without the last 8 bytes. Call this only if chunks are readable.
 */
void glibc_write_mapped_chunk(uintptr_t begin, size_t offset, size_t bytes);

/* Returns the length of the mapping of an object that lies at `offset` in a mapping of its own, as the words before the
 * object state it; 0 for another kind of object. */
size_t glibc_mapped_bytes(const void *object, size_t offset);

/*
 * Frees an object that this library has allocated or moved, without a change of glibc's threshold for mapped objects.
 * After the free of an object with its own mapping, glibc allocates objects of that size in its heap, where freed
 * memory may stay. Such an object is therefore first shrunk to one page, whose free does not change glibc's threshold.
 */
void glibc_free_unnoticed(void *object);

/* ---- Figures and trimming; call glibc_find() first ----------------------------------------------------- */

/* Looks up the functions of glibc that the functions below call. Enters the loader; call this once, before the process
 * has threads, and only if glibc_serves(). */
void glibc_find(void);

/*
 * Reads the bytes of all used chunks, including their size words and the objects in threads' caches. Takes the lock of
 * one arena after the other, for some 0.3 us for each free chunk. Returns false if glibc does not report them.
 */
bool glibc_bytes_in_use(uint64_t *bytes);

/* Do the work of allocator_figures() and allocator_trim() for glibc. */
int glibc_figures(struct mallometer_allocator_state *out, struct mallometer_arena *arenas, uint32_t capacity);
int glibc_trim(void);

#endif
