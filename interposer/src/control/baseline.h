/*
 * The baseline: the bytes that a process had live before counting began. This part also checks whether the counters
 * still agree with glibc's live bytes.
 *
 * The baseline is the live bytes that glibc reports, minus the bytes counted until then. Other threads may allocate
 * during glibc's report, so the library also computes a bound of the baseline's error. The bound is half of the bytes
 * that other threads allocate and free during the report, plus the changes of their caches, or GLIBC_CACHE_MOST_BYTES
 * for each thread if the caches cannot be read. 64 KiB are added if another thread may be inside malloc or free. The
 * library asks glibc for a report only if the report will hold each lock for less than 10 ms.
 */
#ifndef MALLOMETER_CONTROL_BASELINE_H
#define MALLOMETER_CONTROL_BASELINE_H

#include <stdbool.h>
#include <stdint.h>

/* Must be called when counting has begun. Computes the bytes that were live before, or MALLOMETER_UNKNOWN if that is
 * impossible, and passes them to snapshot_begin(). */
void baseline_find(void);

/* Cancels the requests to threads to report the bytes in their caches. */
void baseline_forget_threads(void);

/* Compares the counted live bytes with glibc's. Returns false without a comparison if the latest comparison was too
 * recent, the baseline is unknown, or glibc cannot report its live bytes. */
bool baseline_compare(void);

/* Returns glibc's live bytes minus the counted ones at the latest comparison. Sets `bound`, in bytes: a difference
 * above it, positive or negative, means that calls were missed. */
int64_t baseline_drift(uint64_t *bound);

#endif
