/*
 * Finds the JVM's counters of garbage collections, and recognizes the threads that free the native memory of
 * unreachable Java objects (sample/collections.h).
 *
 * HotSpot keeps its counters in memory that it describes for its own tools (PerfMemory of its vmStructs.cpp), with or
 * without the file of /tmp/hsperfdata. The JVM's MXBeans are no substitute: those of JDK 17 miss G1's concurrent
 * cycles.
 */
#ifndef MALLOMETER_JVM_CLEANERS_H
#define MALLOMETER_JVM_CLEANERS_H

#include <stdbool.h>

#include "mallometer.h"

/*
 * Fills in the counts of collections. If `looks` is set, also looks at the stacks of threads that may be cleaners
 * (cleaner_candidate()). Finds the counters at the first call. Must be called by a thread of the JVM; allocates.
 * Returns 0, or -ENODATA: Java frames are off, or there are no counts; `reason` then says why.
 */
int cleaners_look(struct mallometer_collection_counts *out, bool looks);

/* Forgets the counters in the child of a fork, which has no JVM. */
void cleaners_forked(void);

#endif
