/* Reads the memory of HotSpot's counters: its prologue, then entries of variable length. See perf_memory.h. */
#include "jvm/perf_memory.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

struct prologue {
  uint32_t magic;
  uint8_t byte_order, major, minor, accessible;
  int32_t used, overflow;
  int64_t modified;
  int32_t first_entry, entries;
};

struct entry {
  int32_t length, name, vector_length;
  uint8_t type, flags, unit, variability;
  int32_t data;
};

enum { MOST_ENTRIES = 10000, LONGEST_NAME = 64 };

struct counters_memory {
  const char *start;
  int64_t used;
  struct prologue prologue;
};

static bool has_format(struct counters_memory *memory, size_t bytes) {
  if (bytes < sizeof memory->prologue) return false;
  memcpy(&memory->prologue, memory->start, sizeof memory->prologue);
  memory->used = memory->prologue.used;
  if (memory->used > (int64_t)bytes) return false;
  /* The magic number is written with its most significant byte first, whatever the byte order. */
  return __builtin_bswap32(memory->prologue.magic) == 0xcafec0c0u &&
         memory->prologue.first_entry >= (int32_t)sizeof(struct prologue);
}

static const char *counter_named(const struct counters_memory *memory, const char *name, int64_t bytes) {
  int64_t at = memory->prologue.first_entry;
  for (int32_t i = 0; i < memory->prologue.entries && i < MOST_ENTRIES; i++) {
    struct entry entry;
    if (at + (int64_t)sizeof entry > memory->used) return NULL;
    memcpy(&entry, memory->start + at, sizeof entry);
    int64_t rest = memory->used - at, size = (int64_t)strlen(name) + 1;
    if (entry.length <= 0 || entry.length > rest) return NULL;
    bool has_name = entry.name > 0 && entry.name + size <= entry.length;
    if (has_name && memcmp(memory->start + at + entry.name, name, (size_t)size) == 0) {
      return entry.data > 0 && entry.data + bytes <= entry.length ? memory->start + at + entry.data : NULL;
    }
    at += entry.length;
  }
  return NULL;
}

static const char *of_collector(const struct counters_memory *memory, int number, const char *what, int64_t bytes) {
  char name[LONGEST_NAME];
  snprintf(name, sizeof name, "sun.gc.collector.%d.%s", number, what);
  return counter_named(memory, name, bytes);
}

static const volatile int64_t *invocations(const struct counters_memory *memory, int number) {
  const char *found = of_collector(memory, number, "invocations", sizeof(int64_t));
  return (uintptr_t)found % sizeof(int64_t) == 0 ? (const volatile int64_t *)(const void *)found : NULL;
}

static bool is_named(const struct counters_memory *memory, int number, const char *begin) {
  const char *name = of_collector(memory, number, "name", (int64_t)strlen(begin));
  return name && memcmp(name, begin, strlen(begin)) == 0;
}

const char *perf_memory_find(const char *start, size_t bytes, struct collection_counters *counters,
                             bool *generational) {
  struct counters_memory memory = {.start = start};
  if (!has_format(&memory, bytes)) return "the JVM's counters of collections have an unknown format";
  counters->young = invocations(&memory, 0);
  counters->full = invocations(&memory, 1);
  counters->pauses = invocations(&memory, 2);
  /* ZGC pauses three times in a cycle, and generational ZGC five times. */
  *generational = is_named(&memory, 2, "ZGC major");
  counters->pauses_in_cycle = *generational ? 5 : is_named(&memory, 2, "Z") ? 3 : PAUSES_OF_G1;
  bool is_known = counters->full || counters->pauses;
  bool has_one_kind = is_named(&memory, 0, "Shenandoah") || is_named(&memory, 2, "Shenandoah");
  return is_known && !has_one_kind ? "" : "collections of this collector are not counted";
}
