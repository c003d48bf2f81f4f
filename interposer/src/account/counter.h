/*
 * Counters that one thread writes and any thread reads.
 *
 * The writer adds with a single instruction without a lock prefix, if the processor has such an instruction
 * (platform/arch.h): a signal handler that interrupts the writer loses no count, a reader on another processor sees the
 * older or the newer value but never half of each, and an addition costs as much as a plain `x += n`.
 *
 * An object's allocation is visible before its free, and readers sum frees first, so the live bytes are never negative.
 * If one thread allocates and frees an object, the additions here are released in that order; on the fast path,
 * order_frees_after_allocations() stands between the two. If two threads do, the program itself orders the hand-over of
 * the address, and the addition of the free depends on the object's size, which is read through that address; so the
 * addition of the allocation comes first. The reader acquires each counter. test/litmus has these and other patterns,
 * for herd7.
 */
#ifndef MALLOMETER_ACCOUNT_COUNTER_H
#define MALLOMETER_ACCOUNT_COUNTER_H

#include <stdint.h>

#include "platform/arch.h"

typedef struct {
  uint64_t value;
} counter;

static inline void counter_add(counter *c, uint64_t amount) { local_add(&c->value, amount); }

/* Adds to a counter of the block that threads share. */
static inline void counter_add_shared(counter *c, uint64_t amount) {
  __atomic_fetch_add(&c->value, amount, __ATOMIC_RELEASE);
}

static inline uint64_t counter_read(const counter *c) { return __atomic_load_n(&c->value, __ATOMIC_ACQUIRE); }

#endif
