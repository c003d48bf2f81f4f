/*
 * The recording: samples of the process's counters in a file that survives SIGKILL, because the kernel keeps the pages
 * of a mapped file when the process that wrote them is gone.
 *
 * A thread of the library writes a sample each second, also while the JVM hangs: it takes no lock, waits for no other
 * thread and does not allocate. Rings hold samples of the last ten minutes by the second, of an hour by ten seconds and
 * of a day by the minute. Java passes other records: a description of the JVM, the parts of the memory, call sites.
 * This part is the only writer of the file, and Java is its only reader; docs/reference/recording.md has the format.
 *
 * The thread blocks all signals, and its creation is not counted as an event of the program. It also writes the
 * termination message. If neither a recording nor a message is requested, there is no thread and no file. A forked
 * child has no thread and does not touch the file.
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

/* Starts the termination message, as mallometer_message_start() does, with or without a recording. */
int recording_start_message(const char *path, const struct recording_writer *origin);

/* Writes a record, as mallometer_recording_write() does. */
int recording_write(uint32_t kind, uint32_t percent, const char *content, uint32_t length);

/* Fills all fields, as mallometer_recording() does. */
void recording_describe(struct mallometer_recording_status *out);

/* Ends the recording in the child of a fork. */
void recording_forked(void);

/* Returns the bytes of the stacks of the recorder's thread and of the thread that asks the JVM for names. */
size_t recording_footprint(void);

/* Returns the CPU time of the recorder's thread and of the thread that asks the JVM for names, in nanoseconds. */
uint64_t recording_overhead_ns(void);

#endif
