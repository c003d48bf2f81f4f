/* Decides whether to sample an allocation whose call path's counter is at 0, and draws the counter's next value. See
 * sampler.h. */
#include "sample/sampler.h"

#include <string.h>

#include "account/size_class.h"
#include "platform/arch.h"
#include "platform/clock.h"
#include "sample/call_sites.h"
#include "sample/governor.h"
#include "sample/native_stack.h"
#include "sample/work.h"

/* The first four allocations of each call path are sampled, unless the governor reduces their probability. This is k
 * in sampler.h. */
#define FIRST_SAMPLES 4u
#define USUAL_UNIT_PS 25000u /* the picoseconds of a unit of work (sample/work.h) before they are measured */
/* The number of stack walks that sampler_measure() times together. The first walk is slow, because little of its
 * data is in the processor's caches; the other walks are fast. A sample's stack walk takes about as long as the mean
 * of all these walks. */
#define REHEARSALS 3u
#define SAMPLE_ALL_INTERVAL 8u
#define HIGHEST_LEVEL 7u
#define LEVEL_MASK 7u
/* Marks a counter for which a number above 255 was drawn. The counter cannot hold this number, begins at 255 and
 * reaches 0 too early, so no sample is taken then. */
#define UNFINISHED 0x80u
#define PATHS 16384u /* a power of two */
#define PROBES 8u
/* A call path is busy if its allocations are so large or so frequent that more than ENOUGH_SAMPLES samples are
 * expected in about two seconds. The sampling probability of a busy path falls. In the formula of sampler.h, this
 * limit is e. */
#define ENOUGH_SAMPLES 512.0
/* A thread that reaches its own limit (burst_share()) keeps at least this share of bytes / interval, its sampling
 * probability by size. An allocation of at least eight sampling intervals is therefore always sampled, unless its
 * call path is busy. */
#define LEAST_SHARE_OF_SIZES 0.125
/* The table of call paths counts time in ticks of 2^27 ns, 0.13 s. */
#define TICK_SHIFT 27
#define TICKS_UNTIL_STALE 75u
/* Once in 64 calls of the sampler, a thread adds the cost of these calls to visits_ns. */
#define VISITS_PER_COST_COUNT 64u

static struct governor governor = {.target_ppm = DEFAULT_OVERHEAD_TARGET, .credit_ns = GOVERNOR_FIRST_CREDIT_NS};
static uint64_t unit_ps = USUAL_UNIT_PS; /* time of a unit of work, in picoseconds */
static size_t interval = DEFAULT_SAMPLE_INTERVAL;
static double samples_per_byte = 1.0 / DEFAULT_SAMPLE_INTERVAL;
uint32_t interval_number;
static uint64_t samples;
static uint64_t estimated_bytes;
static uint64_t without_path;
static uint64_t visits_ns;

/* Sets all counters of all threads, and their levels, to 0, so that the next allocation that a counter counts
 * reaches the sampler. Numbers that were drawn for a longer sampling interval would delay samples. A thread that is
 * drawing a number at that moment may overwrite the 0. */
static void visit_all_at_once(void) {
  for (uint32_t i = 0; i < thread_block_count(); i++) {
    struct thread_block *block = thread_block_at(i);
    for (size_t bucket = 0; block && bucket < FILTER_BUCKETS; bucket++) {
      __atomic_store_n(&thread_levels(block)[bucket], 0, __ATOMIC_RELAXED);
      __atomic_store_n(&block->filter[bucket], 0, __ATOMIC_RELAXED);
    }
  }
}

/* Stores the sampling probability first, then the interval. A thread that takes a sample meanwhile uses the old or
 * the new probability, and weights the sample by the probability that it used. */
void sampler_set_interval(size_t bytes) {
  double rate = bytes ? 1.0 / (double)bytes : 0;
  __atomic_store(&samples_per_byte, &rate, __ATOMIC_RELAXED);
  __atomic_store_n(&interval, bytes, __ATOMIC_RELAXED);
  __atomic_fetch_add(&interval_number, 1, __ATOMIC_RELAXED);
  visit_all_at_once();
}

size_t sampler_interval(void) { return __atomic_load_n(&interval, __ATOMIC_RELAXED); }

void sampler_set_target(uint32_t target_ppm) { __atomic_store_n(&governor.target_ppm, target_ppm, __ATOMIC_RELAXED); }

uint32_t sampler_target(void) { return __atomic_load_n(&governor.target_ppm, __ATOMIC_RELAXED); }

/* ---- Random numbers ----------------------------------------------------------------------------------- */

/* The output function of SplitMix64 (Steele, Lea, Flood: Fast splittable pseudorandom number generators, OOPSLA 2014).
 * Any state is valid. */
static uint64_t mix(uint64_t x) {
  x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
  x = (x ^ x >> 27) * 0x94d049bb133111ebu;
  return x ^ x >> 31;
}

static uint64_t draw(uint64_t *state) { return mix(*state += 0x9e3779b97f4a7c15u); }

uint64_t sampler_random(struct thread_block *block) {
  static uint64_t shared;
  uint64_t *state = block ? &thread_sampling(block)->random : &shared;
  if (!*state) *state = mix((uintptr_t)state ^ (uintptr_t)&state);
  return draw(state);
}

static bool happens(uint32_t random, double probability) { return (double)random < probability * 0x1p32; }

/* Returns -log2(x) for a random number x between 0 and 1. With x = (1 + f) 2^-n the result is n - log2(1 + f); a
 * polynomial approximates the logarithm with an error of at most 0.00013. */
static double negative_log2(uint32_t random) {
  unsigned zeros = (unsigned)__builtin_clz(random | 1);
  double f = (double)(random << zeros) * 0x1p-31 - 1;
  return zeros + 1 - f - f * (1 - f) * (0.43838 + f * (-0.23750 + f * 0.08065));
}

/* Sets a counter to a geometrically distributed number, so that each later allocation reaches the sampler with
 * probability 2^-level. P(number > g) = (1 - 2^-level)^(g + 1). */
static void draw_counter(uint32_t random, unsigned level, uint8_t *left, uint8_t *level_of_left) {
  /* scale[level] is 1 / -log2(1 - 2^-level). */
  static const double scale[HIGHEST_LEVEL + 1] = {0, 1, 2.409421, 5.190893, 10.740054, 21.832302, 44.013936, 88.375812};
  double spared = negative_log2(random) * scale[level];
  bool fits = spared < 256;
  __atomic_store_n(level_of_left, (uint8_t)(fits ? level : level | UNFINISHED), __ATOMIC_RELAXED);
  __atomic_store_n(left, fits ? (uint8_t)spared : 255, __ATOMIC_RELAXED);
}

/* ---- The cost ----------------------------------------------------------------------------------------- */

static uint64_t time_of(uint32_t work) { return work * __atomic_load_n(&unit_ps, __ATOMIC_RELAXED) / 1000; }

void sampler_spend(struct thread_block *block, uint32_t work) {
  uint64_t took = time_of(work);
  coarse_clock_advance(took);
  uint64_t now = coarse_monotonic_ns();
  governor_spend(&governor, now - took, now);
  if (block) burst_spend(&thread_sampling(block)->burst, took, now);
}

static void count_visit_cost(struct thread_block *block) {
  uint32_t visits = 1;
  if (block) {
    struct thread_sampling *sampling = thread_sampling(block);
    if (++sampling->visits < VISITS_PER_COST_COUNT) return;
    visits = sampling->visits;
    sampling->visits = 0;
  }
  __atomic_fetch_add(&visits_ns, time_of(visits * WORK_VISIT), __ATOMIC_RELAXED);
}

/* Changes `unit_ps` by an eighth at most, so that an interrupted measurement has little effect. */
void sampler_measure(void) {
  uint64_t before = monotonic_ns(), begin = monotonic_ns();
  uint32_t work = 0;
  for (unsigned i = 0; i < REHEARSALS; i++) work += native_stack_rehearse();
  uint64_t took = monotonic_ns() - begin, of_clock = begin - before;
  if (work == 0) return;
  uint64_t measured = (took > of_clock ? took - of_clock : 0) * 1000 / work;
  uint64_t known = __atomic_load_n(&unit_ps, __ATOMIC_RELAXED), least = known - known / 8, most = known + known / 8;
  __atomic_store_n(&unit_ps, measured < least ? least : measured > most ? most : measured, __ATOMIC_RELAXED);
}

/* ---- Call paths --------------------------------------------------------------------------------------- */

/* The table of call paths, with open addressing. Threads write without a lock, so they may lose counts or briefly mix
 * two paths. That does no harm: a sample's probability must be known, but need not be exactly the intended one. */
struct path {
  uint32_t tag; /* 0 in a free entry */
  uint32_t seen;
  float due;     /* samples expected from the allocated sizes (d in sampler.h); halved every eight ticks */
  uint32_t tick; /* when an allocation of this call path last reached the sampler, in ticks (TICK_SHIFT) */
};

static struct path paths[PATHS];
static struct path overflow_path = {.seen = UINT32_MAX};

static uint32_t tick_of(uint64_t ns) { return (uint32_t)(ns >> TICK_SHIFT); }

static bool claim(struct path *path, uint32_t found, uint32_t tag, uint32_t now) {
  if (!__atomic_compare_exchange_n(&path->tag, &found, tag, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
    return found == tag;
  }
  float none = 0;
  __atomic_store_n(&path->seen, 0, __ATOMIC_RELAXED);
  __atomic_store(&path->due, &none, __ATOMIC_RELAXED);
  __atomic_store_n(&path->tick, now, __ATOMIC_RELAXED);
  return true;
}

/* Returns the entry of a call path, new or known; NULL if there is no room. */
static struct path *known_path(uint64_t hash, uint32_t now) {
  uint32_t tag = (uint32_t)(hash >> 32) | 1, stalest_tag = 0, longest = 0;
  struct path *stalest = NULL;
  for (size_t i = 0; i < PROBES; i++) {
    struct path *path = &paths[(hash + i) % PATHS];
    uint32_t found = __atomic_load_n(&path->tag, __ATOMIC_RELAXED);
    if (found == tag || (found == 0 && claim(path, 0, tag, now))) return path;
    int32_t ago = (int32_t)(now - __atomic_load_n(&path->tick, __ATOMIC_RELAXED));
    if (ago < (int32_t)TICKS_UNTIL_STALE || (uint32_t)ago < longest) continue;
    stalest = path;
    stalest_tag = found;
    longest = (uint32_t)ago;
  }
  return stalest && claim(stalest, stalest_tag, tag, now) ? stalest : NULL;
}

static struct path *path_at(uint64_t hash, uint32_t now) {
  struct path *path = known_path(hash, now);
  if (path) return path;
  __atomic_fetch_add(&without_path, 1, __ATOMIC_RELAXED);
  return &overflow_path;
}

/* Returns a sum after it has decayed for `ticks`. The sum is halved every eight ticks, and falls linearly in
 * between. */
static double fade(double sum, uint32_t ticks) {
  if (ticks >= 8 * 31) return 0;
  return sum * (1 - (ticks % 8) / 16.0) / (double)(1u << ticks / 8);
}

static double count_due(struct path *path, double samples_due, uint32_t now) {
  float before;
  __atomic_load(&path->due, &before, __ATOMIC_RELAXED);
  int32_t ago = (int32_t)(now - __atomic_load_n(&path->tick, __ATOMIC_RELAXED));
  double left = fade((double)before, ago > 0 ? (uint32_t)ago : 0); /* ago < 0: another thread read the clock later */
  float after = (float)(left + samples_due);
  __atomic_store(&path->due, &after, __ATOMIC_RELAXED);
  __atomic_store_n(&path->tick, now, __ATOMIC_RELAXED);
  return left;
}

static uint32_t count_seen(struct path *path, double visits) {
  uint32_t before = __atomic_load_n(&path->seen, __ATOMIC_RELAXED), after;
  if (!__builtin_add_overflow(before, (uint32_t)visits, &after)) {
    __atomic_store_n(&path->seen, after, __ATOMIC_RELAXED);
  }
  return before;
}

/* Hashes a call path. The stack height is the distance of the stack from the thread pointer, so that a call path has
 * the same hash in all threads. */
static uint64_t path_of(struct origin origin, size_t size_class) {
  uintptr_t height = thread_pointer() - (uintptr_t)origin.stack;
  return mix((uintptr_t)origin.caller + height * 0x9e3779b97f4a7c15u + ((uint64_t)size_class << 58));
}

/* ---- The probability ---------------------------------------------------------------------------------- */

static unsigned level_for(double probability) {
  if (probability >= 1) return 0;
  double one = 1;
  uint64_t bits_of_one, bits;
  memcpy(&bits_of_one, &one, sizeof one);
  memcpy(&bits, &probability, sizeof probability);
  uint64_t level = (bits_of_one - bits) >> 52;
  return level < HIGHEST_LEVEL ? (unsigned)level : HIGHEST_LEVEL;
}

static struct governor_shares shares(struct thread_block *block, uint64_t now) {
  uint32_t target = sampler_target();
  if (target == 0 || sampler_interval() == 1) return (struct governor_shares){1, 1, 1};
  struct governor_shares left = governor_shares(&governor);
  double of_thread = block ? burst_share(&thread_sampling(block)->burst, now, target) : 1;
  double of_large = of_thread > LEAST_SHARE_OF_SIZES ? of_thread : LEAST_SHARE_OF_SIZES;
  return (struct governor_shares){left.of_busy, left.of_numbers * of_thread,
                                  left.of_sizes < of_large ? left.of_sizes : of_large};
}

static bool samples_all(void) { return sampler_interval() <= SAMPLE_ALL_INTERVAL; }

static double at_most_1(double value) { return value < 1 ? value : 1; }

/* Counts an allocation for its call path, and returns the wanted sampling probability. The allocation stands for
 * `visits` allocations. */
static double wanted_probability(const struct sample *allocation, double visits) {
  uint64_t now = coarse_monotonic_ns();
  struct governor_shares left = shares(allocation->block, now);
  struct path *path = path_at(path_of(allocation->origin, size_class(allocation->requested)), tick_of(now));
  double rate;
  __atomic_load(&samples_per_byte, &rate, __ATOMIC_RELAXED);
  double by_size = (double)(allocation->bytes ? allocation->bytes : 1) * rate;
  double due = count_due(path, at_most_1(by_size) * visits, tick_of(now)), enough = ENOUGH_SAMPLES * left.of_busy;
  by_size = at_most_1(by_size * left.of_sizes);
  if (due > enough && !samples_all()) by_size *= enough / due;
  double by_number = at_most_1((double)FIRST_SAMPLES / (count_seen(path, visits) + 1.0)) * left.of_numbers;
  return by_number > by_size ? by_number : by_size;
}

/*
 * Returns the next level of a counter. A low level lets more allocations reach the sampler. The level falls
 * immediately, but rises by one only in a random quarter of the calls. A burst on a rare call path thus keeps the level
 * low, although a frequent path shares the counter.
 */
static unsigned step_level(unsigned wanted_level, unsigned level, uint32_t random) {
  return wanted_level > level ? level + (random % 4 == 0) : wanted_level;
}

/* ---- Visits: decisions about allocations that reach the sampler ------------------------------------------- */

static void take(struct sample *allocation, double probability) {
  __atomic_fetch_add(&samples, 1, __ATOMIC_RELAXED);
  __atomic_fetch_add(&estimated_bytes, (uint64_t)((double)allocation->bytes / probability), __ATOMIC_RELAXED);
  allocation->probability = probability;
  allocation->samples_all = samples_all();
  if (!call_sites_on()) return;
  allocation->object = call_sites_record(allocation);
  sampler_spend(allocation->block, allocation->work);
}

static unsigned consider(uint32_t random, double visits, struct sample *allocation) {
  double probability = wanted_probability(allocation, visits);
  unsigned next_level = level_for(probability);
  if (probability * visits > 1) probability = 1 / visits;
  if (happens(random, probability * visits)) take(allocation, probability);
  return next_level;
}

/* Samples an allocation while the interval is 1. The counter stays at 0, so that the next allocation also reaches the
 * sampler. */
static void take_every(struct sample *allocation, uint8_t *left) {
  __atomic_store_n(left, 0, __ATOMIC_RELAXED);
  take(allocation, 1);
}

/* Decides whether to sample an allocation that found the counter of its call path at 0. With a counter of level n,
 * an allocation comes here with probability 2^-n. `drawn` is the old level, perhaps with the bit UNFINISHED. Stores
 * a new random number in the counter, `left`, and the new level in `level_of_left`. */
__attribute__((noinline)) static void visit(struct sample *allocation, uint8_t drawn, uint8_t *left,
                                            uint8_t *level_of_left) {
  count_visit_cost(allocation->block);
  if (sampler_interval() == 1) {
    take_every(allocation, left);
    return;
  }
  unsigned level = drawn & LEVEL_MASK;
  uint64_t bits = sampler_random(allocation->block);
  if (sampler_interval() == 0) {
    level = HIGHEST_LEVEL;
  } else if (!(drawn & UNFINISHED)) {
    level = step_level(consider((uint32_t)(bits >> 32), (double)(1u << level), allocation), level, (uint32_t)bits);
  }
  draw_counter((uint32_t)bits, level, left, level_of_left);
}

void *sampler_visit(struct thread_block *block, void *object, size_t requested, size_t bytes, struct move move,
                    struct origin origin) {
  struct sample allocation = {block, object, requested, bytes, move, origin, .work = 0};
  size_t bucket = filter_bucket(origin, size_class(requested));
  uint8_t *level_of_left = &thread_levels(block)[bucket];
  floating_point of_program = floating_point_enter();
  visit(&allocation, *level_of_left, &block->filter[bucket], level_of_left);
  floating_point_leave(of_program);
  return allocation.object;
}

/*
 * Decides whether to sample a large allocation. An allocation comes here with probability 2^-n, where n is the level of
 * its call path's counter. Without a counter (large_path() returns NULL), all allocations of the path come here, as at
 * level 0. While the sampling interval is 0, counters are marked as UNFINISHED, so that no sample is taken when they
 * reach 0.
 */
void *sampler_visit_large(struct thread_block *block, void *object, size_t requested, size_t bytes, struct move move,
                          struct origin origin) {
  uint32_t tag = large_tag(origin, size_class(requested));
  struct large_path *path = large_path(block, tag);
  uint8_t drawn = path ? path->level : 0;
  if (!path) path = large_path_set(block, tag) + sampler_random(block) % LARGE_PATHS_IN_SET;
  path->tag = tag;
  if (!sampler_interval()) {
    path->level = UNFINISHED;
    path->left = UINT8_MAX;
    return object;
  }
  struct sample allocation = {block, object, requested, bytes, move, origin, .work = 0};
  floating_point of_program = floating_point_enter();
  visit(&allocation, drawn, &path->left, &path->level);
  floating_point_leave(of_program);
  return allocation.object;
}

__attribute__((noinline)) static void visit_always(struct sample *allocation) {
  count_visit_cost(allocation->block);
  consider((uint32_t)(sampler_random(allocation->block) >> 32), 1, allocation);
}

void *sampler_visit_always(struct thread_block *block, void *object, size_t requested, size_t bytes, struct move move,
                           struct origin origin) {
  struct sample allocation = {block, object, requested, bytes, move, origin, .work = 0};
  if (!sampler_interval()) return object;
  floating_point of_program = floating_point_enter();
  visit_always(&allocation);
  floating_point_leave(of_program);
  return allocation.object;
}

struct sampler_totals sampler_totals(void) {
  return (struct sampler_totals){
      __atomic_load_n(&samples, __ATOMIC_RELAXED), __atomic_load_n(&estimated_bytes, __ATOMIC_RELAXED),
      __atomic_load_n(&without_path, __ATOMIC_RELAXED),
      __atomic_load_n(&governor.spent_ns, __ATOMIC_RELAXED) + __atomic_load_n(&visits_ns, __ATOMIC_RELAXED),
      (uint32_t)(shares(NULL, 0).of_numbers * 1e6)};
}
