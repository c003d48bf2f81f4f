/* The counters that HotSpot keeps in memory for its own tools, in the format of the files that jstat reads. Another
 * JVM may lack some counters or use another format. No word outside of the memory is ever read. */
#ifndef MALLOMETER_JVM_PERF_MEMORY_H
#define MALLOMETER_JVM_PERF_MEMORY_H

#include <stdbool.h>
#include <stddef.h>

#include "sample/collections.h"

/* Finds the counters of garbage collections. Returns "", or why there are none. Sets `generational` to whether the
 * collector is generational ZGC. */
const char *perf_memory_find(const char *memory, size_t bytes, struct collection_counters *counters,
                             bool *generational);

#endif
