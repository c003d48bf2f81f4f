/*
 * Included before each file of the logic: before each atomic load and each compare-and-exchange is a point at which
 * another thread can act (given.h), and the calls that still reach the kernel directly are answered by arrays.
 */
#ifndef MALLOMETER_TEST_PLATFORM_INTERRUPT_H
#define MALLOMETER_TEST_PLATFORM_INTERRUPT_H

#include <sys/mman.h>
#include <unistd.h>

void point_of_interruption(void);

#define __atomic_load_n(...) (point_of_interruption(), __atomic_load_n(__VA_ARGS__))
#define __atomic_compare_exchange_n(...) (point_of_interruption(), __atomic_compare_exchange_n(__VA_ARGS__))

void *given_mmap(void *address, size_t bytes, int protection, int flags, int file, off_t offset);
int given_munmap(void *address, size_t bytes);
int given_mprotect(void *address, size_t bytes, int protection);
int given_madvise(void *address, size_t bytes, int advice);
int given_munlock(const void *address, size_t bytes);
int given_page_size(void);
void *given_sbrk(intptr_t increment);

#define mmap given_mmap
#define munmap given_munmap
#define mprotect given_mprotect
#define madvise given_madvise
#define munlock given_munlock
#define getpagesize given_page_size
#define sbrk given_sbrk

#endif
