/*
 * An array of the caller's, into which the functions of mallometer.h copy rows. The caller says how long its rows are:
 * a row is cut to that size, or filled up with zeros.
 */
#ifndef MALLOMETER_PLATFORM_ROWS_H
#define MALLOMETER_PLATFORM_ROWS_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct rows {
  void *first;
  uint32_t row_bytes;
  uint32_t capacity;
};

/* Writes row `index`, which is below the capacity. */
static inline void rows_write(const struct rows *rows, uint32_t index, const void *row, size_t row_bytes) {
  unsigned char *to = (unsigned char *)rows->first + (size_t)index * rows->row_bytes;
  size_t known = rows->row_bytes < row_bytes ? rows->row_bytes : row_bytes;
  memcpy(to, row, known);
  memset(to + known, 0, rows->row_bytes - known);
}

#endif
