/*
 * Names the method that allocated most in a fast rise of memory, for the termination message.
 *
 * A call site belongs to the innermost method of its stack that is outside of the JDK. The reports of the Java bridge
 * (SiteNaming) also skip classes of libraries, which the bridge recognizes by their jars.
 */
#ifndef MALLOMETER_CONTROL_BURST_LINE_H
#define MALLOMETER_CONTROL_BURST_LINE_H

#include <stdbool.h>
#include <stddef.h>

#include "control/recording_format.h"

/*
 * Writes a clause such as "in the last 0.3 s Buffers.grab (Buffers.java:7) allocated 223 MiB", or "compilation of
 * Buffers.grab allocated 223 MiB" if the JVM was compiling the method. If no method allocated at least 4 MiB and at
 * least a quarter of the rise, writes how much memory grew.
 *
 * `names` has the names of methods in the format of RECORDING_NAMES (recording_format.h), NUL-terminated.
 */
void burst_line(const struct recording_burst *burst, const char *names, char *text, size_t capacity);

#endif
