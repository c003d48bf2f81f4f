/* Tests the governor, which halves the sampling rate when samples take a larger share of the time than the target
 * allows. The test supplies the times. */
#include "sample/governor.h"

#include "check.h"
#include "sample/sampler.h"

#define SECOND ((uint64_t)1000000000)
#define MILLISECOND ((uint64_t)1000000)
#define PPM DEFAULT_OVERHEAD_TARGET

static struct governor fresh(uint32_t target_ppm) {
  return (struct governor){.target_ppm = target_ppm, .credit_ns = GOVERNOR_FIRST_CREDIT_NS};
}

/* Charges the governor for a sample of `took` ns every `pause` ns, from `now` to `now` + `span`. Returns the time at
 * the end. */
static uint64_t samples(struct governor *governor, uint64_t now, uint64_t span, uint64_t pause, uint64_t took) {
  for (uint64_t end = now + span; now < end; now += pause) governor_spend(governor, now, now + took);
  return now;
}

static void spends_its_first_credit_before_it_halves(void) {
  struct governor governor = fresh(PPM);
  uint64_t now = SECOND;
  for (unsigned i = 0; i < 200; i++, now += 10000) governor_spend(&governor, now, now + 10000);
  CHECK_EQUAL(governor.halvings, 0); /* the 200 samples have spent only GOVERNOR_FIRST_CREDIT_NS (2 ms) */
  for (unsigned i = 0; i < 10; i++, now += 10000) governor_spend(&governor, now, now + 10000);
  CHECK_EQUAL(governor.halvings, 1);
  CHECK_EQUAL(governor.spent_ns, 2100000);
}

static void halves_once_in_five_milliseconds_and_twelve_times_at_most(void) {
  struct governor governor = fresh(PPM);
  uint64_t now = samples(&governor, SECOND, 3 * MILLISECOND, 10000, 10000);
  uint32_t before = governor.halvings;
  CHECK(before == 1);
  now = samples(&governor, now, 15 * MILLISECOND, 10000, 10000);
  CHECK(governor.halvings >= before + 2 && governor.halvings <= before + 4);
  now = samples(&governor, now, SECOND, 10000, 10000);
  CHECK_EQUAL(governor.halvings, GOVERNOR_MOST_HALVINGS);
  struct governor_shares shares = governor_shares(&governor);
  CHECK(shares.of_busy == 1.0 / 8 && shares.of_numbers == 1.0 / 64 && shares.of_sizes == 1.0 / 8);
}

static void halves_no_more_once_the_credit_rises(void) {
  struct governor governor = fresh(PPM);
  uint64_t now = samples(&governor, SECOND, 20 * MILLISECOND, 10000, 10000);
  uint32_t before = governor.halvings;
  CHECK(before >= 3 && before < GOVERNOR_MOST_HALVINGS && governor.credit_ns < 0);
  samples(&governor, now, SECOND, 4 * MILLISECOND, 10000);
  CHECK(governor.halvings <= before + 1); /* probabilities may halve once more if credit_ns < credit_at_change_ns */
  CHECK(governor.credit_ns < 0);
}

static void doubles_when_credit_is_saved_again(void) {
  struct governor governor = fresh(PPM);
  uint64_t now = samples(&governor, SECOND, SECOND, 10000, 10000);
  /* The sampler's time account (credit_ns) is -10 ms at worst and grows by 5 ms a second. While the account is above
   * 2.5 ms, the governor doubles the sampling rate every 20 ms. */
  now = samples(&governor, now, 2 * SECOND, 10 * MILLISECOND, 1000);
  CHECK(governor.halvings >= GOVERNOR_MOST_HALVINGS - 1);
  now = samples(&governor, now, 2 * SECOND, 10 * MILLISECOND, 1000);
  CHECK_EQUAL(governor.halvings, 0);
  struct governor_shares shares = governor_shares(&governor);
  CHECK(shares.of_busy == 1 && shares.of_numbers == 1 && shares.of_sizes == 1);
}

static void busy_paths_go_first_and_sizes_last(void) {
  struct governor governor = fresh(PPM);
  double all = 1;
  for (governor.halvings = 0; governor.halvings <= GOVERNOR_MOST_HALVINGS; governor.halvings++, all /= 2) {
    struct governor_shares left = governor_shares(&governor);
    CHECK(left.of_busy * left.of_numbers * left.of_sizes == all);
    CHECK(left.of_numbers == 1 || left.of_busy == 1.0 / 8);
    CHECK(left.of_sizes == 1 || left.of_numbers == 1.0 / 64);
  }
}

static void a_burst_is_halved_after_a_millisecond_for_twenty(void) {
  struct burst burst = {0};
  uint64_t now = SECOND;
  burst_spend(&burst, MILLISECOND - 1, now);
  CHECK(burst_share(&burst, now, PPM) == 1);
  burst_spend(&burst, 1, now + 5 * MILLISECOND);
  CHECK(burst_share(&burst, now + 5 * MILLISECOND, PPM) == 0.5);
  burst_spend(&burst, MILLISECOND, now + 10 * MILLISECOND);
  CHECK(burst_share(&burst, now + 10 * MILLISECOND, PPM) == 1.0 / 512);
  /* A target of 100 * PPM halves a thread's probabilities only when its samples have taken 5 ms. The
   * samples of this thread have taken 2 ms. */
  CHECK(burst_share(&burst, now + 10 * MILLISECOND, 100 * PPM) == 1);
  burst_spend(&burst, SECOND, now + 10 * MILLISECOND);
  CHECK(burst_share(&burst, now + 10 * MILLISECOND, PPM) == 1.0 / 4096);
  for (unsigned i = 0; i < 10; i++) burst_spend(&burst, SECOND, now + 10 * MILLISECOND);
  CHECK(burst_share(&burst, now + 10 * MILLISECOND, PPM) == 1.0 / 4096); /* 12 halvings at most */
  CHECK(burst_share(&burst, now + 22 * MILLISECOND, PPM) == 1);
  burst_spend(&burst, 10, now + 22 * MILLISECOND);
  CHECK_EQUAL(burst.spent_ns, 10);
}

static void saves_a_tenth_of_a_second_at_most(void) {
  struct governor governor = fresh(PPM);
  governor_spend(&governor, SECOND, SECOND);
  governor_spend(&governor, 1000000 * SECOND, 1000000 * SECOND);
  CHECK_EQUAL(governor.credit_ns, GOVERNOR_MOST_CREDIT_NS);
}

static void an_interrupted_sample_counts_as_a_hundred_microseconds(void) {
  struct governor governor = fresh(PPM);
  governor_spend(&governor, SECOND, 2 * SECOND);
  CHECK_EQUAL(governor.spent_ns, GOVERNOR_LONGEST_SAMPLE_NS);
  CHECK_EQUAL(governor.credit_ns, GOVERNOR_FIRST_CREDIT_NS - (int64_t)GOVERNOR_LONGEST_SAMPLE_NS);
}

static void without_target_nothing_is_halved(void) {
  struct governor governor = fresh(0);
  uint64_t now = samples(&governor, SECOND, SECOND, 10000, 10000);
  CHECK_EQUAL(governor.halvings, 0);
  CHECK_EQUAL(governor.spent_ns, SECOND);
  governor.target_ppm = PPM;
  now = samples(&governor, now, SECOND, 10000, 10000);
  CHECK_EQUAL(governor.halvings, GOVERNOR_MOST_HALVINGS);
  governor.target_ppm = 0;
  governor_spend(&governor, now, now + 10000);
  CHECK_EQUAL(governor.halvings, 0);
}

/* Charges samples in the reverse order of their times. Threads do so if the first to read the clock is the last to
 * charge the governor. */
static void a_clock_that_goes_back_gives_no_credit(void) {
  struct governor governor = fresh(PPM);
  governor_spend(&governor, 100 * SECOND, 100 * SECOND);
  int64_t before = governor.credit_ns;
  governor_spend(&governor, 99 * SECOND, 99 * SECOND - 1000);
  CHECK_EQUAL(governor.credit_ns, before);
  CHECK_EQUAL(governor.spent_ns, 0);
  CHECK_EQUAL(governor.halvings, 0);
  governor_spend(&governor, 98 * SECOND, 98 * SECOND);
  CHECK_EQUAL(governor.credit_ns, before);
}

int main(void) {
  spends_its_first_credit_before_it_halves();
  halves_once_in_five_milliseconds_and_twelve_times_at_most();
  halves_no_more_once_the_credit_rises();
  doubles_when_credit_is_saved_again();
  busy_paths_go_first_and_sizes_last();
  a_burst_is_halved_after_a_millisecond_for_twenty();
  saves_a_tenth_of_a_second_at_most();
  an_interrupted_sample_counts_as_a_hundred_microseconds();
  without_target_nothing_is_halved();
  a_clock_that_goes_back_gives_no_credit();
  return 0;
}
