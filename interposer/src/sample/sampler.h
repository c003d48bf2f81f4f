/*
 * Which allocations are looked at closely.
 *
 * An allocation of s bytes should be looked at with probability p = max(k / n, s / interval * min(1, e / d)), at most
 * 1: n is how many allocations its call path has seen so far in the whole process, k is 4, the interval 512 KiB, d the
 * samples that the path was due by size alone in about the last two seconds, and e is 512. The first part finds code
 * that allocates rarely and leaves hot code alone (k (1 + ln (n / k)) samples for n allocations), the second sees to it
 * that large memory is never missed. A path that is due more than enough gets some 240 samples a second, however much
 * it allocates: it neither takes the time that other code needs nor costs its program more than that. A call path here
 * is return address, stack height and size class: in a JVM one return address makes most calls.
 *
 * What is known of call paths has room for 16,384. Recursion makes ever new ones, so the stalest of those where a new
 * one belongs gives way, unless all were met within ten seconds; then the new one is sampled by its size alone,
 * together with all others of that kind, and counted. A path that comes back is new.
 *
 * The fast path cannot look n up. It hashes the call path into one of 256 counters of its thread and counts that down;
 * only at 0 does the allocation come here, a visit. A counter is drawn anew at each visit so that every allocation is
 * visited with the same probability v = 2^-level, whatever was visited before (a geometric distribution). The visit
 * knows the call path exactly and accepts it with probability p / v, so p is what was wanted even if call paths share a
 * counter, except that it cannot be more than v. Levels end at 7: a new call path that shares its counter with a hot
 * one is found with every 128th allocation, and a visit of 300 instructions costs less than three an allocation. They
 * rise slowly, so that its next allocations are found sooner.
 *
 * Where samples take more time than they may (governor.h), e, then k, then all p are lower by a common share. With an
 * interval of 1 nothing is left out, whatever it takes; with one of at most 8, and without a target, nothing is left
 * out from when it is set. An allocation of eight intervals is always looked at, unless its path is a busy one. Visits
 * are billed too, but nothing is lower for them: of hot code they are some one in 110 allocations whatever is sampled.
 *
 * Requests above 32 KiB are seldom enough for a look at their call path. Each thread keeps 32 of these paths in eight
 * sets, each path with a counter of its own; an allocation whose path is not in its set is visited, and its path takes
 * the place of one of the four there, by lot. So a rare path is not kept waiting by a hot one, and hot ones are visited
 * often only where more than four meet in a set. That leaves estimates without bias: which path is driven out, and by
 * which allocation, does not depend on how its counter was drawn, and what is left of the counter is never used.
 *
 * A sample of probability p stands for 1 / p allocations like it. That p depends on what came before does not matter:
 * for any p that was fixed before the draw, the expected sum of s / p over samples is the sum of s over allocations.
 */
#ifndef MALLOMETER_SAMPLE_SAMPLER_H
#define MALLOMETER_SAMPLE_SAMPLER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "account/thread_block.h"
#include "platform/visibility.h"
#include "sample/move.h"
#include "sample/origin.h"

#define DEFAULT_SAMPLE_INTERVAL 524288u
/* Millionths of one processor's time. */
#define DEFAULT_OVERHEAD_TARGET 5000u

/* Bytes between samples of code that allocates much; 0 samples nothing, 1 samples every allocation, which is exact only
 * from the start. From any thread. */
void sampler_configure(size_t interval);

size_t sampler_interval(void);

/* What the governor holds to; 0: there is none. See governor.h. */
void sampler_aim(uint32_t target_ppm);
uint32_t sampler_target(void);

/*
 * The counter of a call path, and one allocation less in it: true if that is to be visited. The multiplier is 2^32 over
 * the golden ratio, or its upper half where that takes an instruction less (HASH_FACTOR): the product's highest bits
 * depend on the lowest 32 bits of the sum, or on the lowest 16.
 */
static inline size_t filter_bucket_of(uintptr_t path) {
  size_t hash = (uint32_t)path * HASH_FACTOR;
  __asm__("" : "+r"(hash)); /* so that the shift may be part of an addition */
  return hash >> 24;
}

static inline uintptr_t filter_path(struct origin origin, size_t size_class) {
  uintptr_t path = words_above((uintptr_t)origin.stack, size_class);
  __asm__("" : "+r"(path)); /* in this order the sum takes two instructions less */
  return path + (uintptr_t)origin.caller;
}

static inline size_t filter_bucket(struct origin origin, size_t size_class) {
  return filter_bucket_of(filter_path(origin, size_class));
}

static inline bool filter_visits(struct thread_block *block, size_t bucket) {
  return __builtin_expect(LOCAL_DEC_WAS_ZERO(block, bucket, offsetof(struct thread_block, filter)), 0);
}

/* How often the interval was set: all paths of large allocations are new then. */
extern HIDDEN uint32_t interval_number;

/* The same of a large allocation; `tag` is that of its call path. */
static inline uint32_t large_tag(struct origin origin, size_t size_class) {
  uint64_t path = (uintptr_t)origin.caller * 32 + size_class + (uintptr_t)origin.stack * 0x9e3779b97f4a7c15u;
  return (uint32_t)(path * 0x9e3779b97f4a7c15u >> 32) ^ __atomic_load_n(&interval_number, __ATOMIC_RELAXED);
}

enum { LARGE_PATHS_IN_SET = 4 };

static inline struct large_path *large_path_set(struct thread_block *block, uint32_t tag) {
  const uint32_t sets = LARGE_PATHS / LARGE_PATHS_IN_SET;
  return thread_large_paths(block) + tag / (UINT32_MAX / sets + 1) * LARGE_PATHS_IN_SET;
}

/* NULL if it is not among them. */
static inline struct large_path *large_path(struct thread_block *block, uint32_t tag) {
  struct large_path *set = large_path_set(block, tag);
  for (unsigned i = 0; i < LARGE_PATHS_IN_SET; i++) {
    if (set[i].tag == tag) return &set[i];
  }
  return NULL;
}

static inline bool large_filter_visits(struct thread_block *block, uint32_t tag) {
  struct large_path *path = large_path(block, tag);
  if (__builtin_expect(!path, 0)) return true;
  return __builtin_expect(LOCAL_DEC_WAS_ZERO(path, (size_t)0, offsetof(struct large_path, left)), 0);
}

/*
 * Visits an allocation because its counter, in the calling thread's own block, was at zero. `bytes` is its size in the
 * unit of the accounting. Returns where the object is now. This and the next allocate nothing, lock nothing, keep
 * errno.
 */
void *sampler_visit(struct thread_block *block, void *object, size_t requested, size_t bytes, struct move move,
                    struct origin origin);

/* The same, because of large_filter_visits(). */
void *sampler_visit_large(struct thread_block *block, void *object, size_t requested, size_t bytes, struct move move,
                          struct origin origin);

/* Visits an allocation whatever its counter says. All that come here must be of a kind that always does; `block` may be
 * NULL. */
void *sampler_visit_always(struct thread_block *block, void *object, size_t requested, size_t bytes, struct move move,
                           struct origin origin);

/* Bills what is done for a sample after it was taken. `block` is the calling thread's, or NULL. From any thread. */
void sampler_spend(struct thread_block *block, uint32_t work);

/*
 * Measures what a unit of work takes (sample/work.h), by a stack that it follows. To be called now and then by threads
 * of the library that have just slept: what samples need is seldom in the processor's caches either.
 */
void sampler_measure(void);

/* 64 random bits for a thread, or for those without a block. */
uint64_t sampler_random(struct thread_block *block);

struct sampler_totals {
  /* Allocations that were looked at. */
  uint64_t samples;
  /* What they stand for, in bytes: an estimate of the bytes that were allocated. */
  uint64_t estimated_bytes;
  /* Visits of call paths that the table had no room for; they are sampled by size alone, as if they were one path. */
  uint64_t unknown_paths;
  /* Time that samples and visits took, in nanoseconds: their work times what a unit of it takes. */
  uint64_t time_ns;
  /* What the governor leaves of the probabilities of rare code, in millionths. */
  uint32_t share_ppm;
};

struct sampler_totals sampler_totals(void);

#endif
