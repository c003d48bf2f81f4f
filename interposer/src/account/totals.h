/*
 * The process's totals: the sum over all thread blocks, and the highest live bytes.
 *
 * A sum first adds up everything that was freed, then everything that was allocated. An object that was freed
 * before the first pass was allocated before it, so the second pass sees its allocation: live is never negative,
 * and at most too high by what was freed while the sum was taken.
 *
 * The peak costs nothing on the fast path. Each thread adds its net bytes to one estimate when its live bytes have
 * grown by HEADROOM_BYTES, and when it ends; when the estimate passes the peak by the slack (once more for each
 * sum that is under way), that thread takes a real sum, and corrects what the estimate holds of all others, for a
 * thread that only frees tells nobody. So no thread's live bytes exceed what the estimate holds of it by more than
 * HEADROOM_BYTES, the peak is at most `slack + HEADROOM_BYTES for each thread` too low, and that is the published
 * error, with the most threads that ever lived at once, since the peak may have been then. (Whoever lowers another
 * thread's share renews that thread's headroom too. If that store falls between the two halves of the owner's own
 * update it is lost, and until the next correction the thread may go unnoticed for what it had freed before.) The slack
 * is 0.5 % of the peak, but at least 4 KiB for each block, so that a sum (25 ns a block) pays for at least as many
 * bytes as it reads.
 */
#ifndef MALLOMETER_ACCOUNT_TOTALS_H
#define MALLOMETER_ACCOUNT_TOTALS_H

#include "account/thread_block.h"

/* Adds the events of all blocks to the event fields of `sum`, which the caller has zeroed. */
void totals_read(struct mallometer_counters *sum);

/*
 * The same; taken again if more than HEADROOM_BYTES were freed meanwhile, by which what is allocated and not freed
 * would be too high. Threads that free that much all the time are read as well as can be.
 */
void totals_read_whole(struct mallometer_counters *sum);

/* Copies the counters of one block into the event fields of `out`. */
void totals_of(const struct event_counters *events, struct mallometer_counters *out);

/* Allocations of all sizes. */
uint64_t events_allocations(const struct event_counters *events);

/*
 * For a process that counts from some moment on: what it had allocated before and still has is part of the live bytes
 * (`baseline`), and each object is taken for so many bytes more than the counters say, because the baseline has them so
 * (`extra`). Both are 0 otherwise. totals_extra() before the first event; totals_baseline() begins a new peak.
 */
void totals_extra(uint64_t extra);
void totals_baseline(int64_t baseline);
void totals_baseline_less(int64_t bytes);

/* What was counted so far, `extra` included, without the baseline. */
struct totals_bytes {
  uint64_t allocated, freed;
};
struct totals_bytes totals_bytes(void);

/* As allocated and not as freed. */
int64_t totals_net(void);

/* With the baseline: live bytes when totals_net() was `net`. */
int64_t totals_live_at(int64_t net);

/* By a sum of the counters; not below 0. */
uint64_t totals_live(const struct mallometer_counters *sum);

/*
 * A peak of net bytes since a moment, beside that of the process: at most MOST_PEAK_WINDOWS at once. It is found by the
 * same sums and has the same error. Opened by who has a sum of that moment. Returns its number, -1 if there is no room.
 */
#define MOST_PEAK_WINDOWS 32
struct peak_window {
  int64_t net;   /* now, less that of the beginning */
  uint64_t peak; /* by how much net bytes exceeded those of the beginning at most */
};
int peak_window_open(const struct mallometer_counters *sum);
void peak_window_close(uint32_t number);
/* `since`: what was counted since the beginning, by totals_raise_peak(). */
struct peak_window peak_window_read(uint32_t number, const struct mallometer_counters *since);

/* Adds the own block's net bytes since its last flush to the estimate, and renews its headroom; may take a sum. */
void peak_flush(struct thread_block *block);

/* The own block has no headroom: it has run out, or is withdrawn for a scope. */
static inline void headroom_missed(struct thread_block *block) {
  if (!block->reporting.scoped || thread_net(block) > thread_scoping(block)->tell_at) peak_flush(block);
}

/* The same for the events of threads without a block. */
void peak_flush_shared(void);

/*
 * totals_read(), and raises the peak if the live bytes are higher. Returns the peak. A thread that is interrupted while
 * it sums may miss any amount of frees; such a sum is taken again, and what it proves at least counts for the peak.
 */
uint64_t totals_raise_peak(struct mallometer_counters *sum);

/* The highest live bytes; at most by the slack too high. */
uint64_t peak_so_far(void);

/* How much higher than peak_so_far() the true peak can be, in bytes. */
uint64_t peak_error(void);

/*
 * In the child of a fork: a sum that another thread was taking will never end, and the blocks of threads that do not
 * exist there will not be flushed by them.
 */
void totals_forked(void);

#endif
