/*
 * The recording: the last hour of the process in a file that is there after SIGKILL, because the kernel keeps the pages
 * of a mapped file when the process that wrote them is gone.
 *
 * A thread of the library writes samples once a second, also while the JVM hangs: it waits for nobody, takes no lock
 * and allocates nothing. Rings of falling resolution hold ten minutes by the second, an hour by ten seconds and a day
 * by the minute. Java writes the rest of the file; docs/reference/recording.md has the format.
 *
 * The thread blocks all signals, and its creation is not counted as the program's. Without a path there is neither
 * thread nor file. In a forked child there is none, and nothing there touches the file.
 */
#ifndef MALLOMETER_CONTROL_RECORDING_H
#define MALLOMETER_CONTROL_RECORDING_H

#include "mallometer.h"

/* What the file says of who wrote it. */
struct recording_writer {
  const char *build;
  const char *allocator;
  uint32_t byte_unit;
};

/* As mallometer_record(), for a path that is neither NULL nor empty. Says on standard error why it failed. */
int recording_start(const char *path, const struct recording_writer *origin);

/* Fills all fields. */
void recording_describe(struct mallometer_recording_status *out);

/* In the child of a fork. */
void recording_forked(void);

/* Bytes of the thread's stack; 0 without a thread. */
size_t recording_footprint(void);

/* Processor time of the thread, in nanoseconds. */
uint64_t recording_overhead_ns(void);

#endif
