/*
 * The process's totals: the sum over all thread blocks, and the highest live bytes.
 *
 * A sum first adds up all frees, then all allocations. An object that was freed before the first pass was allocated
 * before it, so the second pass sees its allocation: live is never negative, and too high by at most the bytes that
 * were freed while the sum was taken.
 *
 * The peak costs nothing on the fast path. Each thread adds its net bytes to one estimate when its live bytes have
 * grown by HEADROOM_BYTES, and when it ends. When the estimate exceeds the peak by the slack (plus one slack for each
 * sum in progress), that thread takes a real sum, and corrects the estimate for all other threads, since a thread that
 * only frees does not report. No thread's live bytes therefore exceed its share of the estimate by more than
 * HEADROOM_BYTES, and the peak is at most `slack + HEADROOM_BYTES for each thread` too low. That is the published
 * error, with the most threads that ever lived at once, since the peak may have been then. (A thread that lowers
 * another thread's share renews that thread's headroom too. If that store falls between the two halves of the owner's
 * own update it is lost, and until the next correction the thread may grow unnoticed by what it had freed before.) The
 * slack is 0.5 % of the peak, but at least 4 KiB for each block, so that a sum (25 ns a block) is taken for at least as
 * many bytes as it reads.
 */
#ifndef MALLOMETER_ACCOUNT_TOTALS_H
#define MALLOMETER_ACCOUNT_TOTALS_H

#include "account/thread_block.h"

/* Adds the events of all blocks to the event fields of `sum`, which the caller has zeroed. */
void totals_read(struct mallometer_counters *sum);

/*
 * Reads the totals, and again if more than HEADROOM_BYTES were freed meanwhile, by which the live bytes would be too
 * high. After four attempts it accepts the result, for threads that free that much all the time.
 */
void totals_read_whole(struct mallometer_counters *sum);

/* Copies the counters of one block into the event fields of `out`. */
void totals_copy(const struct event_counters *events, struct mallometer_counters *out);

/* Returns the number of allocations of all sizes. */
uint64_t events_allocations(const struct event_counters *events);

/*
 * Set the baseline of an attached process: `baseline` is the live bytes from before the attach, `extra` the bytes that
 * the baseline contains for each object beyond the counters' size. Both are 0 otherwise. Call totals_set_extra() before
 * the first event; totals_set_baseline() begins a new peak.
 */
void totals_set_extra(uint64_t extra);
void totals_set_baseline(int64_t baseline);
void totals_reduce_baseline(int64_t bytes);

/* The bytes counted so far, including `extra`, without the baseline. */
struct totals_bytes {
  uint64_t allocated, freed;
};
struct totals_bytes totals_bytes(void);

/* Returns the allocated minus the freed bytes. */
int64_t totals_net(void);

/* Returns the live bytes, including the baseline, at the time when totals_net() was `net`. */
int64_t totals_live_at(int64_t net);

/* Returns the live bytes of a sum, at least 0. */
uint64_t totals_live(const struct mallometer_counters *sum);

/*
 * A peak of net bytes since a point in time, beside the process's: at most MOST_PEAK_WINDOWS at once. It is found by
 * the same sums and has the same error. Opened with a sum of that time. Returns its number, or -1.
 */
#define MOST_PEAK_WINDOWS 32
struct peak_window {
  int64_t net;   /* present net bytes minus those of the beginning */
  uint64_t peak; /* the most by which net bytes exceeded those of the beginning */
};
int peak_window_open(const struct mallometer_counters *sum);
void peak_window_close(uint32_t number);
/* Reads a window. `since`: the events since the beginning, after totals_raise_peak(). */
struct peak_window peak_window_read(uint32_t number, const struct mallometer_counters *since);

/* Adds the own block's net bytes since its last flush to the estimate, and renews its headroom; may take a sum. */
void peak_flush(struct thread_block *block);

/* Called if an event of the own block finds no headroom: none is left, or it is withdrawn for a scope. */
static inline void peak_flush_if_due(struct thread_block *block) {
  if (!block->reporting.scoped || thread_net(block) > thread_scoping(block)->report_peak_at) peak_flush(block);
}

/* Flushes the events of threads without a block. */
void peak_flush_shared(void);

/*
 * Reads the totals, raises the peak if the live bytes are higher, and returns the peak. A thread that is interrupted
 * while it sums may miss any number of frees; such a sum is repeated, and its lower bound still counts for the peak.
 */
uint64_t totals_raise_peak(struct mallometer_counters *sum);

/* Returns the highest live bytes, at most by the slack too high. */
uint64_t peak_so_far(void);

/* Returns the bytes by which the true peak may exceed peak_so_far(). */
uint64_t peak_error(void);

/*
 * Repairs the estimate in the child of a fork: sums of other threads never end there, and their blocks are not flushed.
 */
void totals_forked(void);

#endif
