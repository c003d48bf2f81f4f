/*
 * One reading of the counters of the whole process, for programs (mallometer.h) and for the recording.
 */
#ifndef MALLOMETER_CONTROL_SNAPSHOT_H
#define MALLOMETER_CONTROL_SNAPSHOT_H

#include <stdbool.h>

#include "mallometer.h"

/* Fills all fields. Since the process's start. */
void snapshot_read(struct mallometer_counters *snapshot);

/*
 * Counting begins, or begins again, in a process that runs already: with so many bytes in use, known to within `error`,
 * when totals_net() was `counted`. MALLOMETER_UNKNOWN where the bytes are unknown; `error` is what they can be at most
 * then.
 */
void snapshot_begin(uint64_t baseline, int64_t counted, uint64_t error);

/* The baseline turns out to be so much less, and to be known better by `error`. May be called inside of malloc. */
void snapshot_baseline_less(uint64_t bytes, uint64_t error);

/* False, and 0, if the baseline is unknown. */
bool snapshot_baseline_error(uint64_t *error);

/* CLOCK_MONOTONIC of that; 0 if counting began with the process. */
uint64_t snapshot_since(void);

#endif
