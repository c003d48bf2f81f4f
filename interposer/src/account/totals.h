/*
 * The process's totals: the sum over all thread blocks, and the highest live bytes.
 *
 * A sum first adds up all frees, then all allocations. An object that was freed before the first pass was also
 * allocated before that pass, so the second pass sees its allocation. The live bytes are therefore never negative, and
 * they are too high by at most the bytes that were freed while the sum was taken.
 *
 * The peak costs nothing on the fast path. Each thread adds the change of its net bytes to one estimate when its live
 * bytes have grown by HEADROOM_BYTES, and when it ends. When the estimate exceeds the peak by the slack (plus one slack
 * for each sum in progress), the thread sums over all blocks. It also corrects the shares of all other threads in the
 * estimate, because a thread that only frees does not update its share. A thread's live bytes therefore exceed its
 * share by at most HEADROOM_BYTES (by more until the next correction, if the owner overwrites the headroom that a
 * correction has lowered). The peak is too low by at most the slack plus HEADROOM_BYTES for each thread. The published
 * error uses the most threads that ever lived at once, because the peak may have been at that time. The slack is 0.5 %
 * of the peak, but at least 4 KiB for each block, as much as a sum reads there.
 */
#ifndef MALLOMETER_ACCOUNT_TOTALS_H
#define MALLOMETER_ACCOUNT_TOTALS_H

#include "account/thread_block.h"

/* Adds the events of all blocks to the event fields of `sum`, which the caller has zeroed. */
void totals_read(struct mallometer_counters *sum);

/*
 * Reads the totals. Repeats the reading, at most three times, if more than HEADROOM_BYTES were freed meanwhile, because
 * the live bytes would be too high by that much.
 */
void totals_read_whole(struct mallometer_counters *sum);

/* Copies the counters of one block into the event fields of `out`. */
void totals_copy(const struct event_counters *events, struct mallometer_counters *out);

/* Returns the number of allocations of all sizes. */
uint64_t events_allocations(const struct event_counters *events);

/*
 * Set the baseline of an attached process: `baseline` is the live bytes from before the attach, `extra` the bytes by
 * which the baseline counts each object higher than the counters do. Both are 0 in other processes. Call
 * totals_set_extra() before the first event. totals_set_baseline() also sets the peak to 0; totals_reduce_baseline()
 * subtracts bytes and keeps the peak.
 */
void totals_set_extra(uint64_t extra);
void totals_set_baseline(int64_t baseline);
void totals_reduce_baseline(int64_t bytes);

/* The bytes counted so far, including `extra` for each object, without the baseline. */
struct totals_bytes {
  uint64_t allocated, freed;
};
struct totals_bytes totals_bytes(void);

/* Returns the allocated minus the freed bytes. */
int64_t totals_net(void);

/* Returns the live bytes at the time when totals_net() was `net`, including those from before counting began. */
int64_t totals_live_at(int64_t net);

/* Returns the live bytes of a sum, at least 0. */
uint64_t totals_live(const struct mallometer_counters *sum);

/*
 * A peak window: the peak of the net bytes since a point in time. It is found by the same sums as the process's peak,
 * with the same error. The caller passes the sum at that point in time to peak_window_open(), which returns the
 * window's number, or -1 if MOST_PEAK_WINDOWS are in use.
 */
#define MOST_PEAK_WINDOWS 32
struct peak_window {
  int64_t net;   /* the net bytes minus those at the beginning */
  uint64_t peak; /* the highest net bytes minus those at the beginning */
};
int peak_window_open(const struct mallometer_counters *sum);
void peak_window_close(uint32_t number);
/* Reads a peak window. `since` has the events since the window's beginning, read after totals_raise_peak(). */
struct peak_window peak_window_read(uint32_t number, const struct mallometer_counters *since);

/* Adds the change of the calling thread's net bytes since its last call to the estimate of the live bytes, and renews
 * the thread's headroom (in a scope, report_peak_at instead). May then sum over all blocks. */
void peak_flush(struct thread_block *block);

/* Call this when an event of the calling thread finds no headroom: either the headroom is used up, or it is withdrawn
 * because the thread is in a scope. */
static inline void peak_flush_if_due(struct thread_block *block) {
  if (!block->reporting.scoped || thread_net(block) > thread_scoping(block)->report_peak_at) peak_flush(block);
}

/* Does what peak_flush() does, for the events of threads without a block. */
void peak_flush_shared(void);

/*
 * Reads the totals, raises the peak if the live bytes are higher, and returns the peak. A thread that is interrupted
 * while it sums may miss any number of frees. It then repeats the sum, at most three times, and raises the peak to the
 * sum's lower bound.
 */
uint64_t totals_raise_peak(struct mallometer_counters *sum);

/* Returns the highest live bytes. The result is too high by at most the slack (0.5 % of the peak, or 4 KiB for each
 * block if that is more). */
uint64_t peak_so_far(void);

/* Returns the bytes by which the true peak may exceed peak_so_far(). */
uint64_t peak_error(void);

/*
 * Repairs the estimate of the live bytes in the child of a fork, where the parent's other threads cannot end their sums
 * and flushes.
 */
void totals_forked(void);

#endif
