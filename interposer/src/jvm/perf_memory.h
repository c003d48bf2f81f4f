/*
 * The counters that HotSpot keeps in memory for its own tools: the format of the files that jstat reads. A JVM may have
 * another format, or leave out what is expected: no word outside of the memory is read.
 */
#ifndef MALLOMETER_JVM_PERF_MEMORY_H
#define MALLOMETER_JVM_PERF_MEMORY_H

#include <stdbool.h>
#include <stddef.h>

#include "sample/collections.h"

/*
 * Finds the counters of garbage collections. Returns why there are none; an empty text if there are. `generational` is
 * set if the collector is generational ZGC.
 */
const char *perf_memory_find(const char *memory, size_t bytes, struct collection_counters *counters,
                             bool *generational);

#endif
