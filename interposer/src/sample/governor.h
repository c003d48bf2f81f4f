/*
 * Holds the time that samples take to a share of one processor's time.
 *
 * Time is credit: it comes in at the target's rate, up to a tenth of a second, and each sample spends what it took. So
 * a program that starts, and meets all its code for the first time, is looked at closely; one that goes on at such a
 * rate is not. When the credit is gone the sampling probabilities are halved, again and again, at most once in ten
 * milliseconds; when half of the credit is back they double. The share is part of each sample's known probability,
 * so estimates stay without bias and only become less certain.
 */
#ifndef MALLOMETER_SAMPLE_GOVERNOR_H
#define MALLOMETER_SAMPLE_GOVERNOR_H

#include <stdint.h>

struct governor {
  uint32_t target_ppm; /* 0: no limit */
  uint32_t halvings;
  int64_t credit_ns;
  uint64_t settled_ns; /* when credit was last counted */
  uint64_t changed_ns;
  uint64_t spent_ns; /* in all */
};

#define GOVERNOR_MOST_CREDIT_NS 100000000
#define GOVERNOR_PAUSE_NS 10000000u
#define GOVERNOR_MOST_HALVINGS 10u

/* Counts a sample that took from `begin` to `end` by a clock that nobody sets. Of two at once one may be lost. */
void governor_spend(struct governor *governor, uint64_t begin_ns, uint64_t end_ns);

/* 1, 0.5, 0.25, ... */
double governor_share(const struct governor *governor);

#endif
