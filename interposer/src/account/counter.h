/*
 * Counters that one thread writes and any thread reads.
 *
 * The writer adds with a single instruction and no lock prefix, if the processor has one (platform/arch.h): a signal
 * handler that runs between two instructions of its own thread loses nothing, a reader on another processor sees an
 * older or a newer value but never half of one, and the cost is that of a plain `x += n`.
 *
 * Additions become visible in their order, so the allocation of an object is visible before the free of it (DESIGN:
 * readers sum frees first).
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
