/* Assertions that print the expected and the found value and end the program if they fail. */
#ifndef MALLOMETER_TEST_SO_H
#define MALLOMETER_TEST_SO_H

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#define CHECK(condition)                                                      \
  do {                                                                        \
    if (!(condition)) {                                                       \
      fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #condition); \
      exit(1);                                                                \
    }                                                                         \
  } while (0)

#define CHECK_EQUAL(actual, expected)                                                                       \
  do {                                                                                                      \
    int64_t actual_value = (int64_t)(actual), expected_value = (int64_t)(expected);                         \
    if (actual_value != expected_value) {                                                                   \
      fprintf(stderr, "%s:%d: %s is %" PRId64 ", expected %" PRId64 " (%s)\n", __FILE__, __LINE__, #actual, \
              actual_value, expected_value, #expected);                                                     \
      exit(1);                                                                                              \
    }                                                                                                       \
  } while (0)

#endif
