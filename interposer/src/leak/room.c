/* See room.h. */
#include "leak/room.h"

#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdlib.h>
#include <unistd.h>

#include "leak/slots.h"
#include "platform/clock.h"
#include "platform/kernel.h"
#include "platform/memory.h"

#define USUAL_MAPPINGS 65530u
#ifndef MOST_MAPPINGS /* tests build a library that takes fewer for all there are */
#define MOST_MAPPINGS ULONG_MAX
#endif
#define MAPPINGS_OF_A_SLOT 2u

static bool crowded;
static uint64_t due_ns;

/* ULONG_MAX if nobody tells. */
static unsigned long count_mappings(void) {
  static char text[16384];
  unsigned long lines = 0;
  ssize_t length;
  int file = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
  if (file < 0) return ULONG_MAX;
  while ((length = read(file, text, sizeof text)) > 0) {
    for (ssize_t i = 0; i < length; i++) lines += text[i] == '\n';
  }
  close(file);
  return length < 0 ? ULONG_MAX : lines;
}

static unsigned long most_mappings(void) {
  char text[32];
  size_t told = kernel_text("/proc/sys/vm/max_map_count", text, sizeof text);
  unsigned long most = told ? strtoul(text, NULL, 10) : USUAL_MAPPINGS;
  return most < MOST_MAPPINGS ? most : MOST_MAPPINGS;
}

static void bound_slots(unsigned long most, unsigned long there) {
  unsigned long for_slots = most / 2 > there ? (most / 2 - there) / MAPPINGS_OF_A_SLOT : 0;
  unsigned long opened = slots_totals().opened;
  slots_bound(opened + for_slots < SLOTS ? (uint32_t)(opened + for_slots) : SLOTS);
}

static void count_if_due(uint32_t times_cost) {
  if (monotonic_ns() < due_ns) return;
  uint64_t begin = clock_ns(CLOCK_THREAD_CPUTIME_ID);
  unsigned long there = count_mappings(), most = most_mappings();
  due_ns = monotonic_ns() + times_cost * (clock_ns(CLOCK_THREAD_CPUTIME_ID) - begin);
  if (there != ULONG_MAX) crowded = there > most / 4 * (crowded ? 2 : 3);
  bound_slots(most, there);
}

const char *room_look(uint32_t times_cost) {
  count_if_due(times_cost);
  if (memory_is_locked()) return "the process locks its memory (mlockall): no objects are put into slots until munlockall";
  if (!crowded) return NULL;
  slots_merge(); /* a locked process would have them locked, too, and resident */
  return "the process has most of the mappings it may have (vm.max_map_count): no objects are put into slots until it has less than half";
}
