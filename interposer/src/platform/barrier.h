/* Orders the calling thread's stores for all other threads, whose loads have no barrier. */
#ifndef MALLOMETER_PLATFORM_BARRIER_H
#define MALLOMETER_PLATFORM_BARRIER_H

/*
 * Orders the calling thread's stores before this call and its stores after this call, by membarrier(2): a thread that
 * sees a store from after the call also sees all stores from before it, even without a barrier between its own loads.
 * Does nothing on processors that keep loads in order. If the kernel refuses, other threads may see the stores in
 * another order. Takes up to some 10 ms. Preserves errno.
 */
void barrier_for_all_threads(void);

#endif
