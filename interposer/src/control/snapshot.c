/* Sums up the counters of all threads, and repeats the sum if it was interrupted. See snapshot.h. */
#include "control/snapshot.h"

#include <stdbool.h>

#include "account/huge_requests.h"
#include "account/thread_block.h"
#include "account/totals.h"
#include "hooks/start.h"
#include "hooks/state.h"
#include "platform/clock.h"

/* ---- The beginning of counting ------------------------------------------------------------------------ */

static uint64_t since, baseline_bytes, baseline_error;

void snapshot_begin(uint64_t baseline, int64_t counted, uint64_t error) {
  __atomic_store_n(&baseline_bytes, baseline, __ATOMIC_RELAXED);
  __atomic_store_n(&baseline_error, error, __ATOMIC_RELAXED);
  totals_set_baseline((baseline == MALLOMETER_UNKNOWN ? 0 : (int64_t)baseline) - counted);
  __atomic_store_n(&since, monotonic_ns(), __ATOMIC_RELEASE);
}

void snapshot_reduce_baseline(uint64_t bytes, uint64_t error) {
  __atomic_fetch_sub(&baseline_bytes, bytes, __ATOMIC_RELAXED);
  __atomic_fetch_sub(&baseline_error, error, __ATOMIC_RELAXED);
  totals_reduce_baseline((int64_t)bytes);
}

bool snapshot_baseline_error(uint64_t *error) {
  bool known = __atomic_load_n(&baseline_bytes, __ATOMIC_RELAXED) != MALLOMETER_UNKNOWN;
  *error = known ? __atomic_load_n(&baseline_error, __ATOMIC_RELAXED) : 0;
  return known;
}

uint64_t snapshot_since(void) { return __atomic_load_n(&since, __ATOMIC_ACQUIRE); }

/* ---- Reading the counters ----------------------------------------------------------------------------- */

static void sum_up(struct mallometer_counters *snapshot) {
  *snapshot = (struct mallometer_counters){.monotonic_ns = monotonic_ns()};
  if (hook_was_off()) {
    totals_read(snapshot);
    snapshot->peak_live_bytes = peak_so_far();
  } else {
    snapshot->peak_live_bytes = totals_raise_peak(snapshot);
  }
}

/* Reads the counters. Bytes that are freed during the reading make the live bytes too high. The error is small
 * unless this thread is interrupted, so an unusually long reading is repeated, at most twice. */
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
