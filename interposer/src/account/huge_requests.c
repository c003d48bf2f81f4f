/* The ring of the latest huge requests, written and read without a lock. See huge_requests.h. */
#include "account/huge_requests.h"

#include <stdbool.h>
#include <string.h>

#include "platform/clock.h"
#include "platform/thread.h"

#define ENTRIES 64u

uint64_t largest_requested;
static uint64_t huge;
static struct mallometer_event ring[ENTRIES];
_Static_assert(sizeof ring[0].thread_name == THREAD_NAME_BYTES, "a whole name");

/*
 * The fence keeps what follows behind the 0, and the reader's its second look behind its copy: whoever copied a word of
 * another event sees another number (test/litmus/event-copied). The counts order nothing.
 */
void record_huge_request(size_t requested, const uint64_t *frames, uint32_t count) {
  uint64_t number = __atomic_add_fetch(&huge, 1, __ATOMIC_RELAXED);
  struct mallometer_event *entry = &ring[number % ENTRIES];
  __atomic_store_n(&entry->number, 0, __ATOMIC_RELAXED);
  __atomic_thread_fence(__ATOMIC_RELEASE);
  entry->realtime_ns = coarse_realtime_ns();
  entry->requested_bytes = requested;
  entry->thread_id = thread_id();
  entry->frames = count < MALLOMETER_EVENT_FRAMES ? count : MALLOMETER_EVENT_FRAMES;
  if (frames) memcpy(entry->stack, frames, entry->frames * sizeof *frames);
  thread_name(entry->thread_name);
  __atomic_store_n(&entry->number, number, __ATOMIC_RELEASE);
}

void raise_largest_request(size_t requested) {
  uint64_t known = __atomic_load_n(&largest_requested, __ATOMIC_RELAXED);
  while (requested > known && !__atomic_compare_exchange_n(&largest_requested, &known, requested, true,
                                                           __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
  }
}

uint64_t largest_request(void) { return __atomic_load_n(&largest_requested, __ATOMIC_RELAXED); }

uint64_t huge_requests(void) { return __atomic_load_n(&huge, __ATOMIC_RELAXED); }

uint32_t huge_request_events(const struct rows *events, uint64_t after) {
  uint64_t last = huge_requests();
  uint64_t number = last > ENTRIES ? last - ENTRIES : 0;
  if (number < after) number = after;
  uint32_t copied = 0;
  while (++number <= last && copied < events->capacity) {
    const struct mallometer_event *entry = &ring[number % ENTRIES];
    if (__atomic_load_n(&entry->number, __ATOMIC_ACQUIRE) != number) continue;
    rows_write(events, copied, entry, sizeof *entry);
    __atomic_thread_fence(__ATOMIC_ACQUIRE);
    if (__atomic_load_n(&entry->number, __ATOMIC_RELAXED) == number) copied++;
  }
  return copied;
}
