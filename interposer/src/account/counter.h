/*
 * Counters that one thread writes and any thread reads.
 *
 * The writer adds with a single instruction without a lock prefix, if the processor has such an instruction
 * (platform/arch.h): a signal handler that interrupts the writer loses no count, a reader on another processor sees the
 * older or the newer value but never half of each, and an addition costs as much as a plain `x += n`.
 *
 * Readers sum all frees before all allocations, and a reader that sees an object's free also sees its allocation. The
 * live bytes are therefore never negative. If one thread allocates and frees an object, it releases the two additions
 * in that order; on the fast path, order_frees_after_allocations() orders them. If another thread frees the object, the
 * program has passed the address to that thread, and the addition of the free depends on the object's size, which is
 * read through the address; so the addition of the allocation comes first. The reader acquires each counter.
 * test/litmus tests these and other patterns with herd7, a simulator of memory models.
 */
#ifndef MALLOMETER_ACCOUNT_COUNTER_H
#define MALLOMETER_ACCOUNT_COUNTER_H

#include <stdint.h>

#include "platform/arch.h"

typedef struct {
  uint64_t value;
} counter;

static inline void counter_add(counter *c, uint64_t amount) { local_add(&c->value, amount); }

/* Adds to a counter of the one thread block that several threads write (shared_events). */
static inline void counter_add_shared(counter *c, uint64_t amount) {
  __atomic_fetch_add(&c->value, amount, __ATOMIC_RELEASE);
}

static inline uint64_t counter_read(const counter *c) { return __atomic_load_n(&c->value, __ATOMIC_ACQUIRE); }

#endif
