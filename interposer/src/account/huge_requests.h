/*
 * Requests that deserve to be known one by one: the largest so far, and a ring of the latest ones above a threshold
 * with size, time and thread. Requests up to LARGEST_FAST_REQUEST are not told.
 *
 * The ring has no lock. A writer takes a number, marks its entry as being written, fills it and marks it with the
 * number; a reader that finds the same mark before and after its copy has a whole entry. A reader that was overtaken
 * misses entries and sees so by the numbers.
 */
#ifndef MALLOMETER_ACCOUNT_HUGE_REQUESTS_H
#define MALLOMETER_ACCOUNT_HUGE_REQUESTS_H

#include <stddef.h>
#include <stdint.h>

#include "mallometer.h"
#include "platform/rows.h"
#include "platform/visibility.h"

extern HIDDEN uint64_t largest_requested;

/* record_largest_request()'s rare part. */
void raise_largest_request(size_t requested);

/* A successful request of more than LARGEST_FAST_REQUEST. */
static inline void record_largest_request(size_t requested) {
  if (__builtin_expect(requested > __atomic_load_n(&largest_requested, __ATOMIC_RELAXED), 0)) {
    raise_largest_request(requested);
  }
}

/* One above the threshold, with what is known of its stack: return addresses, innermost first; NULL if nothing is. Does
 * not change errno. */
void record_huge_request(size_t requested, const uint64_t *frames, uint32_t count);

uint64_t largest_request(void);
uint64_t huge_requests(void);

/* Copies the events with numbers above `after`, oldest first. Returns how many. */
uint32_t huge_request_events(const struct rows *events, uint64_t after);

#endif
