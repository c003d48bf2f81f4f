/*
 * The size class of a request: powers of two from 16 bytes to 4 MiB, upper bounds included, the last class open.
 * One bit scan and no table: for 17..32 bytes, (size - 1) | 15 has its highest bit at 4, for 33..64 at 5. Zero
 * bytes belong to the first class.
 */
#ifndef MALLOMETER_ACCOUNT_SIZE_CLASS_H
#define MALLOMETER_ACCOUNT_SIZE_CLASS_H

#include <stddef.h>

#include "mallometer.h"
#include "platform/arch.h"

/* Right from 1 byte to 8 MiB. */
static inline size_t size_class_of_usual(size_t size) { return highest_bit((size - 1) | 15) - 3; }

static inline size_t size_class(size_t size) {
  size_t index = size_class_of_usual(size + (size == 0));
  return index < MALLOMETER_SIZE_CLASSES ? index : MALLOMETER_SIZE_CLASSES - 1;
}

#endif
