/*
 * The size class of a request: powers of two from 16 bytes to 4 MiB, upper bounds included, the last class open.
 * One bit scan and no table: for 17..32 bytes, (size - 1) | 15 has its highest bit at 4, for 33..64 at 5. Zero
 * bytes belong to the first class.
 */
#ifndef MALLOMETER_ACCOUNT_SIZE_CLASS_H
#define MALLOMETER_ACCOUNT_SIZE_CLASS_H

#include <stddef.h>

#include "mallometer.h"

/* Position of the highest bit. The builtin is an int, whose widening costs two instructions on every event. */
static inline size_t highest_bit(size_t nonzero) {
#if defined(__x86_64__)
  size_t position;
  __asm__("bsrq %1, %0" : "=r"(position) : "r"(nonzero) : "cc");
  return position;
#else
  return 63u - (size_t)__builtin_clzll(nonzero);
#endif
}

/* Right from 1 byte to 8 MiB. */
static inline size_t size_class_of_usual(size_t size) { return highest_bit((size - 1) | 15) - 3; }

static inline size_t size_class(size_t size) {
  size_t index = size_class_of_usual(size + (size == 0));
  return index < MALLOMETER_SIZE_CLASSES ? index : MALLOMETER_SIZE_CLASSES - 1;
}

#endif
