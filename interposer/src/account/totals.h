/*
 * The process's totals: the sum over all thread blocks, and the peak of the live bytes.
 *
 * A sum adds up all frees before all allocations, so it contains the allocation of each object whose free it contains.
 * The live bytes are therefore never negative, and are too high by at most the bytes freed during the sum.
 *
 * The peak costs nothing on the fast path. All threads share one estimate of the live bytes. A thread updates its own
 * share of the estimate when it ends, and when it has used up its headroom, the number of bytes that it may allocate
 * before the update. The headroom is HEADROOM_BYTES at first, and frees raise it.
 *
 * If the updated estimate exceeds the peak by more than the slack, the thread sums over all blocks to find the true
 * live bytes. The slack is 0.5 % of the peak, but at least 4 KiB for each block. While n other threads are summing, the
 * estimate must exceed the peak by more than n + 1 times the slack.
 *
 * The thread that sums also updates the shares of all other threads, because a thread that only frees does not update
 * its own share. It then lowers their headroom to HEADROOM_BYTES.
 *
 * The peak is too low by at most the slack plus HEADROOM_BYTES for each thread. The error is larger for some time if a
 * thread overwrites its lowered headroom with a higher value, because it was counting an event at that moment.
 * peak_error() assumes the largest number of threads that ever lived at the same time, because the peak may date from
 * that time.
 */
#ifndef MALLOMETER_ACCOUNT_TOTALS_H
#define MALLOMETER_ACCOUNT_TOTALS_H

#include "account/thread_block.h"

/* Adds the events of all blocks to the event fields of `sum`, which the caller has zeroed. */
void totals_read(struct mallometer_counters *sum);

/* Reads the totals. Bytes that are freed during the reading make the live bytes too high, so the reading is
 * repeated, at most three times, if more than HEADROOM_BYTES were freed meanwhile. */
void totals_read_whole(struct mallometer_counters *sum);

/* Adds the counters to the event fields of `out`, which the caller has zeroed. */
void totals_copy(const struct event_counters *events, struct mallometer_counters *out);

uint64_t events_allocations(const struct event_counters *events);

/*
 * Set the baseline of an attached process: the live bytes from before the attach. totals_set_baseline() also sets the
 * peak to 0; totals_reduce_baseline() subtracts bytes and keeps the peak. The baseline may count more bytes for an
 * object than the counters do. totals_set_extra() sets this difference in bytes, and must be called before the first
 * event.
 */
void totals_set_extra(uint64_t extra);
void totals_set_baseline(int64_t baseline);
void totals_reduce_baseline(int64_t bytes);

/* The bytes counted so far. They include `extra` bytes for each object (totals_set_extra()), and exclude the live
 * bytes from before an attach (the baseline). */
struct totals_bytes {
  uint64_t allocated, freed;
};
struct totals_bytes totals_bytes(void);

int64_t totals_net(void);

/* Returns the live bytes at the time when totals_net() was `net`, including those from before counting. */
int64_t totals_live_at(int64_t net);

uint64_t totals_live(const struct mallometer_counters *sum);

/*
 * A peak window measures the net bytes (allocated minus freed) since a point in time, and the peak of these net bytes.
 * The peak is found like the process's peak, with the same error (peak_error()).
 *
 * peak_window_open() opens a window; `sum` has the process's counters at that time. Returns the window's number, or -1
 * if MOST_PEAK_WINDOWS windows are in use.
 */
#define MOST_PEAK_WINDOWS 32
struct peak_window {
  int64_t net;   /* the bytes allocated since the window's beginning minus those freed since then */
  uint64_t peak; /* the highest value of `net` since the window's beginning; at least 0 */
};
int peak_window_open(const struct mallometer_counters *sum);
void peak_window_close(uint32_t number);
/* Returns the net bytes and the peak since peak_window_open() returned `number`. The caller first calls
 * totals_raise_peak(), and then computes `since`, the events since the window was opened. */
struct peak_window peak_window_read(uint32_t number, const struct mallometer_counters *since);

/*
 * Updates this thread's share of the estimate of the process's live bytes (see above). May sum over all blocks to
 * confirm a new peak.
 *
 * Also renews the thread's headroom: HEADROOM_BYTES. A thread in a scope (scopes.h) has no headroom. For such a thread,
 * `report_peak_at` is set instead, so that peak_flush() is due again when the thread's net bytes (allocated minus
 * freed) have grown by HEADROOM_BYTES.
 */
void peak_flush(struct thread_block *block);

/* Must be called when an event of the calling thread finds block->headroom used up. A thread in a scope (scopes.h)
 * never has headroom. Its net bytes (allocated minus freed) decide instead: peak_flush() is called if they exceed
 * report_peak_at. */
static inline void peak_flush_if_due(struct thread_block *block) {
  if (!block->reporting.scoped || thread_net(block) > thread_scoping(block)->report_peak_at) peak_flush(block);
}

/* Does what peak_flush() does, for the events in shared_events: those of threads without counters of their own. */
void peak_flush_shared(void);

/*
 * Reads the totals, raises the peak if the live bytes are higher, and returns the peak.
 *
 * Bytes that other threads free during the reading make the live bytes too high. If more bytes than the slack (see
 * peak_so_far()) were freed, the peak is raised only to the lower bound of the live bytes, and the totals are read
 * again, at most three times.
 */
uint64_t totals_raise_peak(struct mallometer_counters *sum);

/* Returns the peak of the live bytes. It may be too low by peak_error(), or too high by the slack. The slack is the
 * larger of two amounts: 0.5 % of the peak, and 4 KiB multiplied by the number of thread blocks. */
uint64_t peak_so_far(void);

/* Returns the bytes by which the true peak may exceed peak_so_far(). */
uint64_t peak_error(void);

/* Repairs the estimate of the live bytes in the child of a fork. Other threads of the parent may have begun updates,
 * which never end in the child. */
void totals_forked(void);

#endif
