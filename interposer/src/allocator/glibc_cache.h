/*
 * What lies free in threads' caches (glibc's "tcache"), and the caches themselves, which glibc takes for in use when it
 * is asked. It allocates and frees the caches past every function that a program could call.
 *
 * The cache is reached by a pointer in the C library's thread-local variables that has no name. It is found by what it
 * does: it leads to a chunk of the size of a cache, in which one number changes by two when two objects of a size are
 * freed. Up to glibc 2.41 the numbers are those of objects in the cache; from 2.42 on those of free places.
 */
#ifndef MALLOMETER_ALLOCATOR_GLIBC_CACHE_H
#define MALLOMETER_ALLOCATOR_GLIBC_CACHE_H

#include <stdbool.h>
#include <stdint.h>

/* Once; glibc serves. Allocates, frees and enters the loader. False if it is not found: then nothing is told. */
bool glibc_cache_find(void);

/* Bytes of its chunks, its own included. Neither allocates nor locks. 0 for a thread that has none yet, or if it was
 * not found. */
uint64_t glibc_cache_bytes(void);

/*
 * Those of all threads, read while they run. The kernel tells each thread's list of robust locks, which lies at the
 * same place of each thread's description as the calling thread's does; from there a cache is found as the own one.
 * Memory that is gone by then is read as such. One thread at a time.
 *
 * Open: false if the own thread cannot be read so, or there are too many threads; then there is nothing to close.
 */
bool glibc_caches_open(void);
void glibc_caches_close(void);

/* Notes what the caches hold. */
void glibc_caches_note(void);

/* Reads again. Bytes of all their chunks, and by how much the caches changed since they were noted. */
void glibc_caches_compare(uint64_t *bytes, uint64_t *change);

/* What a cache has at most, unless a tunable (glibc.malloc.tcache_count) lets it have more. */
#define GLIBC_CACHE_MOST_BYTES ((uint64_t)7 * (64 * 32 + 16 * (63 * 64 / 2)) + 784)

/* By how much one allocation changes it at most: it may fill a bin with what it finds in the arena. */
#define GLIBC_CACHE_CHANGE_BYTES ((uint64_t)7 * 1040)

#endif
