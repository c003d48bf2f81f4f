/*
 * Counters that one thread writes and any thread reads.
 *
 * The writer adds with a single instruction and no lock prefix, if the processor has one (platform/arch.h): a signal
 * handler between two instructions of its own thread loses no count, a reader on another processor sees an older or a
 * newer value but never half of one, and the cost is that of a plain `x += n`.
 *
 * An object's allocation is visible before its free, and readers sum frees first, so live is never negative. Within one
 * thread, the additions here are released, and on the fast path order_frees_after_allocations() is between them.
 * Between two threads, the free's addition depends on the object's size, which was read through the address that the
 * other thread handed over, behind a barrier of the program's own; so the allocation's addition comes first. The reader
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

/* Adds in the block that threads share. */
static inline void counter_add_shared(counter *c, uint64_t amount) {
  __atomic_fetch_add(&c->value, amount, __ATOMIC_RELEASE);
}

static inline uint64_t counter_read(const counter *c) { return __atomic_load_n(&c->value, __ATOMIC_ACQUIRE); }

#endif
