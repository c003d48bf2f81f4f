/*
 * The size class of a request. The classes' upper bounds are the powers of two from 1 byte to 4 MiB; the last class has
 * no bound. The class is the position of the highest bit of 2 * size - 1, for example 5 for 17 to 32 bytes. A request
 * of 0 bytes belongs to the first class. Public figures merge the classes up to 16 bytes (totals.c).
 *
 * The fast path keeps only 2 * size - 1 across the allocator's call. It adds this number to `requested_doubled`, so it
 * does not need the size itself.
 */
#ifndef MALLOMETER_ACCOUNT_SIZE_CLASS_H
#define MALLOMETER_ACCOUNT_SIZE_CLASS_H

#include <stddef.h>

#include "mallometer.h"
#include "platform/arch.h"

/* Public figures merge the first FIRST_CLASSES classes into one, so that MALLOMETER_SIZE_CLASSES classes remain. */
#define FIRST_CLASSES 5u
#define SIZE_CLASSES (FIRST_CLASSES - 1 + MALLOMETER_SIZE_CLASSES)

/* Computes modulo 2^64, so that 0 bytes give the largest number. */
static inline size_t doubled_size(size_t size) { return 2 * size - 1; }
static inline size_t size_of_doubled(size_t doubled) { return doubled / 2 + 1; }

/* Returns the class of a request of 1 byte to 8 MiB, given its doubled_size(). */
static inline size_t size_class_of_doubled(size_t doubled) { return highest_bit(doubled); }

static inline size_t size_class(size_t size) {
  size_t index = size ? size_class_of_doubled(doubled_size(size)) : 0;
  return index < SIZE_CLASSES ? index : SIZE_CLASSES - 1;
}

#endif
