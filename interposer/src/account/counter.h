/*
 * Counters that one thread writes and any thread reads.
 *
 * Where the processor can, the writer adds with one instruction that has no lock prefix (platform/arch.h). This is as
 * fast as a plain `x += n`, but no count is lost if a signal handler interrupts it.
 *
 * Readers sum all frees before all allocations. A sum that contains an object's free then also contains the object's
 * allocation, so the live bytes are never negative. A thread that frees its own object adds the allocation first
 * (order_frees_after_allocations()). Another thread gets the object's address after the allocation was added, and reads
 * the size through that address before it adds the free. test/litmus checks both cases.
 */
#ifndef MALLOMETER_ACCOUNT_COUNTER_H
#define MALLOMETER_ACCOUNT_COUNTER_H

#include <stdint.h>

#include "platform/arch.h"

typedef struct {
  uint64_t value;
} counter;

static inline void counter_add(counter *c, uint64_t amount) { local_add(&c->value, amount); }

/* Adds to a counter that several threads write. */
static inline void counter_add_shared(counter *c, uint64_t amount) {
  __atomic_fetch_add(&c->value, amount, __ATOMIC_RELEASE);
}

static inline uint64_t counter_read(const counter *c) { return __atomic_load_n(&c->value, __ATOMIC_ACQUIRE); }

#endif
