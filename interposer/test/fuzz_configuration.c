/*
 * Reads the configuration from random environments. No input may make the library read or write out of bounds, and
 * each must yield a valid configuration. With clang this is a fuzzer (libFuzzer). Otherwise the driver below mutates
 * valid environments; its first argument is the number of rounds.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "account/thread_block.h"
#include "control/configuration.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The input is a sequence of strings: an executable's path, then the environment. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  enum { ENTRIES = 32 };
  char *copies[ENTRIES + 1] = {0};
  size_t count = 0, begin = 0;
  for (size_t i = 0; i <= size && count < ENTRIES; i++) {
    if (i < size && data[i] != 0) continue;
    /* The memory is as long as the string, so that a sanitizer notices an access beyond its end. */
    char *copy = malloc(i - begin + 1);
    if (!copy) abort();
    if (i > begin) memcpy(copy, data + begin, i - begin);
    copy[i - begin] = 0;
    copies[count++] = copy;
    begin = i + 1;
  }
  struct configuration c = configuration_read(copies + (count > 0), count > 0 ? copies[0] : NULL);
  if (c.huge_threshold < LARGEST_FAST_REQUEST || c.huge_threshold > PTRDIFF_MAX) abort();
  if (c.sample_interval > PTRDIFF_MAX) abort();
  if (c.recording && (!*c.recording || strlen(c.recording) > 700)) abort();
  if (c.arena_bytes > PTRDIFF_MAX || c.leaks > LEAKS_WANTED_BY_CLEAR_REFS) abort();
  if (c.log < LOG_OFF || c.log > LOG_INFO) abort();
  for (size_t i = 0; i < count; i++) free(copies[i]);
  return 0;
}

#ifndef LIBFUZZER

static uint64_t state = 88172645463325252u;

static size_t random_below(size_t end) {
  state ^= state << 13;
  state ^= state >> 7;
  state ^= state << 17;
  return (size_t)(state % end);
}

static const char *const names[] = {"MALLOMETER_ENABLED",
                                    "MALLOMETER_ACCOUNTING",
                                    "MALLOMETER_HUGE",
                                    "MALLOMETER_SAMPLE_INTERVAL",
                                    "MALLOMETER_ONLY",
                                    "MALLOMETER_RECORDING",
                                    "MALLOMETER_LOG",
                                    "MALLOMETER",
                                    "LD_PRELOAD",
                                    "MALLOMETER_LEAKS",
                                    "MALLOMETER_ARENA_BYTES",
                                    ""};
static const char *const values[] = {
    "true",         "no",   "usable", "header",      "64m",       "1GiB", "32k",   "18446744073709551615",
    "17179869184g", "0x10", "-1",     "java,javac,", ",,,",       "info", "off",   "99999999999999999999999",
    "clear_refs",   "0",    "16m",    "on",          "16777216t", "4kB",  "4kiBB", ""};

static size_t append(uint8_t *data, size_t used, size_t capacity, const char *text) {
  size_t length = strlen(text);
  if (length > capacity - used) length = capacity - used;
  memcpy(data + used, text, length);
  return used + length;
}

#define PICK(list) list[random_below(sizeof list / sizeof *list)]

int main(int argc, char **argv) {
  long rounds = argc > 1 ? atol(argv[1]) : 100000;
  uint8_t data[4096];
  for (long round = 0; round < rounds; round++) {
    size_t used = append(data, 0, 100, random_below(2) ? "/usr/bin/java" : "java");
    for (size_t entries = random_below(8); entries > 0 && used < 2000; entries--) {
      data[used++] = 0;
      used = append(data, used, 2000, PICK(names));
      data[used++] = random_below(20) ? '=' : (uint8_t)random_below(256);
      for (size_t parts = random_below(40) ? 1 : random_below(60); parts > 0; parts--) {
        used = append(data, used, 2000, PICK(values));
      }
    }
    for (size_t mutations = random_below(6); mutations > 0; mutations--) {
      data[random_below(used)] = (uint8_t)random_below(256);
    }
    LLVMFuzzerTestOneInput(data, used);
  }
  printf("%ld rounds\n", rounds);
  return 0;
}

#endif
