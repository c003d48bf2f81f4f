/* Sums that were interrupted are taken again; a reset only moves the origin. See snapshot.h. */
#include "control/snapshot.h"

#include <errno.h>
#include <stdbool.h>

#include "account/huge_requests.h"
#include "account/thread_block.h"
#include "account/totals.h"
#include "hooks/start.h"
#include "hooks/state.h"
#include "platform/clock.h"

/* ---- The beginning ------------------------------------------------------------------------------------ */

static uint64_t since, baseline_bytes, baseline_error;

void snapshot_begin(uint64_t baseline, int64_t counted, uint64_t error) {
  __atomic_store_n(&baseline_bytes, baseline, __ATOMIC_RELAXED);
  __atomic_store_n(&baseline_error, error, __ATOMIC_RELAXED);
  totals_baseline((baseline == MALLOMETER_UNKNOWN ? 0 : (int64_t)baseline) - counted);
  __atomic_store_n(&since, monotonic_ns(), __ATOMIC_RELEASE);
}

void snapshot_baseline_less(uint64_t bytes, uint64_t error) {
  __atomic_fetch_sub(&baseline_bytes, bytes, __ATOMIC_RELAXED);
  __atomic_fetch_sub(&baseline_error, error, __ATOMIC_RELAXED);
  totals_baseline_less((int64_t)bytes);
}

bool snapshot_baseline_error(uint64_t *error) {
  bool known = __atomic_load_n(&baseline_bytes, __ATOMIC_RELAXED) != MALLOMETER_UNKNOWN;
  *error = known ? __atomic_load_n(&baseline_error, __ATOMIC_RELAXED) : 0;
  return known;
}

uint64_t snapshot_since(void) { return __atomic_load_n(&since, __ATOMIC_ACQUIRE); }

/* ---- Reading ------------------------------------------------------------------------------------------ */

static void sum_up(struct mallometer_counters *snapshot) {
  *snapshot = (struct mallometer_counters){.monotonic_ns = monotonic_ns()};
  if (hook_was_off()) {
    totals_read(snapshot);
    snapshot->peak_live_bytes = peak_so_far();
  } else {
    snapshot->peak_live_bytes = totals_raise_peak(snapshot);
  }
}

/*
 * Live bytes are too high by what was freed while the sum was taken: next to nothing, unless this thread was
 * interrupted in the middle. A sum that took many times as long as its reading takes is taken again.
 */
void snapshot_read(struct mallometer_counters *snapshot) {
  for (unsigned attempts = 3; attempts > 0; attempts--) {
    sum_up(snapshot);
    if (monotonic_ns() - snapshot->monotonic_ns < 50000 + 200 * (uint64_t)thread_block_count()) break;
  }
  snapshot->flags = hook_was_off() ? MALLOMETER_INCOMPLETE : 0;
  snapshot->since_ns = snapshot_since();
  snapshot->live_bytes = totals_live(snapshot);
  snapshot->baseline_bytes = __atomic_load_n(&baseline_bytes, __ATOMIC_RELAXED);
  snapshot->baseline_error_bytes = __atomic_load_n(&baseline_error, __ATOMIC_RELAXED);
  if (snapshot->baseline_bytes == MALLOMETER_UNKNOWN) {
    snapshot->baseline_bytes = 0;
    snapshot->flags |= MALLOMETER_BASELINE_UNKNOWN;
  }
  snapshot->threads = thread_block_owners();
  snapshot->peak_error_bytes = peak_error();
  snapshot->largest_request_bytes = largest_request();
  snapshot->huge_allocations = huge_requests();
}

/* ---- Reset -------------------------------------------------------------------------------------------- */

/*
 * Two places for the origin of MALLOMETER_SINCE_RESET; `current_origin` counts resets and its lowest bit names the
 * valid one. A reader that is overtaken by two resets during its copy notices and reads again: the second reset has
 * acquired `resetting`, which the first released after its number, so whoever copied a word of it sees that number.
 */
static struct mallometer_counters origins[2];
static uint32_t current_origin;

void snapshot_since_reset(struct mallometer_counters *snapshot) {
  struct mallometer_counters origin;
  uint32_t number;
  do {
    number = __atomic_load_n(&current_origin, __ATOMIC_ACQUIRE);
    origin = origins[number & 1];
    __atomic_thread_fence(__ATOMIC_ACQUIRE);
  } while (__atomic_load_n(&current_origin, __ATOMIC_RELAXED) != number);
  mallometer_difference(&origin, snapshot, snapshot);
}

static bool resetting; /* a thread is in snapshot_reset() */

int snapshot_reset(void) {
  if (__atomic_exchange_n(&resetting, true, __ATOMIC_ACQUIRE)) return -EBUSY;
  uint32_t next_number = __atomic_load_n(&current_origin, __ATOMIC_RELAXED) + 1;
  struct mallometer_counters now = {0};
  snapshot_read(&now);
  origins[next_number & 1] = now;
  __atomic_store_n(&current_origin, next_number, __ATOMIC_RELEASE);
  __atomic_store_n(&resetting, false, __ATOMIC_RELEASE);
  return 0;
}

void snapshot_forked(void) { __atomic_store_n(&resetting, false, __ATOMIC_RELAXED); }
