/*
 * Tests the peak of live bytes, which the library finds by adding the counters of all threads. The test interrupts
 * the addition, and meanwhile allocates and frees as another thread would. The peak must include all bytes that were
 * live at the same time, and no others.
 */
#include <string.h>

#include "account/totals.h"
#include "check.h"

/* Replaces counter_read() in totals.c by a function that may call `interruption` after its read. */
static uint64_t read_or_be_interrupted(const counter *c);
#define counter_read(c) read_or_be_interrupted(c)
#include "account/totals.c"
#undef counter_read

enum { BLOCKS = 12, MUCH = 1 << 30, CHURNED = 1 << 27 };

static struct thread_block blocks[BLOCKS];
struct event_counters shared_events;

uint32_t thread_block_count(void) { return BLOCKS; }

struct thread_block *thread_block_at(uint32_t index) {
  return &blocks[index];
}

static unsigned reads_until_interruption;
static void (*interruption)(void);

static uint64_t read_or_be_interrupted(const counter *c) {
  uint64_t value = counter_read(c);
  if (reads_until_interruption && --reads_until_interruption == 0) interruption();
  return value;
}

static void allocates(struct thread_block *block, int64_t bytes) {
  counter_add(&block->events.allocated_bytes, (uint64_t)bytes);
  if (!headroom_take(block, bytes)) peak_flush(block);
}

static void frees(struct thread_block *block, int64_t bytes) {
  headroom_give(block, bytes);
  counter_add(&block->events.freed_bytes, (uint64_t)bytes);
}

static void start_again(void) {
  memset(blocks, 0, sizeof blocks);
  memset(&shared_events, 0, sizeof shared_events);
  estimated_live = shared_flushed = 0;
  peak = 0;
}

static unsigned reads_of(void (*act)(void)) {
  start_again();
  interruption = NULL;
  reads_until_interruption = 1000000;
  act();
  return 1000000 - reads_until_interruption;
}

/* ---- Bytes that were never live at the same time ------------------------------------------------------- */

static void churns(void) {
  for (int i = 0; i < CHURNED / 8192; i++) {
    allocates(&blocks[1], 8192);
    frees(&blocks[1], 8192);
  }
}

static void churns_again(void) {
  churns();
  reads_until_interruption = 70; /* interrupts the addition again at the 70th read from here */
}

static void takes_a_snapshot(void) {
  struct mallometer_counters sum = {0};
  counter_add(&blocks[0].events.allocated_bytes, 1000);
  totals_raise_peak(&sum);
}

static void grows(void) { allocates(&blocks[0], 5000000); }

static void the_peak_is_never_what_was_freed_meanwhile(void (*act)(void), uint64_t lives, void (*meanwhile)(void)) {
  unsigned reads = reads_of(act);
  CHECK(reads > 50);
  for (unsigned read = 1; read <= reads; read += POINTS_APART) {
    start_again();
    interruption = meanwhile;
    reads_until_interruption = read;
    act();
    reads_until_interruption = 0;
    CHECK(peak_so_far() <= lives + 8192 + slack());
  }
}

/* ---- Bytes that were live at the same time ------------------------------------------------------------- */

static void holds_much(void) { allocates(&blocks[1], MUCH); }

static void holds_much_for_a_moment(void) {
  holds_much();
  frees(&blocks[1], MUCH);
}

static void the_peak_is_not_missed(void) {
  unsigned reads = reads_of(grows);
  for (unsigned read = 1; read <= reads; read += POINTS_APART) {
    start_again();
    interruption = holds_much_for_a_moment;
    reads_until_interruption = read;
    grows();
    CHECK(peak_so_far() + peak_error() >= MUCH);
  }
}

/* Another thread allocates during an addition of the counters, so the sum is too small. The next peak must
 * nevertheless include the bytes of that allocation. */
static void a_later_peak_is_not_missed(void) {
  unsigned reads = reads_of(grows);
  for (unsigned read = 1; read <= reads; read += POINTS_APART) {
    start_again();
    interruption = holds_much;
    reads_until_interruption = read;
    grows();
    allocates(&blocks[2], MUCH / 2);
    frees(&blocks[2], MUCH / 2);
    CHECK(peak_so_far() + peak_error() >= MUCH + MUCH / 2);
  }
}

int main(void) {
  the_peak_is_not_missed();
  a_later_peak_is_not_missed();
  the_peak_is_never_what_was_freed_meanwhile(takes_a_snapshot, 1000, churns);
  the_peak_is_never_what_was_freed_meanwhile(takes_a_snapshot, 1000, churns_again);
  the_peak_is_never_what_was_freed_meanwhile(grows, 5000000, churns);
  return 0;
}
