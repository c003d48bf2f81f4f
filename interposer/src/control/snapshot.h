/* A reading of the counters of the whole process, for programs (mallometer.h) and for the recording. */
#ifndef MALLOMETER_CONTROL_SNAPSHOT_H
#define MALLOMETER_CONTROL_SNAPSHOT_H

#include <stdbool.h>

#include "mallometer.h"

/* Fills all fields. Totals are those since counting began. */
void snapshot_read(struct mallometer_counters *snapshot);

/*
 * Call this when counting begins in a running process. `baseline` is the number of live bytes when totals_net()
 * returned `counted`, with an error of up to `error` bytes. An unknown baseline is MALLOMETER_UNKNOWN; `error` is then
 * an upper bound of the live bytes.
 */
void snapshot_begin(uint64_t baseline, int64_t counted, uint64_t error);

/* Corrects the baseline (bytes live before counting began) after a more exact measurement: subtracts `bytes` from it
 * and `error` from its error. May be called inside of malloc. */
void snapshot_reduce_baseline(uint64_t bytes, uint64_t error);

/* Stores by how many bytes the baseline may be wrong. Returns false, and stores 0, if the baseline is unknown. */
bool snapshot_baseline_error(uint64_t *error);

/* Returns the time of snapshot_begin() by CLOCK_MONOTONIC; 0 if counting began with the process. */
uint64_t snapshot_since(void);

#endif
