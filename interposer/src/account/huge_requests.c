/* Writes and reads the ring buffers of recorded requests without a lock. See huge_requests.h. */
#include "account/huge_requests.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "account/thread_block.h"
#include "platform/clock.h"
#include "platform/shared_words.h"
#include "platform/thread.h"

#define ENTRIES 64u

uint64_t largest_requested;
size_t huge_threshold = (size_t)64 << 20, recorded_above = (size_t)64 << 20;

static uint64_t huge;
static struct mallometer_event ring[ENTRIES];
_Static_assert(sizeof ring[0].thread_name == THREAD_NAME_BYTES, "an event has room for a whole thread name");

/* ---- Writing a ring ------------------------------------------------------------------------------------ */

/*
 * Fills an entry. The caller must first set the entry's number to 0 or WRITTEN, so that readers skip the entry. The
 * release fence pairs with the acquire fence in copy(): a reader that has copied a half-filled entry sees the changed
 * number (test/litmus/event-copied).
 */
static void fill(struct mallometer_event *entry, uint64_t number, size_t requested, const uint64_t *frames,
                 uint32_t count) {
  __atomic_thread_fence(__ATOMIC_RELEASE);
  entry->realtime_ns = coarse_realtime_ns();
  entry->requested_bytes = requested;
  entry->thread_id = thread_id();
  entry->frames = count < MALLOMETER_EVENT_FRAMES ? count : MALLOMETER_EVENT_FRAMES;
  if (frames) memcpy(entry->stack, frames, entry->frames * sizeof *frames);
  thread_name(entry->thread_name);
  __atomic_store_n(&entry->number, number, __ATOMIC_RELEASE);
}

static void record_huge(size_t requested, const uint64_t *frames, uint32_t count) {
  uint64_t number = __atomic_add_fetch(&huge, 1, __ATOMIC_RELAXED);
  struct mallometer_event *entry = &ring[number % ENTRIES];
  __atomic_store_n(&entry->number, 0, __ATOMIC_RELAXED);
  fill(entry, number, requested, frames, count);
}

void raise_largest_request(size_t requested) {
  /* The cast cannot overflow, because a successful request has at most PTRDIFF_MAX bytes. */
  (void)raise_to((int64_t *)&largest_requested, (int64_t)requested);
}

uint64_t largest_request(void) { return __atomic_load_n(&largest_requested, __ATOMIC_RELAXED); }

uint64_t huge_requests(void) { return __atomic_load_n(&huge, __ATOMIC_RELAXED); }

/* Copies an entry. Returns false if the copy is incomplete or the entry has another number. */
static bool copy(const struct mallometer_event *entry, uint64_t number, struct mallometer_event *to) {
  if (__atomic_load_n(&entry->number, __ATOMIC_ACQUIRE) != number) return false;
  *to = *entry;
  __atomic_thread_fence(__ATOMIC_ACQUIRE);
  return __atomic_load_n(&entry->number, __ATOMIC_RELAXED) == number;
}

uint32_t huge_request_events(struct mallometer_event *events, uint32_t capacity, uint64_t after) {
  uint64_t last = huge_requests();
  uint64_t number = last > ENTRIES ? last - ENTRIES : 0;
  if (number < after) number = after;
  uint32_t copied = 0;
  while (++number <= last && copied < capacity) copied += copy(&ring[number % ENTRIES], number, &events[copied]);
  return copied;
}

/* ---- Watches: rings with thresholds of their own ------------------------------------------------------- */

/* Marks an entry that a thread is writing. No other thread and no signal handler may write the entry meanwhile. */
#define WRITTEN UINT64_MAX

static struct watch {
  size_t above;
  uint32_t thread; /* 0: all threads */
  uint64_t seen;   /* matching requests since the watch was added */
  uint64_t read;   /* the number of the latest request that request_watch_read() has read or skipped */
  struct mallometer_event ring[ENTRIES];
} watches[MOST_WATCHES];

/* A watch has a bit in `taken` while it is reserved, and a bit in `watching` while it is active. */
static uint32_t taken, watching;

static size_t least_watched(void) {
  size_t least = SIZE_MAX;
  for (uint32_t left = __atomic_load_n(&watching, __ATOMIC_SEQ_CST); left != 0; left &= left - 1) {
    size_t above = __atomic_load_n(&watches[__builtin_ctz(left)].above, __ATOMIC_RELAXED);
    if (above < least) least = above;
  }
  return least;
}

static size_t least_recorded(void) {
  size_t watched = least_watched();
  return watched < huge_threshold ? watched : huge_threshold;
}

static void choose_recorded(void) {
  size_t least;
  do {
    least = least_recorded();
    __atomic_store_n(&recorded_above, least, __ATOMIC_SEQ_CST);
  } while (least != least_recorded());
}

void huge_requests_start(size_t threshold) {
  huge_threshold = threshold;
  choose_recorded();
}

bool small_requests_are_watched(void) { return least_watched() < LARGEST_FAST_REQUEST; }

static bool is_of_caller(const struct watch *watch) {
  uint32_t thread = __atomic_load_n(&watch->thread, __ATOMIC_RELAXED), known;
  if (thread == 0) return true;
  known = thread_id_known();
  return thread == (known != 0 ? known : thread_id());
}

static bool is_watched(const struct watch *watch, size_t requested) {
  return requested > __atomic_load_n(&watch->above, __ATOMIC_RELAXED) && is_of_caller(watch);
}

static bool has_room(const struct watch *watch) {
  return __atomic_load_n(&watch->seen, __ATOMIC_RELAXED) - __atomic_load_n(&watch->read, __ATOMIC_RELAXED) < ENTRIES;
}

bool request_is_kept(size_t requested) {
  if (requested > huge_threshold) return true;
  for (uint32_t left = __atomic_load_n(&watching, __ATOMIC_ACQUIRE); left != 0; left &= left - 1) {
    const struct watch *watch = &watches[__builtin_ctz(left)];
    if (has_room(watch) && is_watched(watch, requested)) return true;
  }
  return false;
}

static void record_watched(struct watch *watch, size_t requested, const uint64_t *frames, uint32_t count) {
  uint64_t number = __atomic_add_fetch(&watch->seen, 1, __ATOMIC_RELAXED);
  if (number - __atomic_load_n(&watch->read, __ATOMIC_RELAXED) > ENTRIES) return;
  struct mallometer_event *entry = &watch->ring[number % ENTRIES];
  uint64_t earlier = __atomic_load_n(&entry->number, __ATOMIC_RELAXED);
  if (earlier == WRITTEN ||
      !__atomic_compare_exchange_n(&entry->number, &earlier, WRITTEN, false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
    return;
  fill(entry, number, requested, frames, count);
}

void record_request(size_t requested, const uint64_t *frames, uint32_t count) {
  if (requested > huge_threshold) record_huge(requested, frames, count);
  for (uint32_t left = __atomic_load_n(&watching, __ATOMIC_ACQUIRE); left != 0; left &= left - 1) {
    struct watch *watch = &watches[__builtin_ctz(left)];
    if (is_watched(watch, requested)) record_watched(watch, requested, frames, count);
  }
}

static void forget(struct mallometer_event *entry) {
  uint64_t number = __atomic_load_n(&entry->number, __ATOMIC_RELAXED);
  if (number != WRITTEN)
    __atomic_compare_exchange_n(&entry->number, &number, 0, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
}

int request_watch_add(size_t above, uint32_t thread) {
  uint32_t bit = take_bit(&taken, MOST_WATCHES);
  if (bit == 0) return -EAGAIN;
  struct watch *watch = &watches[__builtin_ctz(bit)];
  for (uint32_t i = 0; i < ENTRIES; i++) forget(&watch->ring[i]);
  __atomic_store_n(&watch->seen, 0, __ATOMIC_RELAXED);
  __atomic_store_n(&watch->read, 0, __ATOMIC_RELAXED);
  __atomic_store_n(&watch->above, above, __ATOMIC_RELAXED);
  __atomic_store_n(&watch->thread, thread, __ATOMIC_RELAXED);
  __atomic_fetch_or(&watching, bit, __ATOMIC_SEQ_CST);
  choose_recorded();
  return __builtin_ctz(bit) + 1;
}

void huge_requests_forked(void) {
  for (uint32_t i = 0; i < MOST_WATCHES * ENTRIES; i++) {
    struct mallometer_event *entry = &watches[i / ENTRIES].ring[i % ENTRIES];
    if (__atomic_load_n(&entry->number, __ATOMIC_RELAXED) == WRITTEN)
      __atomic_store_n(&entry->number, 0, __ATOMIC_RELAXED);
  }
  /* Frees watches that another thread of the parent was adding or removing at the fork. */
  __atomic_store_n(&taken, __atomic_load_n(&watching, __ATOMIC_RELAXED), __ATOMIC_RELAXED);
  choose_recorded();
}

static uint32_t bit_of(uint32_t number) { return number >= 1 && number <= MOST_WATCHES ? 1u << (number - 1) : 0; }

/* A thread may still write a request into the watch's ring after the removal, even if a new watch already uses the
 * ring. request_watch_read() skips a request that does not match the new watch. */
int request_watch_remove(uint32_t number) {
  uint32_t bit = bit_of(number);
  if (!(__atomic_fetch_and(&watching, ~bit, __ATOMIC_SEQ_CST) & bit)) return -EINVAL;
  choose_recorded();
  __atomic_fetch_and(&taken, ~bit, __ATOMIC_RELEASE);
  return 0;
}

int request_watch_read(uint32_t number, struct mallometer_event *events, uint32_t capacity, uint64_t *total) {
  if (!(__atomic_load_n(&watching, __ATOMIC_ACQUIRE) & bit_of(number))) return -EINVAL;
  struct watch *watch = &watches[number - 1];
  uint64_t last = __atomic_load_n(&watch->seen, __ATOMIC_RELAXED), begin = watch->read, next = begin + 1;
  uint64_t kept = last - begin < ENTRIES ? last : begin + ENTRIES;
  uint32_t copied = 0;
  for (; next <= kept && copied < capacity; next++) {
    const struct mallometer_event *entry = &watch->ring[next % ENTRIES];
    copied += copy(entry, next, &events[copied]) && entry->requested_bytes > watch->above &&
              (watch->thread == 0 || entry->thread_id == watch->thread);
  }
  __atomic_store_n(&watch->read, next <= kept ? next - 1 : last, __ATOMIC_RELAXED);
  *total = last;
  return (int)copied;
}
