/* Finds the baseline from the live bytes that glibc reports. See baseline.h. */
#include "control/baseline.h"

#include <stddef.h>

#include "account/thread_block.h"
#include "account/totals.h"
#include "allocator/figures.h"
#include "allocator/glibc.h"
#include "allocator/glibc_cache.h"
#include "allocator/glibc_heaps.h"
#include "control/snapshot.h"
#include "hooks/state.h"
#include "leak/slots.h"
#include "platform/clock.h"
#include "platform/kernel.h"
#include "platform/thread.h"
#include "platform/wait.h"

static int64_t drift;
static uint64_t drift_bound, next_comparison;
static uint64_t asked_ns; /* the wall-clock time in ns of glibc's reports, which lock arenas */

/* The baseline (bytes that were live before counting) is unknown. It is at most the private writable memory, which
 * contains everything that malloc gave out. */
static void begin_without_baseline(void) { snapshot_begin(MALLOMETER_UNKNOWN, totals_net(), process_memory().data); }

/* ---- Threads' caches ---------------------------------------------------------------------------------- */

/*
 * glibc counts the free chunks in a thread's cache as live, so the baseline at first contains them. If the caches of
 * other threads cannot be read, each thread reports the bytes in its cache at its next event, and the baseline is
 * reduced by these bytes. A thread that has not reported may make the baseline too high by up to
 * GLIBC_CACHE_MOST_BYTES.
 */
enum { MOST_THREADS = 16384 };
static uint32_t unreported[MOST_THREADS]; /* thread ids, 0 for a thread that has reported */
static uint32_t unreported_count, unreported_end;
static bool can_read_own_cache;
static bool can_read_all_caches;

static void report_own_cache(uint64_t still_unknown) {
  uint32_t id = thread_id_known();
  for (uint32_t i = 0; i < __atomic_load_n(&unreported_end, __ATOMIC_ACQUIRE) && id != 0; i++) {
    uint32_t expected = id;
    if (!__atomic_compare_exchange_n(&unreported[i], &expected, 0, false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED)) continue;
    __atomic_fetch_sub(&unreported_count, 1, __ATOMIC_RELAXED);
    snapshot_reduce_baseline(glibc_cache_bytes(), GLIBC_CACHE_MOST_BYTES - still_unknown);
    return;
  }
}

/* Reports the thread's cache during an event. The event may be an allocation that has already changed the cache, by
 * at most GLIBC_CACHE_CHANGE_BYTES. */
static void report_cache_in_event(void) { report_own_cache(GLIBC_CACHE_CHANGE_BYTES); }

void baseline_forget_threads(void) {
  __atomic_store_n(&unreported_end, 0, __ATOMIC_RELEASE);
  thread_blocks_request_answer(NULL);
}

/* Returns false if there are too many threads, or the kernel does not report them. */
static bool note_threads(void) {
  baseline_forget_threads();
  can_read_own_cache = glibc_cache_find() && thread_id_known() != 0;
  unreported_count = (uint32_t)thread_ids(unreported, MOST_THREADS);
  return unreported_count > 0 && unreported_count < MOST_THREADS;
}

static void request_reports(void) {
  if (!can_read_own_cache) return;
  __atomic_store_n(&unreported_end, unreported_count, __ATOMIC_RELEASE);
  report_own_cache(0);
  thread_blocks_request_answer(report_cache_in_event);
}

/* ---- Live bytes of glibc ------------------------------------------------------------------------------- */

/* glibc's report takes 300 ns for each free chunk, and no thread may wait longer than 10 ms for an arena. */
static bool may_ask_glibc(void) {
  enum { MOST_FREE_CHUNKS = 10000000 / 300 };
  uint64_t chunks;
  return glibc_most_free_chunks(&chunks) && chunks <= MOST_FREE_CHUNKS;
}

/* Reads the live bytes of glibc and of slots (pages of single objects, leak/slots.h). glibc never adds a slot's
 * bytes to its figure, but subtracts them when it frees the slot. The addition of retired_bytes corrects this. */
static bool bytes_in_use(uint64_t *bytes) {
  uint64_t of_glibc, objects, in_slots = slots_counted_bytes(&objects);
  const uint64_t begin = monotonic_ns();
  bool is_told = glibc_bytes_in_use(&of_glibc);
  asked_ns += monotonic_ns() - begin;
  if (!is_told) return false;
  *bytes = of_glibc + slots_totals().retired_bytes + in_slots + sizeof(size_t) * objects;
  return true;
}

struct reading {
  uint64_t in_use; /* MALLOMETER_UNKNOWN if glibc does not report it */
  int64_t counted; /* the net bytes counted at the time of the reading */
  uint64_t error;
};

/*
 * Reads the live bytes and the counters once. The error covers the bytes that other threads allocate and free during
 * the reading, and the changes of their caches. If the error exceeds the live bytes, it is set to the size of the
 * private writable memory.
 */
static struct reading read_once(void) {
  struct reading reading = {MALLOMETER_UNKNOWN, 0, UINT64_MAX};
  uint64_t in_use, in_caches = 0, change_of_caches = 0;
  struct totals_bytes before = totals_bytes();
  if (can_read_all_caches) glibc_caches_note();
  if (!bytes_in_use(&in_use)) return reading;
  if (can_read_all_caches) glibc_caches_compare(&in_caches, &change_of_caches);
  struct totals_bytes after = totals_bytes();
  uint64_t allocated = after.allocated - before.allocated, freed = after.freed - before.freed;
  reading.in_use = in_use - in_caches;
  reading.counted = (int64_t)(before.allocated - before.freed) + ((int64_t)allocated - (int64_t)freed) / 2;
  reading.error = (allocated + freed) / 2 + change_of_caches;
  if (reading.error > in_use) reading.error = process_memory().data;
  return reading;
}

static void pause_between_readings(void) {
  const uint64_t pause_ns = 1000000;
  wait_until(monotonic_ns() + pause_ns);
}

static int64_t before_counting(const struct reading *reading) { return (int64_t)reading->in_use - reading->counted; }

/*
 * Returns the reading with the least error or, among readings without error, the lowest baseline. Events in progress
 * can only raise a baseline, because malloc counts an object after its allocation, and free counts it before the
 * allocator frees it. Begins no reading later than 20 ms after the first.
 */
static struct reading best_of_several(void) {
  enum { ENOUGH_ALIKE = 4 };
  const uint64_t enough_ns = 20000000, begin = monotonic_ns();
  struct reading best = read_once();
  int64_t highest = before_counting(&best);
  for (int alike = 1; alike < ENOUGH_ALIKE && monotonic_ns() - begin < enough_ns;) {
    pause_between_readings();
    struct reading next = read_once();
    int64_t change = before_counting(&next) - before_counting(&best);
    alike = next.error == 0 && best.error == 0 && change == 0 ? alike + 1 : 1;
    if (next.error < best.error) highest = before_counting(&next);
    if (next.error == 0 && before_counting(&next) > highest) highest = before_counting(&next);
    if (next.error < best.error || (next.error == 0 && change < 0)) best = next;
  }
  if (best.error == 0) best.error = (uint64_t)(highest - before_counting(&best));
  return best;
}

/* A thread that sleeps is not in the middle of an event. A thread that waits for a processor may be. */
static bool others_sleep(void) {
  static uint32_t ids[MOST_THREADS];
  size_t count = thread_ids(ids, MOST_THREADS);
  bool sleep = count > 0 && count < MOST_THREADS;
  for (size_t i = 0; i < count && sleep; i++) sleep = ids[i] == thread_id() || thread_sleeps(ids[i]);
  return sleep;
}

/* Waits at most 20 ms. Sets `counted` to the totals just before the last call of others_sleep(). */
static bool wait_until_others_sleep(struct totals_bytes *counted) {
  const uint64_t enough_ns = 20000000, begin = monotonic_ns();
  for (;;) {
    *counted = totals_bytes();
    if (others_sleep()) return true;
    if (monotonic_ns() - begin >= enough_ns) return false;
    pause_between_readings();
  }
}

/* Adds 64 KiB to the error, because other threads may be inside malloc or free, and glibc and this library count an
 * object at different moments of the call. Adds nothing if all other threads slept before and after the readings and
 * the counters did not change. The calling thread's own allocations are not counted meanwhile. */
static struct reading read_in_use(void) {
  enum { USUAL_OBJECTS = 65536 };
  struct thread_block *block = thread_block_leave();
  struct totals_bytes before;
  bool slept = wait_until_others_sleep(&before);
  can_read_all_caches = can_read_own_cache && glibc_caches_open();
  struct reading best = best_of_several();
  slept = slept && others_sleep();
  struct totals_bytes after = totals_bytes();
  if (can_read_all_caches) glibc_caches_close();
  thread_block_return(block);
  if (!slept || after.allocated != before.allocated || after.freed != before.freed) best.error += USUAL_OBJECTS;
  return best;
}

void baseline_find(void) {
  drift = 0;
  drift_bound = next_comparison = 0;
  bool is_told = allocator_kind() == MALLOMETER_ALLOCATOR_GLIBC && size_source == SIZE_FROM_CHUNK;
  struct reading reading = {.in_use = MALLOMETER_UNKNOWN};
  if (is_told && may_ask_glibc() && note_threads()) reading = read_in_use();
  if (reading.in_use == MALLOMETER_UNKNOWN) {
    begin_without_baseline();
  } else if (can_read_all_caches) {
    snapshot_begin(reading.in_use, reading.counted, reading.error);
  } else {
    snapshot_begin(reading.in_use, reading.counted, reading.error + unreported_count * GLIBC_CACHE_MOST_BYTES);
    request_reports();
  }
}

/* ---- Drift: glibc's live bytes less the counted ones --------------------------------------------------- */

/*
 * An upper bound, per thread, of the bytes that glibc and the loader allocate by internal calls. These calls cannot be
 * redirected, so they are not counted. Measurements of whole processes gave up to 832 bytes in JVMs with some 15
 * threads, 62 KiB with 41 threads over glibc 2.42, and 290 KiB with 400 threads.
 */
enum { UNSEEN_OF_THREAD = 1600 };

static uint64_t unseen_of_threads(uint64_t threads) { return UNSEEN_OF_THREAD * (threads > 0 ? threads : 1); }

/*
 * Compares glibc's live bytes with the counted live bytes. A difference may come from the error of the baseline, from
 * thread caches that were not read, and from memory that glibc allocates for threads. A difference that is larger than
 * these three can explain means that calls are missed.
 *
 * The pause before the next comparison is 1,000 times the CPU time of this one or, if that is longer, 1,000 times the
 * wall-clock time of glibc's reports. The latter counts because the reports lock arenas. The rest of a comparison locks
 * no arena, however long this thread waits for a processor.
 */
bool baseline_compare(void) {
  enum { SHARE = 1000 };
  const uint64_t begin = monotonic_ns();
  uint64_t error;
  if (begin < next_comparison || !snapshot_baseline_error(&error)) return false;
  const uint64_t begin_cpu = thread_cpu_ns();
  struct reading reading = {.in_use = MALLOMETER_UNKNOWN};
  asked_ns = 0;
  if (may_ask_glibc()) reading = read_in_use();
  uint64_t threads = thread_block_owners(), caches = can_read_all_caches ? 0 : threads * GLIBC_CACHE_MOST_BYTES;
  uint64_t now = monotonic_ns(), cpu = thread_cpu_ns() - begin_cpu;
  next_comparison = now + SHARE * (cpu > asked_ns ? cpu : asked_ns);
  if (reading.in_use == MALLOMETER_UNKNOWN) return false;
  int64_t difference = (int64_t)reading.in_use - totals_live_at(reading.counted);
  bool explains = difference >= -(int64_t)error && difference <= (int64_t)error;
  if (can_read_all_caches && unreported_end == 0 && reading.error < error && explains) {
    snapshot_reduce_baseline((uint64_t)-difference, error - reading.error);
    error = reading.error;
    difference = 0;
  }
  __atomic_store_n(&drift, difference, __ATOMIC_RELAXED);
  __atomic_store_n(&drift_bound, error + reading.error + caches + unseen_of_threads(threads), __ATOMIC_RELAXED);
  return true;
}

int64_t baseline_drift(uint64_t *bound) {
  *bound = __atomic_load_n(&drift_bound, __ATOMIC_RELAXED);
  return __atomic_load_n(&drift, __ATOMIC_RELAXED);
}
