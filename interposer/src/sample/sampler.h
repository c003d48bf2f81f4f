/*
 * The sampler chooses the allocations that are examined closely.
 *
 * An allocation of s bytes should be sampled with probability p = max(k / n, s / interval * min(1, e / d)), at most 1:
 * - n is the number of allocations that its call path had so far in the whole process; k is 4.
 * - The interval is 512 KiB by default.
 * - d is the number of samples expected from the sizes of the call path's allocations in about the last two seconds:
 *   the sum of min(1, s / interval). e is 512.
 *
 * The term k / n finds code that allocates rarely, and takes only k (1 + ln (n / k)) samples of n allocations of hot
 * code. The second term finds large memory. A path with d above e is called busy. It gets some 240 samples a second,
 * however much it allocates. A call path here consists of return address, stack height and size class, because in a JVM
 * most calls have the same return address.
 *
 * The fast path has no time to look n up. It hashes the call path to one of 256 counters of its thread and counts that
 * counter down. Only an allocation that finds the counter at 0 reaches the sampler; this is called a visit. Each visit
 * draws a new number for the counter from a geometric distribution, so that every allocation is visited with the same
 * probability v = 2^-level. The visit samples the allocation with probability p / v, so the total probability is p,
 * even if call paths share a counter. p is limited to v.
 *
 * The highest level is 7. A new call path that shares its counter with a hot path is therefore found at about its 128th
 * allocation. A visit takes 300 instructions, which at level 7 is less than three instructions for each allocation.
 *
 * The table of call paths has room for 16,384. A new path replaces the stalest path of its probe sequence. If all paths
 * of the sequence were used within the last ten seconds, the new path finds no room: its visits are counted
 * (without_path), and its allocations are sampled by their size alone.
 *
 * While samples take more time than the target (governor.h), the sampler lowers first e, then k, then s / interval,
 * each by a factor that is the same for all call paths. The target does not reduce visits: in hot code about one in 110
 * allocations is visited. With an interval of 1 every allocation is sampled, however much time that takes. Once an
 * interval of at most 8 is set and there is no target, every allocation of at least 8 bytes is sampled. An allocation
 * of at least eight intervals is always sampled, unless its path is busy (d above e).
 *
 * Requests above 32 KiB are so rare that their call path is looked up. Each thread keeps 32 of these paths in eight
 * sets, and each path has a counter of its own. An allocation whose path is not in its set is visited, and its path
 * replaces a random one of the four paths in the set. Estimates stay unbiased, because the choice of the replaced path
 * does not depend on how its counter was drawn.
 *
 * A sample of probability p stands for 1 / p allocations like it. p may depend on earlier allocations: for any p that
 * was fixed before the draw, the expected sum of s / p over samples is the sum of s over allocations.
 */
#ifndef MALLOMETER_SAMPLE_SAMPLER_H
#define MALLOMETER_SAMPLE_SAMPLER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "account/size_class.h"
#include "account/thread_block.h"
#include "platform/visibility.h"
#include "sample/move.h"
#include "sample/origin.h"

#define DEFAULT_SAMPLE_INTERVAL 524288u
/* The default of MALLOMETER_OVERHEAD_TARGET: the CPU time of samples, in millionths of one processor. */
#define DEFAULT_OVERHEAD_TARGET 5000u

/* Sets the sampling interval: the mean number of allocated bytes between two samples of a call path. Samples are
 * more frequent on call paths with few allocations, and less frequent on busy call paths. 0 samples nothing; 1
 * samples every allocation. May be called from any thread. */
void sampler_set_interval(size_t interval);

size_t sampler_interval(void);

/* Sets the target of the CPU time of samples (governor.h); 0: no limit. */
void sampler_set_target(uint32_t target_ppm);
uint32_t sampler_target(void);

/* Returns the index of a call path's counter. HASH_FACTOR is about 2^32 divided by the golden ratio
 * (platform/arch.h). */
static inline size_t filter_bucket_of(uintptr_t path) {
  size_t hash = (uint32_t)path * HASH_FACTOR;
  __asm__("" : "+r"(hash)); /* lets the compiler make the shift a part of the addition that follows */
  return hash >> 24;
}

static inline uintptr_t filter_path(struct origin origin, size_t size_class) {
  uintptr_t path = word_address((uintptr_t)origin.stack, size_class);
  __asm__("" : "+r"(path)); /* keeps this order of additions, which saves two instructions */
  return path + (uintptr_t)origin.caller;
}

static inline size_t filter_bucket(struct origin origin, size_t size_class) {
  return filter_bucket_of(filter_path(origin, size_class));
}

static inline bool filter_visits(struct thread_block *block, size_t bucket) {
  return __builtin_expect(LOCAL_DEC_WAS_ZERO(block, bucket, offsetof(struct thread_block, filter)), 0);
}

/* Counts the changes of the sampling interval. After each change all call paths of large allocations count as new. */
extern HIDDEN uint32_t interval_number;

static inline uint32_t large_tag(struct origin origin, size_t size_class) {
  uint64_t path = (uintptr_t)origin.caller * 32 + size_class + (uintptr_t)origin.stack * 0x9e3779b97f4a7c15u;
  return (uint32_t)(path * 0x9e3779b97f4a7c15u >> 32) ^ __atomic_load_n(&interval_number, __ATOMIC_RELAXED);
}

enum { LARGE_PATHS_IN_SET = 4 };

static inline struct large_path *large_path_set(struct thread_block *block, uint32_t tag) {
  const uint32_t sets = LARGE_PATHS / LARGE_PATHS_IN_SET;
  return thread_large_paths(block) + tag / (UINT32_MAX / sets + 1) * LARGE_PATHS_IN_SET;
}

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
 * Decides whether to sample an allocation for which filter_visits() returned true, because the counter of its call path
 * was at 0. `bytes` is the size that the library counts for the object: the usable or the requested size. Returns the
 * object's address, which may change. Does not allocate or lock; preserves errno.
 */
void *sampler_visit(struct thread_block *block, void *object, size_t requested, size_t bytes, struct move move,
                    struct origin origin);

/* Decides whether to sample a large allocation for which large_filter_visits() returned true. */
void *sampler_visit_large(struct thread_block *block, void *object, size_t requested, size_t bytes, struct move move,
                          struct origin origin);

/* Counts an allocation. If the counter of its call path was at 0, decides whether to sample the allocation. Returns
 * the object's address, which may change. */
static inline void *sampler_offer(struct thread_block *block, void *object, size_t requested, size_t bytes,
                                  struct move move, struct origin origin) {
  size_t class = size_class(requested);
  if (requested > LARGEST_FAST_REQUEST) {
    if (!large_filter_visits(block, large_tag(origin, class))) return object;
    return sampler_visit_large(block, object, requested, bytes, move, origin);
  }
  if (!filter_visits(block, filter_bucket(origin, class))) return object;
  return sampler_visit(block, object, requested, bytes, move, origin);
}

/* Decides whether to sample an allocation that no counter counts, for example because its thread has no block. Must
 * be called for each such allocation. `block` may be NULL. */
void *sampler_visit_always(struct thread_block *block, void *object, size_t requested, size_t bytes, struct move move,
                           struct origin origin);

/* Counts the cost of work for a sample. The work may be done when the sample is taken, or later. `block` is the
 * calling thread's, or NULL. May be called from any thread. */
void sampler_spend(struct thread_block *block, uint32_t work);

/* Measures the time of a unit of work (sample/work.h), by walking a stack. Should be called after a sleep: the walk
 * then finds little of its data in the processor's caches, like the walk of a sample. */
void sampler_measure(void);

/* Returns 64 random bits. The state is the thread's own, or a shared one if `block` is NULL. */
uint64_t sampler_random(struct thread_block *block);

struct sampler_totals {
  uint64_t samples;
  /* The sum of the samples' weights in bytes, which estimates the allocated bytes. */
  uint64_t estimated_bytes;
  /* The number of allocations that reached the sampler but whose call path found no room in the table. They are
   * sampled by size alone. */
  uint64_t without_path;
  /* The estimated nanoseconds of the sampler's work, whether or not it took a sample. */
  uint64_t time_ns;
  /* The factor, in millionths, with which the governor multiplies the sampling probability of code that allocates
   * rarely. */
  uint32_t share_ppm;
};

struct sampler_totals sampler_totals(void);

#endif
