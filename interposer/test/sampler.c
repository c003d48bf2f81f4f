/*
 * Tests the sampler on simulated allocations, whose numbers and bytes are known. Estimates must be unbiased, and
 * confidence intervals must contain the true value as often as stated. Rare call paths must be found among frequent
 * ones, and frequent ones must cost little. This file includes the sampler's source, so that each run can begin with
 * empty tables.
 */
#include "sample/sampler.c"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "account/size_class.h"
#include "check.h"

struct sums {
  double objects, bytes, objects_variance, bytes_variance;
  unsigned samples;
};

static struct sums *sums; /* receives the samples; if NULL, only the sampler itself counts them */
static double probability_of_last;

static void add_sample(struct sums *to, size_t bytes, double probability) {
  double weight = 1 / probability, size = (double)bytes;
  to->objects += weight;
  to->bytes += weight * size;
  to->objects_variance += weight * (weight - 1);
  to->bytes_variance += weight * (weight - 1) * size * size;
  to->samples++;
}

bool call_sites_on(void) { return sums != NULL; }

static uint32_t work_of_sample, work_of_rehearsal;
static uint64_t time_of_rehearsal_ns;

uint32_t native_stack_rehearse(void) {
  for (uint64_t begin = monotonic_ns(); monotonic_ns() - begin < time_of_rehearsal_ns;) {
  }
  return work_of_rehearsal;
}

void *call_sites_record(struct sample *sample) {
  sample->work += work_of_sample;
  add_sample(sums, sample->bytes, sample->probability);
  probability_of_last = sample->probability;
  return sample->object;
}

static struct slab slab;
static struct thread_block *const block = &slab.blocks[0];

uint32_t thread_block_count(void) { return BLOCKS_IN_SLAB; }
struct thread_block *thread_block_at(uint32_t index) {
  return &slab.blocks[index];
}

/* Returns the addresses by which the sampler distinguishes call sites. As in real programs, return addresses lie
 * close together, and stack addresses are aligned. */
static struct origin origin_of(unsigned site) {
  return (struct origin){(const void *)(uintptr_t)(0x7f1234560000 + 37 * (uint64_t)site),
                         (const void *)(uintptr_t)(0x7ffd00000000 + 16 * (uint64_t)(site % 29))};
}

/* Simulates an allocation as the library's malloc does: calls the sampler if the filter does not skip the allocation.
 * Returns whether it was sampled. */
static bool allocate_in(struct thread_block *of_thread, struct origin origin, size_t requested, size_t bytes) {
  uint64_t before = sampler_totals().samples;
  size_t class = size_class(requested);
  if (requested > LARGEST_FAST_REQUEST) {
    if (!large_filter_visits(of_thread, large_tag(origin, class))) return false;
    sampler_visit_large(of_thread, NULL, requested, bytes, (struct move){0}, origin);
  } else {
    if (!filter_visits(of_thread, filter_bucket(origin, class))) return false;
    sampler_visit(of_thread, NULL, requested, bytes, (struct move){0}, origin);
  }
  return sampler_totals().samples != before;
}

static bool allocate(unsigned site, size_t size) { return allocate_in(block, origin_of(site), size, size); }

static uint64_t state = 88172645463325252u;

static uint64_t random_bits(void) {
  state ^= state << 13;
  state ^= state >> 7;
  state ^= state << 17;
  return state;
}

static double random_fraction(void) { return (double)(random_bits() >> 11) * 0x1p-53; }

static void start_again(size_t interval) {
  memset(paths, 0, sizeof paths);
  overflow_path.due = 0;
  samples = estimated_bytes = without_path = 0;
  memset(&slab, 0, sizeof slab);
  thread_sampling(block)->random = random_bits();
  sampler_set_interval(interval);
}

/* ---- Rare and frequent call sites --------------------------------------------------------------------- */

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
  CHECK_EQUAL(totals.without_path, 0);
}

/* ---- Unbiased estimates ------------------------------------------------------------------------------- */

/* Returns the call site of allocation `i` of a pattern. Some patterns are so regular that a sampler with fixed gaps
 * between samples would always sample the same site. */
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

/* The mean of many estimates may differ from the true value by at most five standard errors. A larger difference
 * occurs by chance once in two million runs. */
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

/* ---- Large requests ----------------------------------------------------------------------------------- */

/* Returns another call site whose counter is stored in the same set of the table for large requests. */
static unsigned site_beside(unsigned site, size_t size) {
  unsigned other = site;
  do other++;
  while (large_path_set(block, large_tag(origin_of(other), size_class(size))) !=
         large_path_set(block, large_tag(origin_of(site), size_class(size))));
  return other;
}

/* The number of call paths that compete for one set: two more than the set holds. */
enum { RIVALS = LARGE_PATHS_IN_SET + 2 };

/* Pattern 0 chooses the paths at random. Pattern 1 chooses one path 49 times and then another path once. Pattern 2
 * chooses each path a hundred times in a row. */

static unsigned rival(unsigned pattern, unsigned i) {
  return pattern == 0 ? random_bits() % RIVALS : pattern == 1 ? (i % 50 == 49) * (i / 50 % RIVALS) : i / 100 % RIVALS;
}

static void find_rivals(unsigned sites[RIVALS], size_t size) {
  sites[0] = 3;
  for (unsigned i = 1; i < RIVALS; i++) sites[i] = site_beside(sites[i - 1], size);
}

static void large_paths_that_drive_out_each_other_have_no_bias(void) {
  enum { RUNS = 400, EVENTS = 30000, SIZE = 40000 };
  for (unsigned pattern = 0; pattern < 3; pattern++) {
    double sum[RIVALS] = {0}, sum_of_squares[RIVALS] = {0};
    for (unsigned run = 0; run < RUNS; run++) {
      start_again((size_t)4 << 20);
      unsigned sites[RIVALS];
      find_rivals(sites, SIZE);
      double truth[RIVALS] = {0};
      struct sums seen[RIVALS] = {{0}};
      for (unsigned i = 0; i < EVENTS; i++) {
        unsigned which = rival(pattern, i);
        sums = &seen[which];
        truth[which] += SIZE;
        allocate(sites[which], SIZE);
      }
      sums = NULL;
      for (unsigned which = 0; which < RIVALS; which++) {
        double error = seen[which].bytes / truth[which] - 1;
        sum[which] += error;
        sum_of_squares[which] += error * error;
      }
    }
    for (unsigned which = 0; which < RIVALS; which++) {
      double mean = sum[which] / RUNS, deviation = sqrt(sum_of_squares[which] / RUNS - mean * mean);
      printf("large pattern %u, path %u: mean error %+.5f, deviation of one run %.4f\n", pattern, which, mean,
             deviation);
      CHECK(fabs(mean) < 5 * deviation / sqrt(RUNS) + 0.0001);
    }
  }
}

static bool visits_large(unsigned site, size_t size) {
  if (!large_filter_visits(block, large_tag(origin_of(site), size_class(size)))) return false;
  sampler_visit_large(block, NULL, size, size, (struct move){0}, origin_of(site));
  return true;
}

static void hot_large_paths_of_one_set_are_visited_seldom(void) {
  enum { SIZE = 40000, EVENTS = 100000 };
  unsigned sites[RIVALS], visits = 0;
  start_again(0);
  find_rivals(sites, SIZE);
  for (unsigned i = 0; i < EVENTS; i++) visits += visits_large(sites[i % LARGE_PATHS_IN_SET], SIZE);
  CHECK(visits < EVENTS / 50);
}

static void a_hot_large_path_is_visited_seldom_and_a_new_one_at_once(void) {
  enum { SIZE = 40000 };
  for (size_t of = 0; of < 2; of++) {
    unsigned visits = 0, other = site_beside(3, SIZE);
    start_again(of ? (size_t)64 << 20 : 0);
    for (unsigned i = 0; i < 100000; i++) visits += visits_large(3, SIZE);
    CHECK(visits < 100000 / 50);
    uint64_t before = sampler_totals().samples;
    CHECK(visits_large(other, SIZE));
    CHECK_EQUAL(sampler_totals().samples - before, of);
  }
  /* The first allocation of a call path after a change of the interval must reach the sampler. */
  sampler_set_interval(65536);
  CHECK(visits_large(site_beside(3, SIZE), SIZE));
}

static void a_close_interval_takes_everything_from_then_on_also_of_hot_paths(void) {
  enum { SITES = 600, EVENTS = 200000 };
  uint32_t target = sampler_target();
  start_again(DEFAULT_SAMPLE_INTERVAL);
  for (unsigned i = 0; i < EVENTS; i++) allocate(i % SITES, 24);
  sampler_set_target(0);
  sampler_set_interval(2);
  uint64_t before = sampler_totals().samples, missed = 0;
  for (unsigned i = 0; i < EVENTS; i++) missed += !allocate(i % SITES, 24);
  CHECK_EQUAL(missed, 0);
  CHECK_EQUAL(sampler_totals().samples - before, EVENTS);
  sampler_set_target(target);
}

/* ---- Confidence intervals ----------------------------------------------------------------------------- */

struct estimate {
  double value, variance;
};

/* Returns a quantile of the chi-squared distribution, by the approximation of Wilson and Hilferty. The class
 * Estimate of the Java bridge uses the same approximation. */
static double chi_squared(double normal_quantile, double degrees) {
  double spread = 2 / (9 * degrees), root = 1 - spread + normal_quantile * sqrt(spread);
  return root > 0 ? degrees * root * root * root : 0;
}

static bool covers(struct estimate e, double truth) {
  const double z = 1.959963984540054, none_by_chance = 3.688879454113936;
  if (e.variance <= 0) return fabs(truth - e.value) < 0.5;
  if (e.value <= 0) return truth <= none_by_chance * sqrt(e.variance);
  double scale = e.variance / e.value;
  return truth >= scale / 2 * chi_squared(-z, 2 * e.value / scale) &&
         truth <= scale / 2 * chi_squared(z, 2 * (e.value / scale + 2));
}

/* Computes an estimate of allocated objects or bytes as SiteEstimates in the Java bridge does. */
static struct estimate allocated_of(const struct sums *allocated, double value, double variance) {
  double left = 1 - allocated->bytes / allocated->objects / (double)sampler_interval();
  double mean = value / allocated->samples;
  return (struct estimate){value, variance + (left > 0 ? mean * mean * left : 0)};
}

static struct estimate live_of(struct estimate allocated, double variance_of_sampled, unsigned samples, double value,
                               double variance) {
  if (samples == 0) {
    double one = allocated.variance / allocated.value;
    return (struct estimate){0, one * one};
  }
  double since = allocated.variance - variance_of_sampled;
  return (struct estimate){value, variance + since * value / allocated.value};
}

/* A kind of call site: the number of its objects, the share that is freed, and the bounds of their sizes. The
 * logarithms of the sizes are uniformly distributed. */
struct kind {
  const char *name;
  unsigned objects;
  size_t least, most;
  double freed;
  bool is_close; /* true if the share of intervals that contain the true value is close to the required 94 % */
};

enum { ALLOCATED_OBJECTS, ALLOCATED_BYTES, LIVE_OBJECTS, LIVE_BYTES, FIGURES };

static double size_between(size_t least, size_t most) {
  return floor((double)least * pow((double)most / (double)least, random_fraction()));
}

/* The number of the simulated site, which differs in each run. */
static unsigned site_number;

/* Allocates at sites other than the simulated one, in the same thread. By chance, some of these sites share its
 * counter. */
static void allocate_elsewhere(unsigned times) {
  struct sums *of_site = sums, elsewhere;
  sums = &elsewhere;
  for (unsigned i = 0; i < times; i++) {
    allocate(site_number + 1 + (unsigned)(random_bits() % 20), 16 + random_bits() % 2000);
  }
  sums = of_site;
}

/* Simulates one run. Increments the element of `covered` for each estimated value whose confidence interval contains
 * the true value. */
static void simulate(const struct kind *kind, unsigned *covered) {
  struct sums allocated = {0}, freed = {0};
  double bytes = 0, live_objects = 0, live_bytes = 0;
  start_again(DEFAULT_SAMPLE_INTERVAL);
  site_number = (unsigned)(random_bits() % 100000);
  sums = &allocated;
  allocate_elsewhere(200);
  for (unsigned i = 0; i < kind->objects; i++) {
    double size = size_between(kind->least, kind->most);
    bool is_freed = random_fraction() < kind->freed, is_sampled = allocate(site_number, (size_t)size);
    bytes += size;
    live_objects += !is_freed;
    live_bytes += is_freed ? 0 : size;
    if (is_freed && is_sampled) add_sample(&freed, (size_t)size, probability_of_last);
    allocate_elsewhere(1);
  }
  sums = NULL;
  if (allocated.samples == 0) return; /* samples are required for a confidence interval */
  struct estimate all_objects = allocated_of(&allocated, allocated.objects, allocated.objects_variance),
                  all_bytes = allocated_of(&allocated, allocated.bytes, allocated.bytes_variance);
  unsigned live = allocated.samples - freed.samples;
  covered[ALLOCATED_OBJECTS] += covers(all_objects, kind->objects);
  covered[ALLOCATED_BYTES] += covers(all_bytes, bytes);
  covered[LIVE_OBJECTS] +=
      covers(live_of(all_objects, allocated.objects_variance, live, allocated.objects - freed.objects,
                     allocated.objects_variance - freed.objects_variance),
             live_objects);
  covered[LIVE_BYTES] += covers(live_of(all_bytes, allocated.bytes_variance, live, allocated.bytes - freed.bytes,
                                        allocated.bytes_variance - freed.bytes_variance),
                                live_bytes);
}

static bool all_runs;

/* Returns the number of runs for a kind of call site, by default a quarter of all runs. Kinds with `is_close` get
 * all runs, because 94.0 to 94.2 % of their intervals contain the true value. A quarter of the runs could not show
 * that this share is at least 94 %. */
static unsigned runs_of(const struct kind *kind) {
  return (kind->objects > 1000 ? 2000 : 20000) / (all_runs || kind->is_close ? 1 : 4);
}

static void intervals_hold_what_they_promise(void) {
  static const struct kind kinds[] = {
      {"5 of 64 B", 5, 64, 64, 0, false},
      {"20 of 64 B", 20, 64, 64, 0, false},
      {"20 of 100 B to 10 KB", 20, 100, 10000, 0.5, false},
      {"100 of 4 KB", 100, 4096, 4096, 0, false},
      {"1,000 of 64 B", 1000, 64, 64, 0.5, true},
      {"1,000 of 1 to 100 KB", 1000, 1000, 100000, 0.7, false},
      {"20,000 of 64 B", 20000, 64, 64, 0, false},
      {"20,000 of 64 B to 4 KB", 20000, 64, 4096, 0.5, false},
      {"3,000 of 300 KB", 3000, 300000, 300000, 0.9, false},
  };
  state = 20260101;
  sampler_set_target(0); /* switches off the limit of the sampling time, which simulated allocations would exceed */
  for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
    unsigned covered[FIGURES] = {0};
    const unsigned runs = runs_of(&kinds[i]);
    for (unsigned run = 0; run < runs; run++) simulate(&kinds[i], covered);
    printf(
        "%s, %.0f %% freed: intervals of allocated objects cover the truth in %.1f %%, bytes %.1f %%, live objects "
        "%.1f "
        "%%, bytes %.1f %%\n",
        kinds[i].name, kinds[i].freed * 100, covered[0] * 100.0 / runs, covered[1] * 100.0 / runs,
        covered[2] * 100.0 / runs, covered[3] * 100.0 / runs);
    for (unsigned figure = 0; figure < FIGURES; figure++) CHECK(covered[figure] >= 0.94 * runs);
  }
}

/* ---- A real program ----------------------------------------------------------------------------------- */

/* A kind of allocation in a recording of a real JVM, which recorded.py has written. */
struct recorded_kind {
  unsigned stack; /* identifies the whole stack of native and Java frames; 0 for all stacks with few allocations */
  size_t size;
  unsigned thread;
  struct origin origin;
};

static const unsigned char *recording, *recording_end;

static uint64_t next_number(void) {
  uint64_t number = 0;
  for (unsigned shift = 0; recording < recording_end; shift += 7) {
    number |= (uint64_t)(*recording & 127) << shift;
    if (!(*recording++ & 128)) return number;
  }
  CHECK(!"the recording ends too early");
  return 0;
}

static struct recorded_kind next_kind(void) {
  struct recorded_kind kind;
  kind.stack = (unsigned)next_number();
  /*
   * The sampler hashes the sum of the return address and the stack address. The stack address is computed from the
   * address of the thread's control block, which differs between runs. The control block's address is therefore
   * subtracted from the return address, so that the sum is equal in all runs.
   */
  const char *control_block = __builtin_thread_pointer();
  kind.origin.caller = (const char *)origin_of((unsigned)next_number()).caller - (uintptr_t)control_block;
  kind.origin.stack = control_block - 8 * next_number();
  kind.size = next_number();
  kind.thread = (unsigned)next_number();
  CHECK(kind.thread < BLOCKS_IN_SLAB);
  return kind;
}

static unsigned to_front(unsigned *order, size_t at) {
  unsigned moved = order[at];
  memmove(order + 1, order, at * sizeof *order);
  return order[0] = moved;
}

/* Returns a request that glibc rounds up to the recorded chunk size. */
static size_t requested_of(const struct recorded_kind *kind) { return kind->size > 8 ? kind->size - 8 : 1; }

static bool allocate_as(const struct recorded_kind *kind) {
  struct thread_block *of_thread = &slab.blocks[kind->thread];
  of_thread->index = kind->thread;
  uint64_t *random = &thread_sampling(of_thread)->random;
  if (!*random) *random = random_bits();
  return allocate_in(of_thread, kind->origin, requested_of(kind), kind->size);
}

static unsigned char *read_file(const char *path, size_t *length) {
  static unsigned char content[1 << 20];
  FILE *file = fopen(path, "rb");
  CHECK(file);
  *length = fread(content, 1, sizeof content, file);
  fclose(file);
  return content;
}

struct seen {
  uint64_t what;
  unsigned allocated, sampled;
};

enum { MOST_PATHS = 65536 };

/* Returns the entry for an allocation's call path. All threads share the entry. */
static struct seen *seen_of_path(struct seen *paths_seen, const struct recorded_kind *kind) {
  uint64_t path = path_of(kind->origin, size_class(requested_of(kind)));
  for (size_t i = 0; i < MOST_PATHS; i++) {
    struct seen *entry = &paths_seen[(path + i) % MOST_PATHS];
    if (!entry->allocated) entry->what = path;
    if (entry->what == path) return entry;
  }
  CHECK(!"the table is full");
  return NULL;
}

static void count(struct seen *seen, bool sampled) {
  seen->allocated++;
  seen->sampled += sampled;
}

/* Returns the share of entries with 5 or more samples. Entries with fewer than 20 allocations are not counted. */
static double share_with_5_samples(const char *what, const struct seen *all, size_t length) {
  unsigned many = 0, with_some = 0, with_5 = 0;
  for (size_t i = 0; i < length; i++) {
    if (all[i].allocated < 20) continue;
    many++;
    with_some += all[i].sampled > 0;
    with_5 += all[i].sampled >= 5;
  }
  printf("of %u %s of a JVM, %u with samples, %u with 5 or more\n", many, what, with_some, with_5);
  CHECK(many > 300);
  return (double)with_5 / many;
}

/* Samples the recorded allocations of a JVM. At least 5 samples are required for 95 % of the frequent call paths,
 * but only for 90 % of the frequent whole stacks, because stacks that differ only in Java frames can share a call
 * path. */
static void call_paths_of_a_jvm_are_found(const char *path_of_recording) {
  size_t length;
  recording = read_file(path_of_recording, &length);
  recording_end = recording + length;
  size_t kinds = next_number(), stacks_with_many = next_number();
  struct recorded_kind *kind = calloc(kinds, sizeof *kind);
  unsigned *order = calloc(kinds, sizeof *order);
  struct seen *stacks = calloc(stacks_with_many + 1, sizeof *stacks), *by_path = calloc(MOST_PATHS, sizeof *by_path);
  CHECK(kind && order && stacks && by_path);
  for (unsigned i = 0; i < kinds; i++) {
    kind[i] = next_kind();
    CHECK(kind[i].stack <= stacks_with_many);
  }
  uint64_t allocations = next_number();
  const unsigned char *first = recording;
  double of_paths = 0, of_stacks = 0;
  /*
   * The results of share_with_5_samples() vary between runs with a standard deviation of 0.003. Their means, of_paths
   * and of_stacks, are about 0.009 above the limits that are checked below.
   */
  enum { RUNS = 4 };
  for (unsigned run = 0; run < RUNS; run++) {
    recording = first;
    memset(stacks, 0, (stacks_with_many + 1) * sizeof *stacks);
    memset(by_path, 0, MOST_PATHS * sizeof *by_path);
    for (unsigned i = 0; i < kinds; i++) order[i] = i;
    start_again(DEFAULT_SAMPLE_INTERVAL);
    for (uint64_t i = 0; i < allocations; i++) {
      uint64_t at = next_number();
      CHECK(at < kinds);
      const struct recorded_kind *next = &kind[to_front(order, at)];
      bool sampled = allocate_as(next);
      count(&stacks[next->stack], sampled);
      count(seen_of_path(by_path, next), sampled);
    }
    of_paths += share_with_5_samples("call paths", by_path, MOST_PATHS) / RUNS;
    of_stacks += share_with_5_samples("whole stacks", stacks + 1, stacks_with_many) / RUNS;
    printf("%" PRIu64 " samples of %" PRIu64 " allocations\n", sampler_totals().samples, allocations);
  }
  CHECK(of_paths >= 0.95);
  CHECK(of_stacks >= 0.9);
  free(kind);
  free(order);
  free(stacks);
  free(by_path);
}

/* ---- Cost --------------------------------------------------------------------------------------------- */

static uint64_t billed_for_a_sample(void) {
  struct sums of_sample = {0};
  start_again(DEFAULT_SAMPLE_INTERVAL);
  sums = &of_sample;
  uint64_t before = sampler_totals().time_ns;
  CHECK(allocate(5, 100));
  sums = NULL;
  return sampler_totals().time_ns - before;
}

/* The sampler does not time each sample. It multiplies the sample's units of work by the time of a unit, which
 * sampler_measure() measures and changes by an eighth at most. */
static void samples_are_billed_their_work(void) {
  sampler_set_target(0);
  work_of_sample = 1000;
  CHECK_EQUAL(billed_for_a_sample(), 25000);
  sampler_measure(); /* no work is measured, so the time of a unit of work stays 25 ns */
  CHECK_EQUAL(billed_for_a_sample(), 25000);
  work_of_rehearsal = 1000000;
  sampler_measure();
  CHECK_EQUAL(billed_for_a_sample(), 21875);
  time_of_rehearsal_ns = 1000000;
  work_of_rehearsal = 1;
  sampler_measure();
  CHECK_EQUAL(billed_for_a_sample(), 24609);
  work_of_sample = 0;
  sampler_set_target(DEFAULT_OVERHEAD_TARGET);
}

/* ---- Extreme sampling intervals ----------------------------------------------------------------------- */

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
    sampler_visit(block, NULL, 100, 100, (struct move){0}, origin);
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

/* Fills the table of call paths. The counter without_path must then count allocations of new paths that reach the
 * sampler. The sampler samples these allocations by size only, so the estimate of all bytes must stay right. */
static void a_full_table_leaves_sizes(void) {
  start_again(65536);
  double truth = 0;
  for (unsigned i = 0; i < 300000; i++) {
    allocate(i, 4096);
    truth += 4096;
  }
  CHECK(sampler_totals().without_path > 0);
  CHECK(fabs((double)sampler_totals().estimated_bytes / truth - 1) < 0.1);
}

int main(int argc, char **argv) {
  CHECK(argc == 2 || argc == 3);
  all_runs = argc == 3 && strcmp(argv[2], "all") == 0;
  samples_are_billed_their_work();
  first_allocations_of_a_path_are_taken();
  interval_one_takes_everything();
  interval_zero_takes_nothing();
  estimates_have_no_bias();
  a_hot_large_path_is_visited_seldom_and_a_new_one_at_once();
  a_close_interval_takes_everything_from_then_on_also_of_hot_paths();
  large_paths_that_drive_out_each_other_have_no_bias();
  hot_large_paths_of_one_set_are_visited_seldom();
  intervals_hold_what_they_promise();
  a_full_table_leaves_sizes();
  rare_sites_are_found_among_hot_ones();
  call_paths_of_a_jvm_are_found(argv[1]);
  return 0;
}
