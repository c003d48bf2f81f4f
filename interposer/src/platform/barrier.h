/* Orders this thread's stores for all other threads, whose loads have no barrier. */
#ifndef MALLOMETER_PLATFORM_BARRIER_H
#define MALLOMETER_PLATFORM_BARRIER_H

/*
 * Makes each thread that sees a later store of the calling thread see its earlier stores, too, even if nothing orders
 * its loads (membarrier(2)). Does nothing where the processor keeps the order of loads. If the kernel refuses, other
 * processors see the stores in the order in which they arrive. Takes up to some 10 ms. Preserves errno.
 */
void barrier_for_all_threads(void);

#endif
