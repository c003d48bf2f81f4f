/* Orders the stores of one thread for all other threads. */
#ifndef MALLOMETER_PLATFORM_BARRIER_H
#define MALLOMETER_PLATFORM_BARRIER_H

/*
 * Orders stores for all threads, by membarrier(2): a thread that sees a store from after this call also sees all
 * stores from before it, even without a barrier between its loads. Does nothing on processors that keep loads in
 * order, or if the kernel refuses. Takes up to some 10 ms. Preserves errno.
 */
void barrier_for_all_threads(void);

#endif
