/* Searches and sorts tables without other memory; the C library's qsort(3) may call malloc. */
#ifndef MALLOMETER_PLATFORM_SORTED_H
#define MALLOMETER_PLATFORM_SORTED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* Returns how many rows have a key of at most `key`. The rows are sorted by their keys: each row begins with its key,
 * an unsigned number or address of 64 bits. */
static inline size_t rows_up_to(const void *rows, size_t count, size_t row_bytes, uint64_t key) {
  size_t low = 0, high = count;
  while (low < high) {
    size_t middle = low + (high - low) / 2;
    uint64_t number;
    memcpy(&number, (const char *)rows + middle * row_bytes, sizeof number);
    if (number <= key) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

/* Shell's sort with Knuth's gaps. `row` has room for one row. */
static inline void sort_rows(void *rows, size_t count, size_t row_bytes, void *row,
                             bool (*is_before)(const void *one, const void *other)) {
  char *bytes = rows;
  size_t gap = 1;
  while (gap < count / 3) gap = 3 * gap + 1;
  for (; gap > 0; gap /= 3) {
    for (size_t i = gap; i < count; i++) {
      size_t at = i;
      memcpy(row, bytes + i * row_bytes, row_bytes);
      for (; at >= gap && is_before(row, bytes + (at - gap) * row_bytes); at -= gap) {
        memcpy(bytes + at * row_bytes, bytes + (at - gap) * row_bytes, row_bytes);
      }
      memcpy(bytes + at * row_bytes, row, row_bytes);
    }
  }
}

#endif
