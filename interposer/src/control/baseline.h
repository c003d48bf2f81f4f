/*
 * The baseline: the bytes that a process had live before counting began. This part also checks whether the counters
 * still agree with the live bytes that glibc reports.
 *
 * The baseline is the live bytes that glibc reports less those counted until then, read between two sums that agree.
 * From then on live bytes are the baseline plus what was counted. It is read only if no thread waits 10 ms for that.
 */
#ifndef MALLOMETER_CONTROL_BASELINE_H
#define MALLOMETER_CONTROL_BASELINE_H

#include <stdbool.h>
#include <stdint.h>

/* Begins the snapshots with the baseline, or with an unknown one. Call this when calls are counted already. */
void baseline_find(void);

/* Stops asking threads for the bytes in their caches. */
void baseline_forget_threads(void);

/* Compares the counters with glibc, unless the latest comparison was too recent. Returns whether it compared. */
bool baseline_compare(void);

/* Returns live bytes of glibc less counted ones at the latest comparison. Threads' caches explain up to `bound`. */
int64_t baseline_drift(uint64_t *bound);

#endif
