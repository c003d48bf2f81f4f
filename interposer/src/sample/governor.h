/*
 * Limits the CPU time of samples to a share of one processor: the target.
 *
 * The limit is an account of time. Credit grows at the rate of the target, and each sample spends the time of its work
 * (work.h), at most 100 us. The credit is 2 ms at the start of a process and grows to at most 100 ms. While the credit
 * is negative and still falls, the governor adds a halving of sampling probabilities, at most once in 5 ms. While the
 * credit is above 2.5 ms, it takes back a halving, at most once in 20 ms. Debts above 10 ms are forgiven, so that at
 * the default target the probabilities recover within three seconds after a burst of new code.
 *
 * The sampler computes two probabilities for an allocation and uses the higher one (sampler.h). The probability by
 * number falls with the number of allocations that the call path has already made. The probability by size grows with
 * the size of the allocation. The halvings act in this order:
 * - halvings 1 to 3: the probability by size, on busy call paths only
 * - halvings 4 to 9: the probability by number
 * - halvings 10 to 12: the probability by size, on all call paths
 *
 * After twelve halvings the probabilities do not fall further, however much time samples take. Each sample's
 * probability is known, so the estimates stay unbiased and only become less certain.
 *
 * Each thread also has a limit of its own, so that one thread's burst of new code does not spend the credit of the
 * whole process. The limit is the target's share of a period of 20 ms, but at least 2 ms. When a thread has spent half
 * of its limit, both of its probabilities are halved. Each further sixteenth of the limit halves them again: the
 * probability by number at most twelve times in all, the probability by size at most three times. A sample after the
 * end of a period begins the next period.
 */
#ifndef MALLOMETER_SAMPLE_GOVERNOR_H
#define MALLOMETER_SAMPLE_GOVERNOR_H

#include <stdint.h>

#include "account/thread_block.h"

struct governor {
  uint32_t target_ppm; /* 0: no limit */
  uint32_t halvings;
  int64_t credit_ns;
  uint64_t settled_ns; /* time of the latest update of the credit */
  uint64_t changed_ns;
  int64_t credit_at_change_ns;
  uint64_t spent_ns;
};

#define GOVERNOR_LONGEST_SAMPLE_NS 100000u
#define GOVERNOR_FIRST_CREDIT_NS 2000000
#define GOVERNOR_ENOUGH_CREDIT_NS 2500000
#define GOVERNOR_MOST_CREDIT_NS 100000000
#define GOVERNOR_MOST_DEBT_NS 10000000
#define GOVERNOR_PAUSE_AFTER_HALVING_NS 5000000u
#define GOVERNOR_PAUSE_AFTER_DOUBLING_NS 20000000u
#define GOVERNOR_HALVINGS_OF_BUSY 3u
#define GOVERNOR_HALVINGS_OF_NUMBERS 6u
#define GOVERNOR_MOST_HALVINGS 12u
#define GOVERNOR_BURST_MS 20u
#define GOVERNOR_BURST_NS 2000000u
#define GOVERNOR_HALVINGS_OF_BURST 12u

/* Counts a sample that took the time from `begin_ns` to `end_ns` by a monotonic clock. One of two concurrent calls may
 * be lost. */
void governor_spend(struct governor *governor, uint64_t begin_ns, uint64_t end_ns);

/* The factors (1, 0.5, 0.25, ...) by which the governor reduces sampling probabilities: of_busy on busy call paths,
 * of_numbers on call paths with few allocations so far, and of_sizes for allocations chosen for their size. */
struct governor_shares {
  double of_busy;
  double of_numbers;
  double of_sizes;
};

struct governor_shares governor_shares(const struct governor *governor);

/* Adds the time of a sample that ended at `end_ns` to the thread's time in its current period of 20 ms. */
void burst_spend(struct burst *burst, uint64_t took_ns, uint64_t end_ns);

/* Returns the factor by which a thread's own limit reduces its sampling probabilities. `target_ppm` is the
 * governor's target, in millionths of a processor. */
double burst_share(const struct burst *burst, uint64_t now_ns, uint32_t target_ppm);

#endif
