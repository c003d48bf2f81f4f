/*
 * The sampler and its governor over a given clock: what samples are billed, how much of the time they may take, and
 * what happens when the clock stands still, jumps ahead, or goes back.
 */
#include "account/thread_block.h"
#include "platform/given.h"
#include "sample/call_sites.h"
#include "sample/governor.h"
#include "sample/native_stack.h"
#include "sample/sampler.h"
#include "sample/work.h"

#define SECOND UINT64_C(1000000000)
#define MICROSECOND UINT64_C(1000)
#define UNIT_NS 25u /* what a unit of work takes before it is measured (sample/work.h) */

static char stack[65536];
static struct thread_block *block;

/* Samples are recorded, with stacks of one frame. */
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

/* A new object each time: at an address that none had before. */
static void allocate(uintptr_t caller, size_t bytes) {
  struct origin origin = {(const void *)caller, stack + sizeof stack - 64};
  sampler_visit_always(block, (void *)(objects += 64), bytes, bytes, (struct move){0}, origin);
}

/* Code that is new each time is looked at each time, and its work is known. */
CASE(samples_are_billed_for_what_they_do) {
  enum { SAMPLES = 10 };
  start();
  for (unsigned i = 0; i < SAMPLES; i++) allocate(0x1000 + i, 16);
  CHECK_EQUAL(sampler_totals().samples, SAMPLES);
  CHECK_EQUAL(sampler_totals().time_ns, SAMPLES * (WORK_SAMPLE + WORK_FRAME + WORK_NEW_FRAME) * UNIT_NS);
  CHECK_EQUAL(given_monotonic_ns, 1000 * SECOND);
}

/* A measurement during which the clock stands counts for an eighth and no more. */
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

/* Large objects, each of which would be sampled: twenty times as much as may be spent. */
static void allocates_much(uint64_t span_ns, uint64_t pause_ns) {
  for (uint64_t end = given_monotonic_ns + span_ns; given_monotonic_ns < end; given_monotonic_ns += pause_ns) {
    allocate(0x1000, DEFAULT_SAMPLE_INTERVAL);
  }
}

/* In ten seconds, not counting what is known from before. */
static void takes_no_more_than_it_may(void) {
  uint64_t before = sampler_totals().time_ns;
  allocates_much(10 * SECOND, 20 * MICROSECOND);
  uint64_t spent = sampler_totals().time_ns - before, target = 10 * SECOND / 1000000 * DEFAULT_OVERHEAD_TARGET;
  CHECK(spent >= target / 2 && spent <= target + GOVERNOR_MOST_DEBT_NS);
}

CASE(samples_take_the_share_of_the_time_that_they_may) {
  start();
  allocates_much(SECOND, 20 * MICROSECOND); /* the first credit, and what it takes to find the share */
  takes_no_more_than_it_may();
}

CASE(estimates_stay_true_while_the_share_changes) {
  start();
  allocates_much(10 * SECOND, 20 * MICROSECOND);
  double truth = 10.0 * SECOND / (20.0 * MICROSECOND) * DEFAULT_SAMPLE_INTERVAL;
  double estimate = (double)sampler_totals().estimated_bytes;
  CHECK(estimate > truth * 0.97 && estimate < truth * 1.03);
}

/* Without time there is no pause after a halving, so there is one. */
CASE(a_clock_that_stands_halves_once) {
  start();
  for (unsigned i = 0; i < 100000; i++) allocate(0x1000, DEFAULT_SAMPLE_INTERVAL);
  CHECK_EQUAL(sampler_totals().share_ppm, 500000);
}

/* Where the clock inside of malloc is what was billed, samples are all that happens, and too much of it. */
CASE(a_clock_of_bills_alone_halves_to_the_last) {
  start();
  given_clock_passes = true;
  for (unsigned i = 0; i < 2000000; i++) allocate(0x1000, DEFAULT_SAMPLE_INTERVAL);
  CHECK_EQUAL(sampler_totals().share_ppm, 1000000 >> GOVERNOR_MOST_HALVINGS);
}

/* An hour's credit would be 18 s. */
CASE(a_jump_ahead_gives_no_more_than_may_be_saved) {
  start();
  allocates_much(SECOND, 20 * MICROSECOND);
  uint64_t before = sampler_totals().time_ns;
  given_monotonic_ns += 3600 * SECOND;
  allocates_much(SECOND, 2 * MICROSECOND);
  CHECK(sampler_totals().time_ns - before < 2 * GOVERNOR_MOST_CREDIT_NS);
}

/* Threads read it one after the other and come in another order. */
CASE(a_clock_that_goes_back_gives_nothing) {
  start();
  allocates_much(SECOND, 20 * MICROSECOND);
  uint32_t share = sampler_totals().share_ppm;
  given_monotonic_ns -= SECOND / 10;
  for (unsigned i = 0; i < 400000; i++) allocate(0x1000, DEFAULT_SAMPLE_INTERVAL);
  CHECK_EQUAL(sampler_totals().share_ppm, share);
  takes_no_more_than_it_may();
}

int main(void) {
  RUN(samples_are_billed_for_what_they_do);
  RUN(the_unit_changes_a_step_at_a_time);
  RUN(samples_take_the_share_of_the_time_that_they_may);
  RUN(estimates_stay_true_while_the_share_changes);
  RUN(a_clock_that_stands_halves_once);
  RUN(a_clock_of_bills_alone_halves_to_the_last);
  RUN(a_jump_ahead_gives_no_more_than_may_be_saved);
  RUN(a_clock_that_goes_back_gives_nothing);
  return 0;
}
