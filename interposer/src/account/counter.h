/*
 * Counters that one thread writes and any thread reads.
 *
 * Where the processor can, the writer adds with one instruction without a lock prefix (platform/arch.h). A signal
 * handler that interrupts it then loses no count, and an addition costs as much as a plain `x += n`.
 *
 * Readers sum all frees before all allocations, and never see an object's free without its allocation, so the live
 * bytes are never negative. A thread that frees its own object adds the allocation first
 * (order_frees_after_allocations()). Another thread gets the object's address after the allocation was added, and
 * reads the size through that address before it adds the free. test/litmus checks both cases.
 */
#ifndef MALLOMETER_ACCOUNT_COUNTER_H
#define MALLOMETER_ACCOUNT_COUNTER_H

#include <stdint.h>

#include "platform/arch.h"

typedef struct {
  uint64_t value;
} counter;

static inline void counter_add(counter *c, uint64_t amount) { local_add(&c->value, amount); }

/* Adds to a counter of shared_events, which several threads write. */
static inline void counter_add_shared(counter *c, uint64_t amount) {
  __atomic_fetch_add(&c->value, amount, __ATOMIC_RELEASE);
}

static inline uint64_t counter_read(const counter *c) { return __atomic_load_n(&c->value, __ATOMIC_ACQUIRE); }

#endif
