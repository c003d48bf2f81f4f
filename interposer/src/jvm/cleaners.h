/*
 * Finds the JVM's counters of garbage collections, and recognizes the threads that free the native memory of
 * unreachable Java objects (sample/collections.h).
 *
 * The counters are in HotSpot's PerfMemory, which vmStructs.cpp describes for HotSpot's own tools. They exist even if
 * there is no file in /tmp/hsperfdata. The JVM's MXBeans are no substitute: those of JDK 17 miss G1's concurrent
 * cycles.
 */
#ifndef MALLOMETER_JVM_CLEANERS_H
#define MALLOMETER_JVM_CLEANERS_H

#include <stdbool.h>

#include "mallometer.h"

/*
 * Fills in the counts of collections and, if `looks` is set, looks at the stacks of threads that may be cleaners
 * (cleaner_candidate()). Must be called by a thread of the JVM. Allocates. Returns 0; -ENODATA if Java frames are off
 * or there are no counts, and `reason` then says why.
 */
int cleaners_look(struct mallometer_collection_counts *out, bool looks);

void cleaners_forked(void);

#endif
