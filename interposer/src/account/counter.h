/*
 * Counters that one thread writes and any thread reads.
 *
 * The writer adds with a single instruction and no lock prefix, if the processor has one (platform/arch.h): a signal
 * handler that runs between two instructions of its own thread loses nothing, a reader on another processor sees an
 * older or a newer value but never half of one, and the cost is that of a plain `x += n`.
 *
 * The allocation of an object is visible before the free of it, and readers sum frees first, so live is never negative.
 * Of one thread: the additions here are released, and on the fast path frees_follow_allocations() stands between. Of
 * two: the free's addition depends on the object's size, which was read through the address that the other thread
 * handed over; so it is ordered after that, and by a barrier of the program's own the allocation before it. The reader
 * acquires each counter. test/litmus has these and the other patterns, for herd7.
 */
#ifndef MALLOMETER_ACCOUNT_COUNTER_H
#define MALLOMETER_ACCOUNT_COUNTER_H

#include <stdint.h>

#include "platform/arch.h"

typedef struct {
  uint64_t value;
} counter;

static inline void counter_add(counter *c, uint64_t amount) { local_add(&c->value, amount); }

/* For the block that threads share. */
static inline void counter_add_shared(counter *c, uint64_t amount) {
  __atomic_fetch_add(&c->value, amount, __ATOMIC_RELEASE);
}

static inline uint64_t counter_read(const counter *c) { return __atomic_load_n(&c->value, __ATOMIC_ACQUIRE); }

#endif
