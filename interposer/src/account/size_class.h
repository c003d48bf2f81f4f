/*
 * The size class of a request: powers of two from 1 byte to 4 MiB, upper bounds included, the last class open. One bit
 * scan and no table: 2 * size - 1 has its highest bit at 0 for 1 byte, at 5 for 17 to 32 bytes, at 6 for 33 to 64. Zero
 * bytes belong to the first class. Public figures merge the classes up to 16 bytes (totals.c).
 *
 * The fast path needs only this number of a request, so it keeps it across the allocator's call, and sums it.
 */
#ifndef MALLOMETER_ACCOUNT_SIZE_CLASS_H
#define MALLOMETER_ACCOUNT_SIZE_CLASS_H

#include <stddef.h>

#include "mallometer.h"
#include "platform/arch.h"

/* The classes that form the first one of MALLOMETER_SIZE_CLASSES. */
#define FIRST_CLASSES 5u
#define SIZE_CLASSES (FIRST_CLASSES - 1 + MALLOMETER_SIZE_CLASSES)

/* Returns 2 * size - 1, modulo 2^64: for 0 bytes the largest number. */
static inline size_t doubled_size(size_t size) { return 2 * size - 1; }
static inline size_t size_of_doubled(size_t doubled) { return doubled / 2 + 1; }

/* Returns the class of a request from 1 byte to 8 MiB. */
static inline size_t size_class_of_doubled(size_t doubled) { return highest_bit(doubled); }

static inline size_t size_class(size_t size) {
  size_t index = size ? size_class_of_doubled(doubled_size(size)) : 0;
  return index < SIZE_CLASSES ? index : SIZE_CLASSES - 1;
}

#endif
