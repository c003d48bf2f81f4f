/*
 * What a process had allocated before it began to count, and whether what is counted since then still agrees with what
 * glibc has in use.
 *
 * The baseline is what glibc says is in use less what was counted until it said so, read between two sums that agree:
 * from then on live bytes are the baseline and what was counted. It is read only where that keeps no thread waiting for
 * longer than 10 ms.
 */
#ifndef MALLOMETER_CONTROL_BASELINE_H
#define MALLOMETER_CONTROL_BASELINE_H

#include <stdbool.h>
#include <stdint.h>

/* Begins a snapshot's counters anew with the baseline, or with none. Calls are counted already. */
void baseline_find(void);

/* Threads tell no more what was in their caches. */
void baseline_forget_threads(void);

/* Compares, unless that was done too short a time ago. Whether it was done now. */
bool baseline_watch(void);

/* By how much more glibc had in use when it was last compared; what is within the bound, threads' caches explain. */
int64_t baseline_drift(uint64_t *bound);

#endif
