/* Sums and the peak. See totals.h. */
#include "account/totals.h"

static int64_t estimated_live;
static int64_t shared_flushed;
static uint64_t peak;
static bool sum_under_way;

/* ---- Sums --------------------------------------------------------------------------------------------- */

static void add_frees(const struct event_counters *events, struct mallometer_counters *sum) {
  sum->frees += counter_read(&events->frees);
  sum->freed_bytes += counter_read(&events->freed_bytes);
}

static void add_allocations(const struct event_counters *events, struct mallometer_counters *sum) {
  for (unsigned i = 0; i < MALLOMETER_SIZE_CLASSES; i++) sum->allocations[i] += counter_read(&events->allocations[i]);
  sum->allocated_bytes += counter_read(&events->allocated_bytes);
  sum->requested_bytes += counter_read(&events->requested_bytes);
  sum->failed += counter_read(&events->failed);
}

void totals_of(const struct event_counters *events, struct mallometer_counters *out) {
  add_frees(events, out);
  add_allocations(events, out);
}

void totals_read(struct mallometer_counters *sum) {
  uint32_t count = thread_block_count();
  add_frees(&shared_events, sum);
  for (uint32_t i = 0; i < count; i++) {
    struct thread_block *block = thread_block_at(i);
    if (block) add_frees(&block->events, sum);
  }
  /* Threads that came meanwhile may own objects that the first pass saw freed. */
  count = thread_block_count();
  add_allocations(&shared_events, sum);
  for (uint32_t i = 0; i < count; i++) {
    struct thread_block *block = thread_block_at(i);
    if (block) add_allocations(&block->events, sum);
  }
}

/* ---- Peak --------------------------------------------------------------------------------------------- */

static uint64_t slack(void) {
  uint64_t of_peak = __atomic_load_n(&peak, __ATOMIC_RELAXED) / 200;
  uint64_t of_blocks = (uint64_t)thread_block_count() * 4096;
  return of_peak > of_blocks ? of_peak : of_blocks;
}

uint64_t peak_error(void) { return slack() + (uint64_t)COUNTDOWN_BYTES * thread_block_count(); }

/* Below 0 when objects are freed that were allocated while counting was off. */
uint64_t peak_raise(int64_t live) {
  uint64_t highest = __atomic_load_n(&peak, __ATOMIC_RELAXED);
  if (live <= 0) return highest;
  uint64_t higher = (uint64_t)live;
  while (higher > highest &&
         !__atomic_compare_exchange_n(&peak, &highest, higher, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
  }
  return higher > highest ? higher : highest;
}

/*
 * The estimate is always the sum of all flushed_live_bytes: whoever exchanges one adds the difference. That two
 * threads flush the same block at once is harmless, the later exchange corrects the earlier.
 */
static int64_t flush(const struct event_counters *events, int64_t *flushed) {
  uint64_t freed = counter_read(&events->freed_bytes);
  int64_t live = (int64_t)(counter_read(&events->allocated_bytes) - freed);
  int64_t change = live - __atomic_exchange_n(flushed, live, __ATOMIC_RELAXED);
  return __atomic_add_fetch(&estimated_live, change, __ATOMIC_RELAXED);
}

/* Threads that only free flush nothing themselves; without this the estimate would stay above the peak. */
static void flush_all(void) {
  flush(&shared_events, &shared_flushed);
  for (uint32_t i = 0; i < thread_block_count(); i++) {
    struct thread_block *block = thread_block_at(i);
    if (block) flush(&block->events, &block->flushed_live_bytes);
  }
}

static void confirm_peak(void) {
  if (__atomic_exchange_n(&sum_under_way, true, __ATOMIC_ACQUIRE)) return;
  struct mallometer_counters sum = {0};
  totals_read(&sum);
  peak_raise((int64_t)(sum.allocated_bytes - sum.freed_bytes));
  flush_all();
  __atomic_store_n(&sum_under_way, false, __ATOMIC_RELEASE);
}

static void confirm_if_higher(int64_t estimate) {
  if (estimate > (int64_t)(__atomic_load_n(&peak, __ATOMIC_RELAXED) + slack())) confirm_peak();
}

void peak_flush(struct thread_block *block) { confirm_if_higher(flush(&block->events, &block->flushed_live_bytes)); }

void peak_flush_shared(void) { confirm_if_higher(flush(&shared_events, &shared_flushed)); }

/* ---- Fork ---------------------------------------------------------------------------------------------- */

void totals_forked(void) {
  __atomic_store_n(&sum_under_way, false, __ATOMIC_RELAXED);
  flush_all();
}
