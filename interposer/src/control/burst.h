/*
 * Fast rises of memory: a burst of a tenth of a second can fill the rest of the limit, and the kernel then kills the
 * process before Java has polled once.
 *
 * The recorder's thread (recording.h) stores a baseline at the end of each second in which memory hardly grew, if
 * memory has changed since the previous baseline, and otherwise every 10 s: the process's resident memory without pages
 * of files, and the live bytes of each call site. It polls the sum of the bytes of all samples 10 times a second, or 20
 * times above half of the limit. If this sum has grown by half of the least rise since the baseline, the thread reads
 * the resident memory. If that memory has grown by the least rise, the thread describes the rise up to 200 times a
 * second, in 2.5 % of a processor at most. A rise of which the call sites explain less than a quarter is not described:
 * it is the Java heap, or mappings.
 *
 * The description names threads and call sites by numbers and holds their stacks. The names of the methods come later,
 * from a thread that may wait for the JVM (jvm/java_thread.h).
 *
 * The recorder's thread calls all functions but burst_names().
 */
#ifndef MALLOMETER_CONTROL_BURST_H
#define MALLOMETER_CONTROL_BURST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "control/recording_format.h"
#include "platform/kernel.h"

/* Makes the memory of this part resident, and begins to store the latest samples (sample/latest_samples.h). */
void burst_start(void);

/* Receives a reading of the memory, once a second. */
void burst_second(const struct memory_reading *reading);

/* Returns whether memory suffices to start a thread of the library: less than 80 % of the limit is charged, or the
 * charged bytes or the limit are unknown. Cached files do not count, because the kernel drops them. */
bool burst_leaves_room(const struct memory_reading *reading);

/* Returns the nanoseconds until the next call of burst_look(). */
uint64_t burst_pause_ns(void);

/* Looks whether memory rises; `now` is monotonic_ns(). Returns a description of the rise that should be written; NULL:
 * none. */
const struct recording_burst *burst_look(const struct memory_cgroup *cgroup, const struct memory_reading *known,
                                         uint64_t now);

/* Returns whether the rise that was described last continues. */
bool burst_goes_on(void);

/*
 * Asks the JVM for the names of the methods in the latest description of a rise, and appends a line for each frame to
 * the lines of the same rise. If there is no room, the new lines replace all earlier lines. Returns the bytes of all
 * lines; 0 if there is no new line. Called by a thread that may wait for a safepoint of the JVM.
 */
size_t burst_names(char *text, size_t capacity);

#endif
