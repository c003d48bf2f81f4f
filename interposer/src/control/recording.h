/*
 * The recording: samples of the process's counters in a mapped file, whose pages the kernel keeps even after SIGKILL.
 *
 * A thread of the library writes a sample each second, also while the JVM hangs: it takes no lock, waits for no other
 * thread and does not allocate. The file has one sample per second for the last ten minutes, one per ten seconds for
 * the last hour, and one per minute for the last day. The file also has the records that Java passes.
 * docs/reference/recording.md describes the format.
 *
 * The thread blocks all signals, and also writes the termination message. It exists only if a recording or a message is
 * requested. A forked child has no thread and does not touch the file.
 */
#ifndef MALLOMETER_CONTROL_RECORDING_H
#define MALLOMETER_CONTROL_RECORDING_H

#include <stdbool.h>

#include "mallometer.h"

/* Describes the library for the file's header. */
struct recording_writer {
  const char *build;
  const char *allocator;
  uint32_t byte_unit;
  bool (*wants_names)(void); /* Returns whether a thread may ask the JVM for names now. */
};

/* Starts the recording, as mallometer_record() does, for a non-empty path. Writes the reason of a failure to standard
 * error. */
int recording_start(const char *path, const struct recording_writer *origin);

/* Starts the termination message, as mallometer_message_start() does. The process need not have a recording. */
int recording_start_message(const char *path, const struct recording_writer *origin);

int recording_write(uint32_t kind, uint32_t percent, const char *content, uint32_t length);

void recording_describe(struct mallometer_recording_status *out);

void recording_forked(void);

/* Returns the bytes of the stacks of the recording's threads. */
size_t recording_footprint(void);

/* Returns the CPU time of the recording's threads, in nanoseconds. */
uint64_t recording_overhead_ns(void);

#endif
