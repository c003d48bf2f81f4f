/* Orders the calling thread's stores for all other threads, whose loads have no barrier. */
#ifndef MALLOMETER_PLATFORM_BARRIER_H
#define MALLOMETER_PLATFORM_BARRIER_H

/*
 * Makes each thread that sees a later store of the calling thread also see the earlier stores, even if nothing orders
 * that thread's loads (membarrier(2)). Does nothing if the processor keeps loads in order. If the kernel refuses, other
 * processors may see the stores in another order. Takes up to some 10 ms. Preserves errno.
 */
void barrier_for_all_threads(void);

#endif
