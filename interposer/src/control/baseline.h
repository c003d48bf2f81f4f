/*
 * The baseline: the bytes that a process had live before counting began. This part also checks whether the counters
 * still agree with the live bytes that glibc reports.
 *
 * The baseline is the live bytes that glibc reports less the bytes counted until then; afterwards the live bytes are
 * the baseline plus the counted bytes. Its error is what other threads count during glibc's report, and 64 KiB for
 * events in progress, unless all other threads sleep and count nothing. glibc is asked only if its report will hold
 * each lock for less than 10 ms.
 */
#ifndef MALLOMETER_CONTROL_BASELINE_H
#define MALLOMETER_CONTROL_BASELINE_H

#include <stdbool.h>
#include <stdint.h>

/* Computes the bytes that were live before counting began, MALLOMETER_UNKNOWN if that is impossible, and passes them to
 * snapshot_begin(). Call this when counting has begun. */
void baseline_find(void);

/* Stops asking threads for the bytes in their caches. */
void baseline_forget_threads(void);

/* Compares the counters with glibc's live bytes. Returns false without a comparison if the latest one was too recent,
 * the baseline is unknown, or glibc cannot be asked. */
bool baseline_compare(void);

/* Returns the live bytes of glibc less the counted ones at the latest comparison. Sets `bound` to the largest
 * difference, in bytes, that is no sign of missed calls. */
int64_t baseline_drift(uint64_t *bound);

#endif
