/* An order between this thread's stores and all other threads' loads that have no barrier of their own. */
#ifndef MALLOMETER_PLATFORM_BARRIER_H
#define MALLOMETER_PLATFORM_BARRIER_H

/*
 * Whoever sees what the calling thread stores afterwards sees what it stored before, even if nothing orders its loads
 * (membarrier(2)). Nothing where the processor keeps the order of loads, or where the kernel refuses: then the order is
 * that in which the stores reach the other processors. Up to some 10 ms. Keeps errno.
 */
void barrier_for_all_threads(void);

#endif
