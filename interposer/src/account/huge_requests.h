/*
 * Requests that deserve to be known one by one: the largest so far, and rings of those above a size, with size, time,
 * thread and stack. One ring has the latest huge ones, from the start of the process on. Watches, which come and go,
 * have rings of their own, above sizes of their own. The fast path compares a large request with one size,
 * `recorded_above`, the smallest of all: without a watch it is the huge threshold, and nothing is paid.
 *
 * The rings have no lock. A writer takes a number, marks its entry as being written, fills it and marks it with the
 * number; a reader that finds the same mark before and after its copy has a whole entry. A reader that was overtaken
 * misses entries and sees so by the numbers. A watch is not overtaken: it keeps the first 64 requests after each
 * reading and counts the others, so that a low size costs no more stacks than are read.
 */
#ifndef MALLOMETER_ACCOUNT_HUGE_REQUESTS_H
#define MALLOMETER_ACCOUNT_HUGE_REQUESTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "mallometer.h"
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

/* Requests above it are huge; set once when the process starts. */
extern HIDDEN size_t huge_threshold;

/* record_request() is called with requests above it. */
extern HIDDEN size_t recorded_above;

void huge_requests_start(size_t threshold);

/* Whether record_request() would keep this one, and not only count it. */
bool request_is_kept(size_t requested);

/* One above `recorded_above`, with what is known of its stack: return addresses, innermost first; NULL if nothing is.
 * Does not change errno. */
void record_request(size_t requested, const uint64_t *frames, uint32_t count);

/* Watches requests of the thread of this number; 0: of all threads. The number of a watch, 1 to MOST_WATCHES, or
 * -EAGAIN if there are so many. */
#define MOST_WATCHES 8
int request_watch_add(size_t above, uint32_t thread);

/* 0, or -EINVAL if there is no such watch. */
int request_watch_remove(uint32_t number);

/* Copies what was kept since the last reading, oldest first, and returns how many; -EINVAL if there is no such watch.
 * `total`: how many requests there were since the watch was added. One reader at a time. */
int request_watch_read(uint32_t number, struct mallometer_event *events, uint32_t capacity, uint64_t *total);

/* In the child of a fork, where no other thread is in the middle of a request, or about a watch. */
void huge_requests_forked(void);

/* Whether a watch is for requests up to LARGEST_FAST_REQUEST, which the fast path does not compare. */
bool small_requests_are_watched(void);

uint64_t largest_request(void);
uint64_t huge_requests(void);

/* Copies the events with numbers above `after`, oldest first. Returns how many. */
uint32_t huge_request_events(struct mallometer_event *events, uint32_t capacity, uint64_t after);

#endif
