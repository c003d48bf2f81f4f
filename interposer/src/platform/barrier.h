/* Orders the stores of one thread for all other threads. */
#ifndef MALLOMETER_PLATFORM_BARRIER_H
#define MALLOMETER_PLATFORM_BARRIER_H

/*
 * Makes this thread's earlier stores visible to all threads before its later stores, by membarrier(2). Other threads
 * need no barrier between their loads. Does nothing on processors that keep loads in order, or if the kernel refuses.
 * Takes up to some 10 ms. Preserves errno.
 */
void barrier_for_all_threads(void);

#endif
