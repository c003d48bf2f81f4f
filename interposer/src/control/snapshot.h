/*
 * One reading of the counters of the whole process, for programs (mallometer.h) and for the black box.
 */
#ifndef MALLOMETER_CONTROL_SNAPSHOT_H
#define MALLOMETER_CONTROL_SNAPSHOT_H

#include "mallometer.h"

/* Fills all but size and version. Since the process's start. */
void snapshot_read(struct mallometer_counters *snapshot);

/* Takes off what was counted before the latest reset. */
void snapshot_since_reset(struct mallometer_counters *snapshot);

/* 0, or -EBUSY: another thread is in it. */
int snapshot_reset(void);

/* In the child of a fork, where no other thread is in a reset. */
void snapshot_forked(void);

#endif
