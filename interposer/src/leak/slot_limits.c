/* Counts the process's mappings now and then, and gives back the mappings of free slots. See slot_limits.h. */
#include "leak/slot_limits.h"

#include <stdbool.h>
#include <stddef.h>

#include "leak/slots.h"
#include "platform/clock.h"
#include "platform/memory.h"
#include "platform/page_use.h"

#ifndef MOST_MAPPINGS /* tests build a library with a lower limit */
#define MOST_MAPPINGS SIZE_MAX
#endif
#define MAPPINGS_OF_A_SLOT 2u

static bool crowded;
static uint64_t due_ns;

static size_t most_mappings(void) {
  size_t most = mappings_most();
  return most < MOST_MAPPINGS ? most : MOST_MAPPINGS;
}

static void bound_slots(size_t most, size_t there) {
  size_t for_slots = most / 2 > there ? (most / 2 - there) / MAPPINGS_OF_A_SLOT : 0;
  size_t apart = slots_totals().apart;
  slots_bound(apart + for_slots < SLOTS ? (uint32_t)(apart + for_slots) : SLOTS);
}

static void count_if_due(uint32_t times_cost) {
  if (monotonic_ns() < due_ns) return;
  uint64_t begin = thread_cpu_ns();
  size_t there = mappings_count(), most = most_mappings();
  due_ns = monotonic_ns() + times_cost * (thread_cpu_ns() - begin);
  if (there != SIZE_MAX) crowded = there > most / 4 * (crowded ? 2 : 3);
  bound_slots(most, there);
}

const char *slot_limits_check(uint32_t times_cost) {
  count_if_due(times_cost);
  if (memory_is_locked()) {
    return "the process locks its memory (mlockall): no further objects are observed until munlockall";
  }
  if (!crowded) return NULL;
  slots_merge(); /* This must not happen while memory is locked: the merged pages would become resident. */
  return "the process has most of the mappings it may have (vm.max_map_count): no further objects are observed until "
         "it has less than half";
}
