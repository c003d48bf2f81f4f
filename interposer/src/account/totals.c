/* Sums the counters of all threads, and finds the peak of the live bytes. See totals.h. */
#include "account/totals.h"

#include "platform/shared_words.h"

static int64_t estimated_live;
static int64_t shared_flushed;
static int64_t peak; /* never negative */
static uint32_t sums_under_way;
static int64_t baseline;
static uint64_t extra;

/* ---- Sums over all threads ---------------------------------------------------------------------------- */

static void add_frees(const struct event_counters *events, struct mallometer_counters *sum) {
  sum->frees += counter_read(&events->frees);
  sum->freed_bytes += counter_read(&events->freed_bytes);
}

/* Reads `requested_doubled` before the classes, so that the sum of both is never negative. A request of 0 bytes adds
 * 1 to its class and -1 to `requested_doubled`; count_allocation() adds the 1 first. */
static void add_allocations(const struct event_counters *events, struct mallometer_counters *sum) {
  uint64_t doubled = counter_read(&events->requested_doubled);
  for (unsigned i = 0; i < SIZE_CLASSES; i++) {
    uint64_t allocations = counter_read(&events->by_class[PLACE_OF_CLASS(i, SIZE_CLASSES)]);
    sum->allocations[i < FIRST_CLASSES ? 0 : i + 1 - FIRST_CLASSES] += allocations;
    doubled += allocations;
  }
  sum->allocated_bytes += counter_read(&events->allocated_bytes);
  sum->requested_bytes += doubled / 2;
  sum->failed += counter_read(&events->failed);
}

void totals_copy(const struct event_counters *events, struct mallometer_counters *out) {
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
  /*
   * The new count includes the blocks of new threads, which may have allocated objects that the first pass saw freed.
   */
  count = thread_block_count();
  add_allocations(&shared_events, sum);
  for (uint32_t i = 0; i < count; i++) {
    struct thread_block *block = thread_block_at(i);
    if (block) add_allocations(&block->events, sum);
  }
}

/* ---- Live bytes ---------------------------------------------------------------------------------------- */

static uint64_t extra_of(uint64_t objects) { return __atomic_load_n(&extra, __ATOMIC_RELAXED) * objects; }

uint64_t events_allocations(const struct event_counters *events) {
  uint64_t sum = 0;
  for (unsigned i = 0; i < SIZE_CLASSES; i++) sum += counter_read(&events->by_class[i]);
  return sum;
}

static uint64_t freed_by(const struct event_counters *events) {
  uint64_t bytes = counter_read(&events->freed_bytes);
  return extra ? bytes + extra_of(counter_read(&events->frees)) : bytes;
}

static uint64_t allocated_by(const struct event_counters *events) {
  uint64_t bytes = counter_read(&events->allocated_bytes);
  return extra ? bytes + extra_of(events_allocations(events)) : bytes;
}

static int64_t live_of(uint64_t allocated, uint64_t freed) {
  return (int64_t)(allocated - freed) + __atomic_load_n(&baseline, __ATOMIC_RELAXED);
}

static uint64_t freed_in(const struct mallometer_counters *sum) { return sum->freed_bytes + extra_of(sum->frees); }

static uint64_t allocated_in(const struct mallometer_counters *sum) {
  return sum->allocated_bytes + extra_of(mallometer_allocations(sum));
}

uint64_t totals_live(const struct mallometer_counters *sum) {
  int64_t live = live_of(allocated_in(sum), freed_in(sum));
  return live > 0 ? (uint64_t)live : 0;
}

/* ---- The peak of the live bytes ----------------------------------------------------------------------- */

/* The blocks of all threads are summed when the estimated live bytes exceed the peak by more than this. */
static uint64_t slack(void) {
  uint64_t of_peak = peak_so_far() / 200;
  uint64_t of_blocks = (uint64_t)thread_block_count() * 4096;
  return of_peak > of_blocks ? of_peak : of_blocks;
}

uint64_t peak_error(void) { return slack() + (uint64_t)HEADROOM_BYTES * thread_block_count(); }

uint64_t peak_so_far(void) { return (uint64_t)__atomic_load_n(&peak, __ATOMIC_RELAXED); }

/* Bit i is set while window i is open. A window finds the peak of the net bytes since it was opened (totals.h). */
static uint32_t windows;
static int64_t window_starts[MOST_PEAK_WINDOWS], window_peaks[MOST_PEAK_WINDOWS];

static uint32_t open_windows(void) { return __atomic_load_n(&windows, __ATOMIC_ACQUIRE); }

/* Returns the lowest of the peaks of the process and of the open windows. Live bytes raise a peak only if they
 * exceed the returned value. */
static int64_t lowest_peak(void) {
  int64_t lowest = (int64_t)peak_so_far();
  for (uint32_t left = open_windows(); left != 0; left &= left - 1) {
    int64_t of_window = totals_live_at(__atomic_load_n(&window_peaks[__builtin_ctz(left)], __ATOMIC_RELAXED));
    if (of_window < lowest) lowest = of_window;
  }
  return lowest;
}

/* Raises the peaks of the process and of the windows in `open`. `live` may be negative if objects that were not
 * counted are freed. */
static void raise_peak(int64_t live, uint32_t open) {
  for (uint32_t left = open; left != 0; left &= left - 1) {
    (void)raise_to(&window_peaks[__builtin_ctz(left)], live - totals_live_at(0));
  }
  (void)raise_to(&peak, live);
}

static inline uint64_t sum_over_blocks(uint64_t (*figure)(const struct event_counters *events)) {
  uint64_t sum = figure(&shared_events);
  for (uint32_t i = 0; i < thread_block_count(); i++) {
    const struct thread_block *block = thread_block_at(i);
    if (block) sum += figure(&block->events);
  }
  return sum;
}

static uint64_t freed_until_now(void) { return sum_over_blocks(freed_by); }

static uint64_t allocated_until_now(void) { return sum_over_blocks(allocated_by); }

enum { ATTEMPTS = 4 };

/* Raises the peak of the process, and of each peak window (totals.h) whose bit is set in `open`, if the live bytes
 * are higher. `freed` and `open` were read before `allocated`. Returns false if the sums must be read again, because
 * more than slack() bytes were freed since `freed` was read. */
static bool raise_peak_by(uint64_t allocated, uint64_t freed, uint32_t open) {
  int64_t live = live_of(allocated, freed);
  if (live <= lowest_peak()) return true;
  int64_t freed_meanwhile = (int64_t)(freed_until_now() - freed);
  bool whole = freed_meanwhile <= (int64_t)slack();
  raise_peak(whole ? live : live - freed_meanwhile, open);
  return whole;
}

uint64_t totals_raise_peak(struct mallometer_counters *sum) {
  const struct mallometer_counters zeroed = *sum;
  for (unsigned attempts = ATTEMPTS; attempts > 0; attempts--) {
    uint32_t open = open_windows();
    *sum = zeroed;
    totals_read(sum);
    if (raise_peak_by(allocated_in(sum), freed_in(sum), open)) break;
  }
  return peak_so_far();
}

void totals_read_whole(struct mallometer_counters *sum) {
  const struct mallometer_counters zeroed = *sum;
  for (unsigned attempts = ATTEMPTS; attempts > 0; attempts--) {
    *sum = zeroed;
    totals_read(sum);
    if ((int64_t)(freed_until_now() - freed_in(sum)) <= HEADROOM_BYTES) break;
  }
}

/* Updates a thread's share of the estimate of the live bytes. The estimate is always the sum of all shares. Returns
 * false if another thread has updated the share meanwhile. */
static bool flush(const struct event_counters *events, int64_t *flushed, int64_t *change) {
  int64_t before = __atomic_load_n(flushed, __ATOMIC_ACQUIRE);
  uint64_t freed = freed_by(events);
  int64_t live = (int64_t)(allocated_by(events) - freed);
  if (!__atomic_compare_exchange_n(flushed, &before, live, false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED)) return false;
  *change = live - before;
  __atomic_fetch_add(&estimated_live, *change, __ATOMIC_RELAXED);
  return true;
}

/* Sets the net bytes above which a thread in a scope calls peak_flush(). Lowers `limit`, so that the thread reads the
 * new value at its next allocation. */
static void set_peak_report(struct thread_block *block, int64_t net) {
  __atomic_store_n(&thread_scoping(block)->report_peak_at, net, __ATOMIC_RELAXED);
  __atomic_store_n(&thread_scoping(block)->limit, INT64_MIN, __ATOMIC_RELAXED);
}

/*
 * Updates the share of every thread in `estimated_live`, the estimate of the process's live bytes, because a thread
 * that only frees does not update its own share. Also lowers the headroom of each thread to HEADROOM_BYTES if it is
 * higher. Headroom is the number of bytes that a thread may still allocate before it updates its share; frees raise it.
 * If the thread overwrites the lowered value, the next call lowers it again.
 */
static void flush_all(void) {
  int64_t change;
  (void)flush(&shared_events, &shared_flushed, &change);
  for (uint32_t i = 0; i < thread_block_count(); i++) {
    struct thread_block *block = thread_block_at(i);
    if (!block || !flush(&block->events, &block->flushed_live_bytes, &change)) continue;
    if (block->reporting.scoped) set_peak_report(block, thread_net(block) + HEADROOM_BYTES);
    int64_t found = __atomic_load_n(&block->headroom, __ATOMIC_RELAXED);
    if (found <= HEADROOM_BYTES) continue;
    /* The exchange fails if the owner is counting an event or the headroom was withdrawn. */
    __atomic_compare_exchange_n(&block->headroom, &found, HEADROOM_BYTES, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
  }
}

/* Sums only the byte counters, to use little stack: threads with small stacks call this function, too. */
static void confirm_peak(void) {
  for (unsigned attempts = ATTEMPTS; attempts > 0; attempts--) {
    uint32_t open = open_windows();
    uint64_t freed = freed_until_now();
    if (raise_peak_by(allocated_until_now(), freed, open)) break;
  }
  flush_all();
}

static bool is_above_peak(uint64_t slacks) {
  return __atomic_load_n(&estimated_live, __ATOMIC_RELAXED) > lowest_peak() + (int64_t)(slacks * slack());
}

/*
 * Sums over all blocks if the estimate of the live bytes exceeds the peak by more than slack(). While n other threads
 * are summing, the excess must be more than n + 1 times slack(), so that few threads sum at the same time, and a thread
 * that is interrupted while it sums does not stop the others.
 */
static void confirm_if_higher(void) {
  if (!is_above_peak(1)) return;
  uint32_t others = __atomic_fetch_add(&sums_under_way, 1, __ATOMIC_RELAXED);
  if (is_above_peak((uint64_t)others + 1)) confirm_peak();
  __atomic_fetch_sub(&sums_under_way, 1, __ATOMIC_RELAXED);
}

static void flush_own(const struct event_counters *events, int64_t *flushed) {
  int64_t change;
  while (!flush(events, flushed, &change)) {
  }
  confirm_if_higher();
}

void peak_flush(struct thread_block *block) {
  if (block->reporting.scoped) {
    set_peak_report(block, thread_net(block) + HEADROOM_BYTES);
    headroom_withdraw(block);
  } else {
    __atomic_store_n(&block->headroom, HEADROOM_BYTES, __ATOMIC_RELAXED);
  }
  flush_own(&block->events, &block->flushed_live_bytes);
}

void peak_flush_shared(void) { flush_own(&shared_events, &shared_flushed); }

/* ---- Peak windows -------------------------------------------------------------------------------------- */

static int64_t net_in(const struct mallometer_counters *sum) { return (int64_t)(allocated_in(sum) - freed_in(sum)); }

/*
 * A peak window finds the peak of the net bytes since it was opened (totals.h). Bit i is set while window i is
 * reserved. The numbers are given out in rotation, so that the number of a closed window is not reused soon: a thread
 * that began to sum before the window was closed may still raise window_peaks[i] afterwards.
 */
static uint32_t windows_taken;
static uint32_t windows_opened;

static int free_window(uint32_t taken, uint32_t from) {
  uint32_t later = ~taken & UINT32_MAX << from;
  return __builtin_ctz(later ? later : ~taken);
}

int peak_window_open(const struct mallometer_counters *sum) {
  uint32_t taken = __atomic_load_n(&windows_taken, __ATOMIC_RELAXED);
  uint32_t from = __atomic_fetch_add(&windows_opened, 1, __ATOMIC_RELAXED) % MOST_PEAK_WINDOWS;
  int number;
  do {
    if (taken == UINT32_MAX) return -1;
    number = free_window(taken, from);
  } while (!__atomic_compare_exchange_n(&windows_taken, &taken, taken | 1u << number, true, __ATOMIC_ACQUIRE,
                                        __ATOMIC_RELAXED));
  window_starts[number] = net_in(sum);
  __atomic_store_n(&window_peaks[number], net_in(sum), __ATOMIC_RELAXED);
  __atomic_fetch_or(&windows, 1u << number, __ATOMIC_RELEASE);
  /* Lowers the headroom of each thread to HEADROOM_BYTES if it is higher. Headroom is the number of bytes that a
   * thread may still allocate before it updates the estimate of the live bytes. With more headroom, growth might be
   * noticed too late for the new window's peak. */
  flush_all();
  return number;
}

void peak_window_close(uint32_t number) {
  __atomic_fetch_and(&windows, ~(1u << number), __ATOMIC_RELAXED);
  __atomic_fetch_and(&windows_taken, ~(1u << number), __ATOMIC_RELEASE);
}

struct peak_window peak_window_read(uint32_t number, const struct mallometer_counters *since) {
  int64_t peak_of_window = __atomic_load_n(&window_peaks[number], __ATOMIC_RELAXED) - window_starts[number];
  return (struct peak_window){net_in(since), peak_of_window > 0 ? (uint64_t)peak_of_window : 0};
}

/* ---- The baseline of an attached process --------------------------------------------------------------- */

void totals_set_extra(uint64_t bytes) { __atomic_store_n(&extra, bytes, __ATOMIC_RELAXED); }

struct totals_bytes totals_bytes(void) {
  uint64_t freed = freed_until_now();
  return (struct totals_bytes){allocated_until_now(), freed};
}

int64_t totals_net(void) {
  struct totals_bytes bytes = totals_bytes();
  return (int64_t)(bytes.allocated - bytes.freed);
}

int64_t totals_live_at(int64_t net) { return net + __atomic_load_n(&baseline, __ATOMIC_RELAXED); }

/* Changes the estimate of the live bytes, too. The estimate is the baseline plus all threads' shares (flush()). */
void totals_set_baseline(int64_t bytes) {
  int64_t before = __atomic_exchange_n(&baseline, bytes, __ATOMIC_RELAXED);
  __atomic_fetch_add(&estimated_live, bytes - before, __ATOMIC_RELAXED);
  __atomic_store_n(&peak, 0, __ATOMIC_RELAXED);
}

void totals_reduce_baseline(int64_t bytes) {
  __atomic_fetch_sub(&baseline, bytes, __ATOMIC_RELAXED);
  __atomic_fetch_sub(&estimated_live, bytes, __ATOMIC_RELAXED);
}

/* ---- Fork ---------------------------------------------------------------------------------------------- */

void totals_forked(void) {
  sums_under_way = 0;
  flush_all();
  estimated_live = baseline + shared_flushed;
  for (uint32_t i = 0; i < thread_block_count(); i++) {
    struct thread_block *block = thread_block_at(i);
    if (block) estimated_live += block->flushed_live_bytes;
  }
}
