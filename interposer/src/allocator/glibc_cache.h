/*
 * Counts the bytes of the free objects in threads' caches (glibc's "tcache"), and of the caches themselves. glibc's
 * statistics count both as used. glibc allocates and frees the caches by internal calls, which no hook of malloc or
 * free sees.
 *
 * A thread-local pointer of the C library points to the cache, but has no symbol. The pointer is recognized by its
 * target: a chunk with the size of a cache, with an array of numbers. When two objects of one size are freed, one
 * number must change by two. Up to glibc 2.41 the numbers count objects in the cache; from 2.42 on, they count free
 * places.
 */
#ifndef MALLOMETER_ALLOCATOR_GLIBC_CACHE_H
#define MALLOMETER_ALLOCATOR_GLIBC_CACHE_H

#include <stdbool.h>
#include <stdint.h>

/* Finds where a thread has the pointer to its cache. May be called only if malloc is glibc's. Allocates, frees, and
 * enters the loader. If it returns false, glibc_cache_bytes() returns 0. */
bool glibc_cache_find(void);

/* Returns the bytes of the calling thread's cache and of its cached chunks. Returns 0 if the thread has no cache, or
 * if glibc_cache_find() did not find the pointer to the cache. Does not allocate or lock. */
uint64_t glibc_cache_bytes(void);

/*
 * Read the caches of all threads while they run. The pointer to a thread's cache lies at a fixed distance from the
 * thread's list of robust locks, whose address the kernel reports. Reading unmapped memory fails without a fault. Only
 * one thread may call these functions at a time.
 *
 * glibc_caches_open() returns false if the calling thread's cache cannot be read in this way, or if there is no memory
 * for the tables. glibc_caches_close() is then not needed.
 */
bool glibc_caches_open(void);
void glibc_caches_close(void);

void glibc_caches_note(void);

/* Reads the caches again. Sets `bytes` to the bytes of the caches and their chunks. Sets `change` to the sum of the
 * absolute changes of all caches and all their bins since glibc_caches_note(), in bytes. A cache that cannot be read
 * counts as a change of GLIBC_CACHE_MOST_BYTES, and so does the cache of each thread that has started since. */
void glibc_caches_compare(uint64_t *bytes, uint64_t *change);

/*
 * The most bytes of a cache, with 7 objects in each of 64 bins. A tunable (glibc.malloc.tcache_count) may allow more.
 */
#define GLIBC_CACHE_MOST_BYTES ((uint64_t)7 * (64 * 32 + 16 * (63 * 64 / 2)) + 784)

/* The most bytes by which one allocation changes a cache. An allocation may fill one bin with objects of the arena. */
#define GLIBC_CACHE_CHANGE_BYTES ((uint64_t)7 * 1040)

#endif
