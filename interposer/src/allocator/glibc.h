/* glibc's own allocator: how it is recognized, the words before its objects, its statistics, and its trim. */
#ifndef MALLOMETER_ALLOCATOR_GLIBC_H
#define MALLOMETER_ALLOCATOR_GLIBC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "mallometer.h"

/* Returns whether the process's malloc is glibc's own. May be called only if next_allocator_find() has returned
 * true. Enters the loader. */
bool glibc_serves(void);

/* Writes a name such as "glibc 2.36". May be called only if glibc_serves(). */
void glibc_name(char *name, size_t capacity);

/* ---- Chunks ------------------------------------------------------------------------------------------- */

/*
 * Returns whether the size word of glibc's chunks may be read instead of calling malloc_usable_size. malloc must be
 * glibc's own, memory must not be tagged, and the size words of a few objects must be as expected. Allocates and
 * frees.
 */
bool glibc_chunks_are_readable(void);

/*
 * Returns the usable size of a glibc object: the chunk's size without flag bits and size word. Before glibc 2.43,
 * this is 8 bytes more than malloc_usable_size for an object with its own mapping. It is constant while the object
 * lives.
 */
static inline size_t glibc_usable_size(const void *object) {
  return (((const size_t *)object)[-1] & ~(size_t)7) - sizeof(size_t);
}

/* The flag in the size word of a chunk with its own mapping. */
#define GLIBC_IS_MAPPED 2u

/*
 * Writes the words before an object that has a mapping of its own, so that glibc's free unmaps the mapping. `bytes` is
 * the length of the mapping, a multiple of the page size. `offset` is the distance from the mapping's beginning to the
 * object, a power of two of at least 16. From glibc 2.43 on, a realloc that copies the object does not copy its last 8
 * bytes. Call this only if glibc_chunks_are_readable().
 */
void glibc_write_mapped_chunk(uintptr_t begin, size_t offset, size_t bytes);

/* Returns the length of an object's own mapping, computed from the two words before the object. Returns 0 if the
 * object has no mapping of its own, or if the mapping does not begin `offset` bytes before the object. */
size_t glibc_mapped_bytes(const void *object, size_t offset);

/*
 * Frees an object that this library has allocated or moved. An object with its own mapping is first shrunk to one page,
 * because glibc's free of a larger mapping raises the mmap threshold, the size from which objects get their own
 * mappings.
 */
void glibc_free_unnoticed(void *object);

/* ---- Figures and trimming; call glibc_find() first ----------------------------------------------------- */

/* Looks up the functions that the functions below call. Enters the loader. Must be called once, before the process
 * has threads, and only if glibc_serves(). */
void glibc_find(void);

/* Reads the bytes of all used chunks, including size words and objects in threads' caches. Takes the lock of each
 * arena in turn, for some 0.3 us per free chunk. Returns false if glibc does not report the bytes. */
bool glibc_bytes_in_use(uint64_t *bytes);

int glibc_figures(struct mallometer_allocator_state *out, struct mallometer_arena *arenas, uint32_t capacity);
int glibc_trim(void);

#endif
