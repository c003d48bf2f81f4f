/*
 * The counters that HotSpot keeps in memory for its own tools: the format of the files that jstat reads. Another JVM
 * may use another format or lack some counters. No word outside of the memory is ever read.
 */
#ifndef MALLOMETER_JVM_PERF_MEMORY_H
#define MALLOMETER_JVM_PERF_MEMORY_H

#include <stdbool.h>
#include <stddef.h>

#include "sample/collections.h"

/*
 * Finds the counters of garbage collections. Returns an empty text, or the reason why there are no counters. Sets
 * `generational` to whether the collector is generational ZGC.
 */
const char *perf_memory_find(const char *memory, size_t bytes, struct collection_counters *counters,
                             bool *generational);

#endif
