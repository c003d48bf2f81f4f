/*
 * Large requests, one by one: the largest so far, and rings of requests above a size, with size, time, thread and
 * stack. One ring has the latest huge requests of the process. Watches can be added and removed, and have rings and
 * sizes of their own. The fast path compares a large request with one size, `recorded_above`, the smallest of all:
 * without a watch that is the huge threshold, at no further cost.
 *
 * The rings have no lock. A writer takes a number, marks its entry as being written, fills it and marks it with the
 * number; a reader that finds the same mark before and after its copy has a whole entry. A reader that is too slow
 * misses entries, which the numbers reveal. The ring of a watch is not overwritten: it keeps the first 64 requests
 * after each reading and counts the others, so that a low size costs no more stacks than are read.
 */
#ifndef MALLOMETER_ACCOUNT_HUGE_REQUESTS_H
#define MALLOMETER_ACCOUNT_HUGE_REQUESTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "mallometer.h"
#include "platform/visibility.h"

extern HIDDEN uint64_t largest_requested;

/* Is the rare part of record_largest_request(). */
void raise_largest_request(size_t requested);

/* Records a successful request of more than LARGEST_FAST_REQUEST. */
static inline void record_largest_request(size_t requested) {
  if (__builtin_expect(requested > __atomic_load_n(&largest_requested, __ATOMIC_RELAXED), 0)) {
    raise_largest_request(requested);
  }
}

/* Requests above this size are huge; set once when the process starts. */
extern HIDDEN size_t huge_threshold;

/* Requests above this size are passed to record_request(). */
extern HIDDEN size_t recorded_above;

void huge_requests_start(size_t threshold);

/* Returns whether record_request() would store this request, and not only count it. */
bool request_is_kept(size_t requested);

/* Records a request above `recorded_above` and its stack: return addresses, innermost first; NULL if unknown. Does not
 * change errno. */
void record_request(size_t requested, const uint64_t *frames, uint32_t count);

/* Watches requests of a thread by its number; 0: of all threads. Returns the number of the watch, 1 to MOST_WATCHES, or
 * -EAGAIN if all are used. */
#define MOST_WATCHES 8
int request_watch_add(size_t above, uint32_t thread);

/* Removes a watch. Returns 0, or -EINVAL if there is no such watch. */
int request_watch_remove(uint32_t number);

/* Copies the requests stored since the last reading, oldest first, and returns their number; -EINVAL if there is no
 * such watch. `total`: the requests since the watch was added. One reader at a time. */
int request_watch_read(uint32_t number, struct mallometer_event *events, uint32_t capacity, uint64_t *total);

/* Repairs the rings in the child of a fork, where no other thread writes an entry or changes a watch. */
void huge_requests_forked(void);

/* Returns whether a watch is for requests up to LARGEST_FAST_REQUEST, which the fast path does not compare. */
bool small_requests_are_watched(void);

uint64_t largest_request(void);
uint64_t huge_requests(void);

/* Copies the events with numbers above `after`, oldest first. Returns their number. */
uint32_t huge_request_events(struct mallometer_event *events, uint32_t capacity, uint64_t after);

#endif
