/* Tests the reading of the JVM's counters of garbage collections from its performance memory. The test supplies this
 * memory: valid, damaged, truncated, or in another format. */
#include <stdint.h>
#include <string.h>

#include "jvm/perf_memory.h"
#include "platform/given.h"
#include "sample/collections.h"

enum { ROOM = 1024, FIRST_ENTRY = 32, NAME = 20 };

/* The performance memory. The union aligns it for 64-bit counters. */
static union {
  char bytes[ROOM];
  int64_t words[ROOM / sizeof(int64_t)];
} memory;
static int32_t used, entries;
static struct collection_counters counters;
static bool generational;

static void set32(int32_t at, int32_t value) { memcpy(memory.bytes + at, &value, sizeof value); }

static void begin(void) {
  memset(&memory, 0, sizeof memory);
  memory.bytes[0] = (char)0xca, memory.bytes[1] = (char)0xfe;
  memory.bytes[2] = (char)0xc0, memory.bytes[3] = (char)0xc0;
  used = FIRST_ENTRY;
  entries = 0;
  set32(24, FIRST_ENTRY);
}

/* Adds an entry, padded to whole words. Returns the offset of its data. */
static int32_t add(const char *name, const void *data, size_t bytes) {
  int32_t data_at = (int32_t)((NAME + strlen(name) + 1 + 7) / 8 * 8), length = data_at + (int32_t)((bytes + 7) / 8 * 8);
  set32(used, length);
  set32(used + 4, NAME);
  set32(used + 16, data_at);
  memcpy(memory.bytes + used + NAME, name, strlen(name));
  memcpy(memory.bytes + used + data_at, data, bytes);
  int32_t place = used + data_at;
  used += length;
  set32(8, used);
  set32(28, ++entries);
  return place;
}

static void add_count(const char *name, int64_t count) { add(name, &count, sizeof count); }

static void of_g1(void) {
  begin();
  add_count("sun.rt.other", 99);
  add_count("sun.gc.collector.0.invocations", 7);
  add_count("sun.gc.collector.1.invocations", 1);
  add_count("sun.gc.collector.2.invocations", 6);
  add("sun.gc.collector.2.name", "G1 concurrent cycle pauses", 27);
}

static const char *found(size_t bytes) {
  counters = (struct collection_counters){0};
  return perf_memory_find(memory.bytes, bytes, &counters, &generational);
}

CASE(finds_the_counters) {
  of_g1();
  CHECK_EQUAL(strlen(found(ROOM)), 0);
  CHECK(*counters.young == 7 && *counters.full == 1 && *counters.pauses == 6);
  CHECK(counters.pauses_in_cycle == 2 && !generational);
}

CASE(knows_generational_zgc) {
  begin();
  add_count("sun.gc.collector.2.invocations", 10);
  add("sun.gc.collector.2.name", "ZGC major collection pauses", 28);
  CHECK_EQUAL(strlen(found(ROOM)), 0);
  CHECK(generational && counters.pauses_in_cycle == 5 && !counters.young && !counters.full);
}

CASE(refuses_memory_of_another_format) {
  of_g1();
  CHECK(strstr(found(16), "unknown format"));
  CHECK(strstr(found((size_t)used - 1), "unknown format"));
  memory.bytes[0] = 0;
  CHECK(strstr(found(ROOM), "unknown format"));
  of_g1();
  set32(24, -8); /* places the first entry before the memory */
  CHECK(strstr(found(ROOM), "unknown format"));
}

CASE(refuses_a_collector_that_it_does_not_know) {
  begin();
  add_count("sun.gc.collector.0.invocations", 3);
  CHECK(strstr(found(ROOM), "not counted"));
  add("sun.gc.collector.0.name", "Shenandoah pauses", 18);
  add_count("sun.gc.collector.2.invocations", 3);
  CHECK(strstr(found(ROOM), "not counted"));
}

CASE(reads_no_word_outside_of_damaged_memory) {
  static const int32_t wrong[] = {0, 1, -1, INT32_MAX, INT32_MIN, ROOM, 4, 1 << 16};
  of_g1();
  int32_t end = used;
  for (int32_t at = 0; at < end; at += 4) {
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
      of_g1();
      set32(at, wrong[i]);
      found((size_t)end);
      const volatile int64_t *all[] = {counters.young, counters.full, counters.pauses};
      for (int j = 0; j < 3; j++) {
        uintptr_t word = (uintptr_t)all[j], first = (uintptr_t)&memory;
        CHECK(word == 0 || (word >= first && word + sizeof(int64_t) <= first + (uintptr_t)end && word % 8 == 0));
      }
    }
  }
}

/* A concurrent cycle of G1 has two pauses. A full collection between them aborts the cycle, so the next pause begins
 * a new cycle. */
CASE(counts_each_cycle_of_g1_once) {
  static int64_t full, pauses;
  static const struct collection_counters of_jvm = {NULL, &full, &pauses, PAUSES_OF_G1};
  collections_set(&of_jvm);
  CHECK_EQUAL(collections_now().old, 0);
  pauses = 1;
  CHECK_EQUAL(collections_now().old, 1);
  full = 1;
  CHECK_EQUAL(collections_now().old, 2);
  pauses = 2;
  CHECK_EQUAL(collections_now().old, 3);
  pauses = 3;
  CHECK_EQUAL(collections_now().old, 3);
  full = 2;
  CHECK_EQUAL(collections_now().old, 4);
  pauses = 4;
  CHECK_EQUAL(collections_now().old, 5);
  collections_set(NULL);
}

CASE(only_g1_leaves_what_is_allocated_before_a_collection_is_counted) {
  static int64_t full = 20, pauses = 1;
  static const struct collection_counters g1 = {NULL, &full, &pauses, PAUSES_OF_G1};
  static const struct collection_counters zgc = {NULL, NULL, &pauses, PAUSES_OF_G1 + 1};
  static const struct collection_counters serial = {NULL, &full, NULL, PAUSES_OF_G1};
  given_monotonic_ns = 10000000000u;
  collections_set(&g1);
  CHECK_EQUAL(collections_now().old, 21);
  CHECK(collections_mark_first());
  CHECK(allocated_while_marking(9000000000u, 21) && !allocated_while_marking(7000000000u, 21));
  collections_set(&zgc);
  CHECK(!collections_mark_first() && !allocated_while_marking(9000000000u, 21));
  collections_set(&serial);
  CHECK(!collections_mark_first() && !allocated_while_marking(9000000000u, 21));
  collections_set(NULL);
  CHECK(!collections_mark_first());
}

int main(void) {
  RUN(counts_each_cycle_of_g1_once);
  RUN(only_g1_leaves_what_is_allocated_before_a_collection_is_counted);
  RUN(finds_the_counters);
  RUN(knows_generational_zgc);
  RUN(refuses_memory_of_another_format);
  RUN(refuses_a_collector_that_it_does_not_know);
  RUN(reads_no_word_outside_of_damaged_memory);
  return 0;
}
