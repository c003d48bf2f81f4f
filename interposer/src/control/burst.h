/*
 * Fast rises of memory. A burst of a tenth of a second can fill the rest of the memory limit. The kernel then kills the
 * process before Java has polled once.
 *
 * The recorder's thread (recording.h) stores a baseline: the process's anonymous memory, and the live bytes of each
 * call site. It replaces the baseline every 10 s, and after each second in which memory hardly grew but differs from
 * the baseline.
 *
 * The thread polls the total sampled bytes every 100 ms, or every 50 ms while more than half of the memory limit is
 * charged. It reads the anonymous memory when the sampled bytes have grown by half of `least_rise` (usually a 16th of
 * the limit) since the baseline. A rise begins when the anonymous memory has grown by `least_rise`. The thread then
 * describes the rise up to 200 times a second, in at most 2.5 % of a processor. A rise is not described if the call
 * sites explain less than a quarter of it, because the Java heap or mappings grew then.
 *
 * The description has the numbers and stacks of call sites. The names of the methods come later, from a thread that may
 * wait for the JVM (jvm/java_thread.h), which calls burst_names(). The recorder's thread calls all other functions.
 */
#ifndef MALLOMETER_CONTROL_BURST_H
#define MALLOMETER_CONTROL_BURST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "control/recording_format.h"
#include "platform/kernel.h"

/* Makes the variables of burst.c resident in memory, and begins to store the latest samples
 * (sample/latest_samples.h). */
void burst_start(void);

/* Must be called once a second with a reading of the memory. */
void burst_second(const struct memory_reading *reading);

/* Returns whether less than 80 % of the memory limit is charged, so that the library may start a thread. Cached
 * files are not included, because the kernel can drop them. Also true if the charged bytes or the limit are unknown. */
bool burst_leaves_room(const struct memory_reading *reading);

/* Returns the nanoseconds until the next call of burst_look(). */
uint64_t burst_pause_ns(void);

/* Tests whether memory rises. Returns a new description of the rise for the recording and the termination message;
 * NULL if there is no new description. `now` is monotonic_ns(). */
const struct recording_burst *burst_look(const struct memory_cgroup *cgroup, const struct memory_reading *known,
                                         uint64_t now);

bool burst_goes_on(void);

/*
 * Asks the JVM for the names of the methods in the latest description of a fast rise of memory, and appends a line to
 * `text` for each new frame. `text` begins anew at the next rise, and when it is full. Returns the bytes of all lines,
 * or 0 if there is no new line. May wait for a safepoint of the JVM.
 */
size_t burst_names(char *text, size_t capacity);

#endif
