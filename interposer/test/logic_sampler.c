/* Tests the sampler and its governor, which lowers the share of sampled allocations when samples take too much time.
 * The sampler computes the time of samples instead of measuring it. The test sets the clock. */
#include <math.h>

#include "account/thread_block.h"
#include "platform/given.h"
#include "sample/call_sites.h"
#include "sample/governor.h"
#include "sample/native_stack.h"
#include "sample/sampler.h"
#include "sample/work.h"

#define SECOND UINT64_C(1000000000)
#define MICROSECOND UINT64_C(1000)
#define UNIT_NS 25u /* the assumed time of a unit of work (sample/work.h), until it is measured */

static char stack[65536];
static struct thread_block *block;

/* Starts the recording of call sites. All stacks have one frame, the caller. */
static void start(void) {
  given_monotonic_ns = 1000 * SECOND;
  given_stack = (struct own_stack){(uintptr_t)stack, (uintptr_t)stack + sizeof stack};
  current_block = &no_block_yet;
  block = thread_block_acquire();
  native_stack_start(UNWIND_BY_FRAME_POINTERS);
  CHECK(!call_sites_start());
  call_sites_open();
}

static uintptr_t objects = 0x10000000000;

static void allocate(uintptr_t caller, size_t bytes) {
  struct origin origin = {(const void *)caller, stack + sizeof stack - 64};
  sampler_visit_always(block, (void *)(objects += 64), bytes, bytes, (struct move){0}, origin);
}

/* Returns the next of 1,000 callers, so that none of them allocates often. */
static uintptr_t other_code(void) {
  static unsigned number;
  return 0x1000 + 16 * (number++ % 1000);
}

/* The allocations are all sampled, and each comes from a new caller. */
CASE(samples_are_billed_for_what_they_do) {
  enum { SAMPLES = 10 };
  start();
  for (unsigned i = 0; i < SAMPLES; i++) allocate(0x1000 + i, 16);
  CHECK_EQUAL(sampler_totals().samples, SAMPLES);
  CHECK_EQUAL(sampler_totals().time_ns, SAMPLES * (WORK_SAMPLE + WORK_FRAME + WORK_NEW_FRAME) * UNIT_NS);
  CHECK_EQUAL(given_monotonic_ns, 1000 * SECOND);
}

/* Calls of the sampler take time even at an interval of 0, which samples nothing. Every 64th call must add the time
 * of 64 calls to the sampler's total. */
CASE(visits_are_billed) {
  start();
  sampler_set_interval(0);
  for (unsigned i = 0; i < 63; i++)
    sampler_visit(block, stack, 16, 16, (struct move){0}, (struct origin){stack, stack});
  CHECK_EQUAL(sampler_totals().time_ns, 0);
  sampler_visit(block, stack, 16, 16, (struct move){0}, (struct origin){stack, stack});
  CHECK_EQUAL(sampler_totals().time_ns, 64 * WORK_VISIT * UNIT_NS);
}

/* The clock stands still, so the measured work seems to take no time. Each measurement must reduce the assumed time
 * of a unit of work (sample/work.h) by only an eighth. */
CASE(the_unit_changes_a_step_at_a_time) {
  start();
  given_stack = (struct own_stack){4096, UINTPTR_MAX - 4096};
  uint64_t unit_ps = UNIT_NS * 1000;
  for (unsigned i = 0; i < 20; i++, unit_ps -= unit_ps / 8) {
    uint64_t before = sampler_totals().time_ns;
    allocate(0x1000 + i, 16);
    CHECK_EQUAL(sampler_totals().time_ns - before, (WORK_SAMPLE + WORK_FRAME + WORK_NEW_FRAME) * unit_ps / 1000);
    sampler_measure();
  }
}

/* Allocates an object of DEFAULT_SAMPLE_INTERVAL bytes every `pause_ns`. Without the governor, the sampler would
 * sample every such object; at a pause of 20 us the samples would take five times the allowed time. Returns the
 * nanoseconds that were charged for samples. */
static uint64_t allocates_much(uint64_t span_ns, uint64_t pause_ns) {
  uint64_t before = sampler_totals().time_ns;
  for (uint64_t end = given_monotonic_ns + span_ns; given_monotonic_ns < end; given_monotonic_ns += pause_ns) {
    allocate(other_code(), DEFAULT_SAMPLE_INTERVAL);
  }
  return sampler_totals().time_ns - before - span_ns / pause_ns * WORK_VISIT * UNIT_NS;
}

static void takes_no_more_than_it_may(void) {
  uint64_t spent = allocates_much(10 * SECOND, 20 * MICROSECOND);
  uint64_t target = 10 * SECOND / 1000000 * DEFAULT_OVERHEAD_TARGET;
  CHECK(spent >= target / 2 && spent <= target + GOVERNOR_MOST_DEBT_NS);
}

CASE(samples_take_the_share_of_the_time_that_they_may) {
  start();
  allocates_much(SECOND, 20 * MICROSECOND); /* long enough for the governor to lower the sampling probabilities */
  takes_no_more_than_it_may();
}

CASE(estimates_stay_true_while_the_share_changes) {
  start();
  allocates_much(10 * SECOND, 20 * MICROSECOND);
  double truth = 10.0 * SECOND / (20.0 * MICROSECOND) * DEFAULT_SAMPLE_INTERVAL;
  double estimate = (double)sampler_totals().estimated_bytes;
  CHECK(estimate > truth * 0.97 && estimate < truth * 1.03);
}

static uint64_t spent_on_new_code(unsigned allocations) {
  static uintptr_t caller = 0x100000;
  uint64_t before = sampler_totals().time_ns;
  for (unsigned i = 0; i < allocations; i++) allocate(caller += 16, 16);
  return sampler_totals().time_ns - before;
}

/* Allocates once from each of 5,000 new callers while the test's clock stands still. Sampling all of these
 * allocations would take 5 ms, more than the allowed 2 ms. */
CASE(a_thread_does_not_take_more_than_two_milliseconds_in_a_row) {
  enum { ALLOCATIONS = 5000 };
  const uint64_t visits = (uint64_t)ALLOCATIONS * WORK_VISIT * UNIT_NS;
  start();
  uint64_t first = spent_on_new_code(ALLOCATIONS);
  CHECK(first > GOVERNOR_BURST_NS / 2 && first <= GOVERNOR_BURST_NS + visits);
  CHECK(spent_on_new_code(ALLOCATIONS) <= visits + GOVERNOR_BURST_NS / 8);
  struct thread_block *first_thread = block;
  current_block = &no_block_yet;
  block = thread_block_acquire();
  CHECK(spent_on_new_code(ALLOCATIONS) > GOVERNOR_BURST_NS / 2); /* another thread has a limit of its own */
  block = first_thread;
  given_monotonic_ns += SECOND;
  CHECK(spent_on_new_code(ALLOCATIONS) > GOVERNOR_BURST_NS / 2);
}

CASE(a_burst_does_not_hide_large_memory) {
  start();
  spent_on_new_code(5000);
  for (unsigned i = 0; i < 100; i++) {
    uint64_t before = sampler_totals().samples;
    allocate(other_code(), 8 * DEFAULT_SAMPLE_INTERVAL);
    CHECK_EQUAL(sampler_totals().samples - before, 1);
  }
}

/* The clock advances only by the time charged for samples, so samples seem to take the thread's whole time. The
 * governor must lower the sampling probabilities as far as it can. */
CASE(a_clock_of_bills_alone_halves_to_the_last) {
  start();
  given_clock_passes = true;
  block = NULL; /* disables the limit of each thread (burst_share()) */
  for (unsigned i = 0; i < 2000000; i++) allocate(other_code(), DEFAULT_SAMPLE_INTERVAL);
  CHECK_EQUAL(sampler_totals().share_ppm, 1000000 >> GOVERNOR_HALVINGS_OF_NUMBERS);
}

/* 50,000 callers do not fit into the table of call paths. After 11 s, new callers must replace stale ones. */
CASE(the_stalest_call_path_gives_way) {
  start();
  sampler_set_target(0);
  for (uintptr_t i = 0; i < 50000; i++) allocate(0x100000 + 16 * i, 16);
  uint64_t without_room = sampler_totals().without_path;
  CHECK(without_room > 30000 && without_room < 40000); /* the table holds 16,384 */
  given_monotonic_ns += 11 * SECOND;
  uint64_t before = sampler_totals().samples;
  for (uintptr_t i = 0; i < 4000; i++) allocate(0x900000 + 16 * i, 16);
  CHECK(sampler_totals().samples - before > 3980);
}

/*
 * A busy call site allocates 4,000 blocks of 256 KiB per second, and another call site leaks 20 objects of 100 bytes
 * per second. Samples may take a tenth of the default time, which is too little to sample even half of the blocks. The
 * leaked objects must be sampled nevertheless.
 */
CASE(a_hot_path_of_large_blocks_does_not_hide_a_small_leak) {
  enum { SECONDS = 60, BLOCKS_A_SECOND = 4000, LEAKED_A_SECOND = 20, BLOCK = 262144, LEAKED = 100 };
  uint64_t of_leak = 0;
  start();
  sampler_set_target(DEFAULT_OVERHEAD_TARGET / 10);
  for (unsigned i = 0; i < SECONDS * BLOCKS_A_SECOND; i++, given_monotonic_ns += SECOND / BLOCKS_A_SECOND) {
    allocate(0x1000, BLOCK);
    if (i % (BLOCKS_A_SECOND / LEAKED_A_SECOND) != 0) continue;
    uint64_t before = sampler_totals().samples;
    allocate(0x2000, LEAKED);
    of_leak += sampler_totals().samples - before;
  }
  struct sampler_totals totals = sampler_totals();
  /* The sampler takes about 4 (1 + ln (1,200 / 4)) = 27 samples of the 1,200 leaked objects (see sampler.h). */
  CHECK(of_leak >= 15);
  CHECK_EQUAL(totals.share_ppm, 1000000);
  CHECK(totals.time_ns <= SECONDS * SECOND / 1000000 * DEFAULT_OVERHEAD_TARGET / 10);
  double truth = (double)SECONDS * (BLOCKS_A_SECOND * (double)BLOCK + LEAKED_A_SECOND * LEAKED);
  CHECK(fabs((double)totals.estimated_bytes / truth - 1) < 0.05);
}

/* The clock jumps ahead by an hour. DEFAULT_OVERHEAD_TARGET allows samples 18 s of CPU time in an hour, but the
 * library must save only 100 ms for later samples (GOVERNOR_MOST_CREDIT_NS). */
CASE(a_jump_ahead_gives_no_more_than_may_be_saved) {
  start();
  allocates_much(SECOND, 20 * MICROSECOND);
  given_monotonic_ns += 3600 * SECOND;
  CHECK(allocates_much(SECOND, 2 * MICROSECOND) < 2 * GOVERNOR_MOST_CREDIT_NS);
}

/* The clock goes back by 0.1 s. Two threads cause this if the first to read the clock is the last to report its
 * costs to the sampler. */
CASE(a_clock_that_goes_back_gives_nothing) {
  start();
  allocates_much(SECOND, 20 * MICROSECOND);
  uint32_t share = sampler_totals().share_ppm;
  given_monotonic_ns -= SECOND / 10;
  for (unsigned i = 0; i < 400000; i++) allocate(other_code(), DEFAULT_SAMPLE_INTERVAL);
  CHECK_EQUAL(sampler_totals().share_ppm, share);
  takes_no_more_than_it_may();
}

int main(void) {
  RUN(samples_are_billed_for_what_they_do);
  RUN(visits_are_billed);
  RUN(the_unit_changes_a_step_at_a_time);
  RUN(samples_take_the_share_of_the_time_that_they_may);
  RUN(estimates_stay_true_while_the_share_changes);
  RUN(a_thread_does_not_take_more_than_two_milliseconds_in_a_row);
  RUN(a_burst_does_not_hide_large_memory);
  RUN(a_clock_of_bills_alone_halves_to_the_last);
  RUN(the_stalest_call_path_gives_way);
  RUN(a_hot_path_of_large_blocks_does_not_hide_a_small_leak);
  RUN(a_jump_ahead_gives_no_more_than_may_be_saved);
  RUN(a_clock_that_goes_back_gives_nothing);
  return 0;
}
