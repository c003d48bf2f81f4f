/*
 * Records large requests: the size of the largest one, and rings (ring buffers) with the size, time, thread and stack
 * of each request above a threshold. One ring has the latest huge requests of the process. A watch is a further ring
 * with its own threshold, which can be added and removed. The fast path compares a large request only with
 * `recorded_above`, the smallest threshold.
 *
 * The rings have no lock. A writer marks an entry as incomplete, fills it, and then stores the request's number in it.
 * A reader's copy is complete if the entry has the same number before and after the copy. Gaps in the numbers show
 * which requests a reader missed. A watch keeps the first 64 requests since it was last read. It only counts further
 * requests, which therefore need no stack walk.
 */
#ifndef MALLOMETER_ACCOUNT_HUGE_REQUESTS_H
#define MALLOMETER_ACCOUNT_HUGE_REQUESTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "mallometer.h"
#include "platform/visibility.h"

extern HIDDEN uint64_t largest_requested;

void raise_largest_request(size_t requested);

/* Must be called for each successful request of more than LARGEST_FAST_REQUEST bytes. */
static inline void record_largest_request(size_t requested) {
  if (__builtin_expect(requested > __atomic_load_n(&largest_requested, __ATOMIC_RELAXED), 0)) {
    raise_largest_request(requested);
  }
}

/* A request of more bytes than huge_threshold is huge. Set once, when the process starts. */
extern HIDDEN size_t huge_threshold;

extern HIDDEN size_t recorded_above;

void huge_requests_start(size_t threshold);

/* Returns whether record_request() would store this request, and so needs its stack. */
bool request_is_kept(size_t requested);

/* Records a request above `recorded_above`. `frames` are the return addresses of its stack, innermost first, or NULL if
 * the stack is unknown. Preserves errno. */
void record_request(size_t requested, const uint64_t *frames, uint32_t count);

/* Adds a watch for requests of more than `above` bytes by the thread with the kernel's ID `thread`, or by all threads
 * if `thread` is 0. Returns the number of the watch, 1 to MOST_WATCHES, or -EAGAIN if all watches are in use. */
#define MOST_WATCHES 8
int request_watch_add(size_t above, uint32_t thread);

/* Removes a watch. Returns 0, or -EINVAL if there is no such watch. */
int request_watch_remove(uint32_t number);

/*
 * Copies the requests stored since the last reading, oldest first, and returns their number, or -EINVAL if there is
 * no such watch. Sets `total` to the number of requests since the watch was added. Only one thread may read a watch
 * at a time.
 */
int request_watch_read(uint32_t number, struct mallometer_event *events, uint32_t capacity, uint64_t *total);

/* Repairs the rings in the child of a fork, where the threads that were changing them do not exist. */
void huge_requests_forked(void);

/*
 * Returns whether a watch records requests of at most LARGEST_FAST_REQUEST bytes, which the fast path does not check.
 */
bool small_requests_are_watched(void);

uint64_t largest_request(void);
uint64_t huge_requests(void);

/* Copies the events with numbers above `after`, oldest first. Returns how many it copied. */
uint32_t huge_request_events(struct mallometer_event *events, uint32_t capacity, uint64_t after);

#endif
