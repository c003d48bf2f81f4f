/*
 * The sampler by itself, on streams of allocations whose truth is known: its estimates are unbiased whatever shares a
 * counter with what, rare call paths are found among hot ones, hot ones cost little, an interval of 1 takes everything.
 * Simulated programs call exactly what the hook
 * calls. The file itself is included, so that each run can begin with an empty table.
 */
#include "sample/sampler.c"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "account/size_class.h"
#include "check.h"

/* Nothing is recorded here but the sampler's own sums. */
bool call_sites_on(void) { return false; }

void call_sites_take(const struct sample *sample) { (void)sample; }

static struct slab slab;
static struct thread_block *const block = &slab.blocks[0];

/* Any addresses will do; call sites of a library lie close together, and stacks are aligned. */
static struct origin origin_of(unsigned site) {
  return (struct origin){(const void *)(uintptr_t)(0x7f1234560000 + 37 * (uint64_t)site),
                         (const void *)(uintptr_t)(0x7ffd00000000 + 16 * (uint64_t)(site % 29))};
}

/* True if the allocation was sampled. */
static bool allocate(unsigned site, size_t size) {
  struct origin origin = origin_of(site);
  if (!filter_visits(block, filter_bucket(origin, size_class(size)))) return false;
  uint64_t before = sampler_totals().samples;
  sampler_visit(block, NULL, size, size, origin);
  return sampler_totals().samples != before;
}

static uint64_t state = 88172645463325252u;

static uint64_t random_bits(void) {
  state ^= state << 13;
  state ^= state >> 7;
  state ^= state << 17;
  return state;
}

static double random_fraction(void) { return (double)(random_bits() >> 11) * 0x1p-53; }

/* A new process: threads without history, but other random numbers. */
static void start_again(size_t interval) {
  memset(paths, 0, sizeof paths);
  samples = estimated_bytes = unknown_paths = 0;
  memset(&slab, 0, sizeof slab);
  block->random = random_bits();
  sampler_configure(interval);
}

/* ---- Truth -------------------------------------------------------------------------------------------- */

enum { ZIPF_SITES = 2000, ZIPF_ALLOCATIONS = 20000000 };

static double cumulative[ZIPF_SITES];

static unsigned zipf_site(void) {
  double at = random_fraction() * cumulative[ZIPF_SITES - 1];
  unsigned low = 0, high = ZIPF_SITES - 1;
  while (low < high) {
    unsigned middle = (low + high) / 2;
    if (cumulative[middle] < at) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

static size_t size_of_site(unsigned site) { return 16 + (site * 2654435761u >> 16) % 1000; }

static unsigned samples_of[ZIPF_SITES];

static void rare_sites_are_found_among_hot_ones(void) {
  double sum = 0;
  for (unsigned i = 0; i < ZIPF_SITES; i++) cumulative[i] = sum += 1.0 / (i + 1);
  start_again(DEFAULT_SAMPLE_INTERVAL);
  double allocated = 0;
  for (unsigned i = 0; i < ZIPF_ALLOCATIONS; i++) {
    unsigned site = zipf_site();
    allocated += (double)size_of_site(site);
    samples_of[site] += allocate(site, size_of_site(site));
  }
  unsigned seen = 0, seen_often = 0;
  for (unsigned i = 0; i < ZIPF_SITES; i++) {
    seen += samples_of[i] > 0;
    seen_often += samples_of[i] >= 5;
  }
  struct sampler_totals totals = sampler_totals();
  printf("of %d sites, %u with samples, %u with 5 or more; %" PRIu64
         " samples of %d allocations; bytes %.4f of the truth\n",
         ZIPF_SITES, seen, seen_often, totals.samples, ZIPF_ALLOCATIONS, (double)totals.estimated_bytes / allocated);
  CHECK(seen_often >= 0.95 * ZIPF_SITES);
  CHECK(totals.samples < ZIPF_ALLOCATIONS / 100);
  CHECK(fabs((double)totals.estimated_bytes / allocated - 1) < 0.03);
  CHECK_EQUAL(totals.unknown_paths, 0);
}

/* ---- No bias ------------------------------------------------------------------------------------------ */

/* Regular and mixed patterns, in which a counter that remembers too much would always meet the same site. */
static unsigned pattern_site(unsigned pattern, unsigned i) {
  switch (pattern) {
    case 0:
      return 0;
    case 1:
      return i % 64;
    case 2:
      return i % 1000 == 999 ? 1 : 0;
    default:
      return (unsigned)(random_bits() % 700);
  }
}

static size_t pattern_size(unsigned pattern, unsigned site, unsigned i) {
  if (pattern == 0) return i % 2 ? 24 : 30000;
  return site % 7 == 1 ? 200000 : 40 + 8 * (site % 50);
}

/*
 * The mean of many estimates is compared with the truth by its own standard error, which the estimates themselves tell.
 * Five of them would be exceeded by chance once in two million runs; the generator's seed is fixed besides.
 */
static void estimates_have_no_bias(void) {
  enum { RUNS = 400, EVENTS = 20000 };
  for (unsigned pattern = 0; pattern < 4; pattern++) {
    double sum = 0, sum_of_squares = 0;
    for (unsigned run = 0; run < RUNS; run++) {
      start_again(65536);
      double truth = 0;
      for (unsigned i = 0; i < EVENTS; i++) {
        unsigned site = pattern_site(pattern, i);
        size_t size = pattern_size(pattern, site, i);
        truth += (double)size;
        allocate(site, size);
      }
      double error = (double)sampler_totals().estimated_bytes / truth - 1;
      sum += error;
      sum_of_squares += error * error;
    }
    double mean = sum / RUNS, deviation = sqrt(sum_of_squares / RUNS - mean * mean),
           standard_error = deviation / sqrt(RUNS);
    printf("pattern %u: mean error %+.5f, standard error %.5f, deviation of one run %.4f\n", pattern, mean,
           standard_error, deviation);
    CHECK(fabs(mean) < 5 * standard_error + 0.0001);
    CHECK(deviation < 0.2);
  }
}

/* ---- Both ends ---------------------------------------------------------------------------------------- */

static void interval_one_takes_everything(void) {
  start_again(1);
  uint64_t bytes = 0;
  for (unsigned i = 0; i < 100000; i++) {
    CHECK(allocate(i % 1000, i % 5000));
    bytes += i % 5000 ? i % 5000 : 0;
  }
  CHECK_EQUAL(sampler_totals().samples, 100000);
  CHECK_EQUAL(sampler_totals().estimated_bytes, bytes);
}

static void interval_zero_takes_nothing(void) {
  start_again(0);
  unsigned visits = 0;
  for (unsigned i = 0; i < 100000; i++) {
    struct origin origin = origin_of(i % 10);
    if (!filter_visits(block, filter_bucket(origin, 3))) continue;
    visits++;
    sampler_visit(block, NULL, 100, 100, origin);
  }
  CHECK_EQUAL(sampler_totals().samples, 0);
  CHECK(visits < 100000 / 50);
}

static void first_allocations_of_a_path_are_taken(void) {
  start_again(DEFAULT_SAMPLE_INTERVAL);
  for (unsigned i = 0; i < 4; i++) CHECK(allocate(5, 100));
  unsigned later = 0;
  for (unsigned i = 0; i < 100000; i++) later += allocate(5, 100);
  CHECK(later >= 4 && later < 400);
}

/* More paths than the table holds: sampled by size, and counted as such. */
static void a_full_table_leaves_sizes(void) {
  start_again(65536);
  double truth = 0;
  for (unsigned i = 0; i < 300000; i++) {
    allocate(i, 4096);
    truth += 4096;
  }
  CHECK(sampler_totals().unknown_paths > 0);
  CHECK(fabs((double)sampler_totals().estimated_bytes / truth - 1) < 0.1);
}

int main(void) {
  first_allocations_of_a_path_are_taken();
  interval_one_takes_everything();
  interval_zero_takes_nothing();
  estimates_have_no_bias();
  a_full_table_leaves_sizes();
  rare_sites_are_found_among_hot_ones();
  return 0;
}
