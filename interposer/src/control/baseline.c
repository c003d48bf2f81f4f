/* See baseline.h. */
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
static uint64_t drift_bound, next_watch;
static uint64_t paused_ns; /* between readings, at no cost */

/* Everything that malloc gave out is part of the private writable memory. */
static void begin_unknown(void) { snapshot_begin(MALLOMETER_UNKNOWN, totals_net(), process_memory().data); }

/* ---- Threads' caches ---------------------------------------------------------------------------------- */

/*
 * glibc takes what lies free in a thread's cache for in use. Where the caches of other threads cannot be read, each
 * thread that was there when the baseline was read tells at its next event what its cache holds, which is what it held
 * then; the baseline is so much less. Of threads that had none since, it is known to within what a cache can hold.
 */
enum { MOST_THREADS = 16384 };
static uint32_t untold[MOST_THREADS]; /* numbers of threads; 0: has told */
static uint32_t untold_count, untold_end;
static bool caches_are_known; /* how a thread reads its own */
static bool caches_are_read;  /* those of all threads, from outside */

static void tell_own_cache(uint64_t still_unknown) {
  uint32_t id = thread_id_known();
  for (uint32_t i = 0; i < __atomic_load_n(&untold_end, __ATOMIC_ACQUIRE) && id != 0; i++) {
    uint32_t expected = id;
    if (!__atomic_compare_exchange_n(&untold[i], &expected, 0, false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED)) continue;
    __atomic_fetch_sub(&untold_count, 1, __ATOMIC_RELAXED);
    snapshot_baseline_less(glibc_cache_bytes(), GLIBC_CACHE_MOST_BYTES - still_unknown);
    return;
  }
}

/* The event in which a thread tells has changed the cache already, if it is an allocation. */
static void tell_cache(void) { tell_own_cache(GLIBC_CACHE_CHANGE_BYTES); }

void baseline_forget_threads(void) {
  __atomic_store_n(&untold_end, 0, __ATOMIC_RELEASE);
  thread_blocks_ask(NULL);
}

/* False if there are more than can be noted, or the kernel does not tell. */
static bool note_threads(void) {
  baseline_forget_threads();
  caches_are_known = glibc_cache_find() && thread_id_known() != 0;
  untold_count = (uint32_t)thread_ids(untold, MOST_THREADS);
  return untold_count > 0 && untold_count < MOST_THREADS;
}

static void ask_threads(void) {
  if (!caches_are_known) return;
  __atomic_store_n(&untold_end, untold_count, __ATOMIC_RELEASE);
  tell_own_cache(0);
  thread_blocks_ask(tell_cache);
}

/* ---- What glibc has in use ----------------------------------------------------------------------------- */

/* Whether glibc may be asked what is in use: no thread is to wait more than 10 ms for an arena. */
static bool may_ask(void) {
  enum { MOST_FREE_CHUNKS = 10000000 / 300 };
  uint64_t chunks;
  return glibc_most_free_chunks(&chunks) && chunks <= MOST_FREE_CHUNKS;
}

/*
 * Objects in slots are none of glibc's; those that it was given to free it takes out of its figure, in which they never
 * were.
 */
static bool bytes_in_use(uint64_t *bytes) {
  uint64_t of_glibc, objects, in_slots = slots_counted_bytes(&objects);
  if (!glibc_bytes_in_use(&of_glibc)) return false;
  *bytes = of_glibc + slots_totals().retired_bytes + in_slots + sizeof(size_t) * objects;
  return true;
}

struct reading {
  uint64_t in_use; /* MALLOMETER_UNKNOWN: glibc does not tell */
  int64_t counted; /* until then */
  uint64_t error;
};

/*
 * Other threads go on allocating: what they allocated and freed meanwhile is counted or not, and caches that changed
 * were read at one of their states. All that malloc can have given out is the most that this can be.
 */
static struct reading read_once(void) {
  struct reading reading = {MALLOMETER_UNKNOWN, 0, UINT64_MAX};
  uint64_t in_use, in_caches = 0, change_of_caches = 0;
  struct totals_bytes before = totals_bytes();
  if (caches_are_read) glibc_caches_note();
  if (!bytes_in_use(&in_use)) return reading;
  if (caches_are_read) glibc_caches_compare(&in_caches, &change_of_caches);
  struct totals_bytes after = totals_bytes();
  uint64_t allocated = after.allocated - before.allocated, freed = after.freed - before.freed;
  reading.in_use = in_use - in_caches;
  reading.counted = (int64_t)(before.allocated - before.freed) + ((int64_t)allocated - (int64_t)freed) / 2;
  reading.error = (allocated + freed) / 2 + change_of_caches;
  if (reading.error > in_use) reading.error = process_memory().data;
  return reading;
}

static int64_t before_counting(const struct reading *reading) { return (int64_t)reading->in_use - reading->counted; }

/*
 * The best of several. Of those without an error the lowest: a thread that is in the middle of an event has its object
 * from glibc and has not counted it yet, or has counted that it is free and not freed it yet. Where threads keep the
 * arenas busy, one attempt may take seconds, and is enough.
 */
static struct reading best_of_several(void) {
  enum { ENOUGH_ALIKE = 4 };
  const uint64_t enough_ns = 20000000, pause_ns = 1000000, begin = monotonic_ns();
  struct reading best = read_once();
  int64_t highest = before_counting(&best);
  for (int alike = 1; alike < ENOUGH_ALIKE && monotonic_ns() - begin < enough_ns;) {
    wait_until(monotonic_ns() + pause_ns);
    paused_ns += pause_ns;
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

/*
 * While threads allocate, one may have been in the middle of an event in all readings. What glibc allocates to answer
 * does not count: it has it from the own thread's cache, and puts it back.
 */
static struct reading read_in_use(void) {
  enum { USUAL_OBJECTS = 65536 };
  struct thread_block *block = thread_block_leave();
  caches_are_read = caches_are_known && glibc_caches_open();
  struct totals_bytes before = totals_bytes();
  struct reading best = best_of_several();
  struct totals_bytes after = totals_bytes();
  if (caches_are_read) glibc_caches_close();
  thread_block_return(block);
  if (after.allocated != before.allocated || after.freed != before.freed) best.error += USUAL_OBJECTS;
  return best;
}

void baseline_find(void) {
  drift = 0;
  drift_bound = next_watch = 0;
  bool is_told = allocator_kind() == MALLOMETER_ALLOCATOR_GLIBC && size_source == SIZE_FROM_CHUNK;
  struct reading reading = {.in_use = MALLOMETER_UNKNOWN};
  if (is_told && may_ask() && note_threads()) reading = read_in_use();
  if (reading.in_use == MALLOMETER_UNKNOWN) {
    begin_unknown();
  } else if (caches_are_read) {
    snapshot_begin(reading.in_use, reading.counted, reading.error);
  } else {
    snapshot_begin(reading.in_use, reading.counted, reading.error + untold_count * GLIBC_CACHE_MOST_BYTES);
    ask_threads();
  }
}

/* ---- Drift --------------------------------------------------------------------------------------------- */

/*
 * Bytes for each thread that glibc and the loader allocate and free past every function that can be redirected. 20
 * attached JVMs with some 15 threads differed by up to 832 bytes in all, a program with 41 threads by 62 KiB over glibc
 * 2.42, one with 400 by 290 KiB.
 */
enum { UNSEEN_OF_THREAD = 1600 };

static uint64_t unseen_of_threads(uint64_t threads) { return UNSEEN_OF_THREAD * (threads > 0 ? threads : 1); }

/*
 * Compares the live bytes that glibc reports with those counted. Returns whether it did. Three things explain a
 * difference: the error of the baseline, which is corrected where a later reading is more exact; the threads' caches,
 * if they were not read; and memory that is allocated for threads. A larger difference means that calls are not seen. A
 * reading takes long and may wait for locks or swapped memory, so readings take at most a thousandth of the time.
 */
bool baseline_watch(void) {
  enum { SHARE = 1000 };
  const uint64_t begin = monotonic_ns();
  uint64_t error;
  if (begin < next_watch || !snapshot_baseline_error(&error)) return false;
  const uint64_t begin_cpu = thread_cpu_ns();
  struct reading reading = {.in_use = MALLOMETER_UNKNOWN};
  paused_ns = 0;
  if (may_ask()) reading = read_in_use();
  uint64_t threads = thread_block_owners(), caches = caches_are_read ? 0 : threads * GLIBC_CACHE_MOST_BYTES;
  uint64_t now = monotonic_ns(), cpu = thread_cpu_ns() - begin_cpu;
  uint64_t busy = now - begin > paused_ns ? now - begin - paused_ns : 0;
  next_watch = now + SHARE * (cpu > busy ? cpu : busy);
  if (reading.in_use == MALLOMETER_UNKNOWN) return false;
  int64_t difference = (int64_t)reading.in_use - totals_live_at(reading.counted);
  bool explains = difference >= -(int64_t)error && difference <= (int64_t)error;
  if (caches_are_read && untold_end == 0 && reading.error < error && explains) {
    snapshot_baseline_less((uint64_t)-difference, error - reading.error);
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
