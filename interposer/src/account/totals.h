/*
 * The process's totals: the sum over all thread blocks, and the highest live bytes.
 *
 * A sum first adds up everything that was freed, then everything that was allocated. An object that was freed
 * before the first pass was allocated before it, so the second pass sees its allocation: live is never negative,
 * and at most too high by what was freed while the sum was taken.
 *
 * The peak costs nothing on the fast path. Each thread adds its net bytes to one estimate when it visits the slow
 * path (every COUNTDOWN_BYTES) and when it ends; when the estimate passes the peak by the slack, that thread takes a
 * real sum. So the peak is at most `slack + COUNTDOWN_BYTES for each thread` too low, and that is the published
 * error, with the most threads that ever lived at once, since the peak may have been then. The slack is 0.5 % of the
 * peak, but at least 4 KiB for each block, so that a sum (25 ns a block) pays for at least as many bytes as it reads.
 */
#ifndef MALLOMETER_ACCOUNT_TOTALS_H
#define MALLOMETER_ACCOUNT_TOTALS_H

#include "account/thread_block.h"

/* Adds the events of all blocks to the event fields of `sum`, which the caller has zeroed. */
void totals_read(struct mallometer_counters *sum);

/* Copies the counters of one block into the event fields of `out`. */
void totals_of(const struct event_counters *events, struct mallometer_counters *out);

/* Adds the block's net bytes since its last flush to the estimate; may take a sum. The slow path's only work. */
void peak_flush(struct thread_block *block);

/* The same for the events of threads without a block. */
void peak_flush_shared(void);

/* Raises the peak to `live` if that is higher. Returns the peak. */
uint64_t peak_raise(int64_t live);

/* How much higher than peak_raise() said the true peak can be, in bytes. */
uint64_t peak_error(void);

/*
 * In the child of a fork: a sum that another thread was taking will never end, and the blocks of threads that do not
 * exist there will not be flushed by them.
 */
void totals_forked(void);

#endif
