/* The observing thread. At the end of each epoch it reads the accessed bits of the slots (pages of single sampled
 * objects), stores which objects were accessed, and clears the bits. See observation.h. */
#include "leak/observation.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "account/own_thread.h"
#include "leak/evidence.h"
#include "leak/placement.h"
#include "leak/safety_test.h"
#include "leak/scan.h"
#include "leak/slot_limits.h"
#include "leak/slots.h"
#include "leak/watch.h"
#include "platform/clock.h"
#include "platform/kernel.h"
#include "platform/memory.h"
#include "platform/page_use.h"
#include "platform/wait.h"
#include "sample/call_sites.h"
#include "sample/sampler.h"

#define MILLISECOND UINT64_C(1000000)
#define SECOND UINT64_C(1000000000)
/* The time between readings of accessed bits, as a multiple of their CPU time; lower in tests. */
#ifndef LOOKS_IN_AN_EPOCH
#define LOOKS_IN_AN_EPOCH 1000u
#endif
#define MOST_LOOKS_IN_AN_EPOCH 1000000u
#define FEWEST_LOOKS_IN_AN_EPOCH 10u
#define LONGEST_EPOCH (60 * SECOND)
#define SHORTEST_OF_ALL_MS 10u
/* An epoch is void if accesses may have been lost during more than 1/128 of the epoch. */
#define LARGEST_UNSEEN_PART 128u
/*
 * The time between two checks that this library's handler of SIGTRAP is still installed, while objects are watched.
 */
#define BETWEEN_LOOKS_AT_SIGNAL (SECOND / 10)
/* The memory that slots take beyond the sizes of their objects is limited to 1/20 of the process's resident bytes,
 * but not to less than 1 MiB. It is also limited to arena_bytes. */
#define SHARE_OF_RESIDENT 20u
#define ALWAYS_ALLOWED ((size_t)1 << 20)

static enum leaks_wanted wanted = LEAKS_WANTED;
static size_t arena_bytes = DEFAULT_ARENA_BYTES;
static uint32_t shortest_ms = DEFAULT_SHORTEST_EPOCH_MS;
static uint32_t looks_in_an_epoch = LOOKS_IN_AN_EPOCH;
static uint32_t wishes;  /* the number of calls of observation_start() that observation_stop() has not undone */
static uint32_t changes; /* incremented to wake the sleeping thread, for example when `wishes` changes */
static void (*slot_reader)(void);
static uint64_t cpu_of_reader_ns;

static int state = MALLOMETER_LEAKS_OFF;
static bool rests; /* whether the thread rests, because no caller wants observation */
static enum mallometer_leaks_method method;
static const char *reason = "mallometer_leaks_start() was not called";
static const char *no_room;    /* why no further objects can be placed in slots; NULL if they can */
static const char *no_reading; /* why the latest reading of accessed bits failed; NULL if it succeeded */
static const char *watch_reason = "leak observation is off";
static size_t stack_bytes;
static uint64_t started_ns, epochs, void_epochs, epoch_end_ns, epoch_ns, cpu_ns;

/* Readers do not rely on the order in which the statistics change, so relaxed accesses are enough. */
static uint64_t get(const uint64_t *figure) { return __atomic_load_n(figure, __ATOMIC_RELAXED); }

static void set(uint64_t *figure, uint64_t value) { __atomic_store_n(figure, value, __ATOMIC_RELAXED); }

static bool is_wanted(void) { return __atomic_load_n(&wishes, __ATOMIC_ACQUIRE) > 0; }

/* ---- The limit of the memory for slots ----------------------------------------------------------------- */

static size_t bytes_for_slots(void) {
  uint64_t resident = process_memory().resident;
  size_t share = resident == UINT64_MAX ? 0 : (size_t)resident / SHARE_OF_RESIDENT;
  if (share < ALWAYS_ALLOWED) share = ALWAYS_ALLOWED;
  return share < arena_bytes ? share : arena_bytes;
}

/* ---- An epoch ------------------------------------------------------------------------------------------ */

static struct before {
  struct slot_object object;
  bool used;
} * before; /* which object each slot had before the accessed bits were read */

static void note_objects(void) {
  for (uint32_t i = 0; i < SLOTS; i++) before[i].used = slot_read(i, &before[i].object);
}

static bool is_same(const struct slot_object *object) {
  struct slot_object now;
  return slot_read(object->number, &now) && now.generation == object->generation;
}

/* Records that an object was accessed in the epoch that ends. Does nothing if the slot has a new object, whose
 * initialization may have been the access. */
static void touched(const struct slot_object *object, uint64_t end, uint64_t last_end) {
  if (object->last_access >= end || !is_same(object)) return;
  if (object->last_access < last_end) evidence_of_gap(object, (end - object->last_access) << SLOT_TIME_SHIFT);
  slot_touched(object, end);
}

static bool is_gone(const struct slot_object *object) {
  return is_same(object) && memory_is_unmapped((const void *)slot_address(object->number));
}

static void disown(const struct slot_object *object) {
  if (!slot_disown(object)) return;
  placement_removed(object->sample.site);
  call_sites_count_free(object->sample);
}

static void retire(const struct slot_object *object) {
  if (slot_retire(object)) disown(object);
}

/* Records that accesses to an object can be seen again. The end of the epoch is stored as its last access, because
 * the true time is unknown. */
static void reappears(const struct slot_object *object, uint64_t end) {
  slot_touched(object, end);
  slot_show(object, true);
}

static void judge_slot(const struct slot_object *object, uint64_t end, uint64_t last_end) {
  enum slot_seen seen = scan_seen(object->number);
  if (seen == SLOT_MISSING && is_gone(object)) {
    retire(object);
  } else if (seen == SLOT_MISSING || seen == SLOT_HOT) {
    slot_show(object, false);
  } else if (object->unseen) {
    reappears(object, end);
  } else if (seen == SLOT_TOUCHED) {
    touched(object, end, last_end);
  }
}

static void judge(uint64_t end, bool valid) {
  uint64_t last_end = valid ? get(&epoch_end_ns) >> SLOT_TIME_SHIFT : 0;
  for (uint32_t i = 0; i < SLOTS; i++) {
    if (before[i].used) judge_slot(&before[i].object, end, last_end);
  }
}

static const char *cause_of(int error) {
  switch (error) {
    case EMFILE:
      return "the process has no file descriptor left (RLIMIT_NOFILE)";
    case ENFILE:
      return "the system has no file descriptor left";
    case ENOMEM:
      return "the kernel has no memory for the reading";
    default:
      return "the reading failed, and is tried again";
  }
}

/* Returns false and sets errno on failure; observation_describe() then reports the cause until a reading succeeds. */
static bool read_uses(void) {
  bool read = scan_read();
  __atomic_store_n(&no_reading, read ? NULL : cause_of(errno), __ATOMIC_RELEASE);
  return read;
}

static bool reads_slots(void) {
  uint64_t begin = thread_cpu_ns();
  void (*read)(void) = __atomic_exchange_n(&slot_reader, NULL, __ATOMIC_ACQ_REL);
  if (read) read();
  cpu_of_reader_ns = thread_cpu_ns() - begin;
  return read != NULL;
}

/*
 * Ends an epoch. Returns false and sets errno if the accessed bits cannot be read; the epoch then continues.
 *
 * In reads_slots(), a search of memory (search.h) may copy the slots' contents, after the bits are read and before they
 * are cleared. Accesses by the program during the copying are lost. The epoch is void if the copying takes longer than
 * 1/LARGEST_UNSEEN_PART of the epoch.
 */
static bool end_epoch(void) {
  note_objects();
  uint64_t look = monotonic_ns();
  if (!read_uses()) return false;
  bool valid = scan_is_valid(), were_read = reads_slots();
  scan_cool(were_read);
  if (were_read && monotonic_ns() - look > get(&epoch_ns) / LARGEST_UNSEEN_PART) valid = false;
  uint64_t end = coarse_monotonic_ns() >> SLOT_TIME_SHIFT;
  judge(end, valid);
  if (valid) {
    set(&epoch_end_ns, end << SLOT_TIME_SHIFT);
  } else {
    set(&void_epochs, get(&void_epochs) + 1);
  }
  set(&epochs, get(&epochs) + 1);
  placement_next_epoch();
  return true;
}

/* ---- The thread ---------------------------------------------------------------------------------------- */

static uint32_t changes_so_far(void) { return __atomic_load_n(&changes, __ATOMIC_ACQUIRE); }

static void sleep_until(uint64_t end, uint32_t seen_changes) {
  uint64_t now = monotonic_ns();
  if (now < end) wait_for_change(&changes, seen_changes, end - now);
}

static bool wait_for_the_end(uint64_t begin, uint64_t needed_ns) {
  for (;;) {
    uint32_t seen_changes = changes_so_far();
    if (!is_wanted()) return false;
    uint64_t shortest = __atomic_load_n(&shortest_ms, __ATOMIC_RELAXED) * MILLISECOND;
    set(&epoch_ns, shortest > needed_ns ? shortest : needed_ns);
    uint64_t now = monotonic_ns(), end = begin + get(&epoch_ns);
    if (now >= end) return true;
    bool looks = watch_is_on() && end - now > BETWEEN_LOOKS_AT_SIGNAL;
    sleep_until(looks ? now + BETWEEN_LOOKS_AT_SIGNAL : end, seen_changes);
    const char *why = watch_look_after_signal();
    if (why) __atomic_store_n(&watch_reason, why, __ATOMIC_RELEASE);
  }
}

static void fail(const char *why) {
  slots_accept(false);
  reason = why;
  __atomic_store_n(&state, MALLOMETER_LEAKS_FAILED, __ATOMIC_RELEASE);
}

static const char *prepare(void) {
  const char *why = memory_limit(); /* under RLIMIT_AS or RLIMIT_DATA, all memory is left to the program */
  if (!why) why = safety_test_slots();
  if (!why) why = slots_start();
  if (why) return why;
  before = memory_reserve(SLOTS * sizeof *before);
  if (!before || !placement_start()) return "no memory for leak evidence";
  method = MALLOMETER_LEAKS_BY_COLD;
  why = scan_start(method);
  if (!why || wanted != LEAKS_WANTED_BY_CLEAR_REFS) return why;
  method = MALLOMETER_LEAKS_BY_CLEAR_REFS;
  return scan_start(method);
}

/* Returns whether an error in reading accessed bits is temporary. */
static bool passes(int error) { return error == EMFILE || error == ENFILE || error == ENOMEM || error == EINTR; }

/* Returns whether three readings in a row have failed with an error that is not temporary. `ended` is the result of
 * end_epoch(). A single reading may also fail because the program has closed a descriptor of the library. */
static bool has_failed_for_good(bool ended) {
  enum { FAILURES_IN_A_ROW = 3 };
  static unsigned failures;
  if (ended || passes(errno)) {
    failures = 0;
  } else {
    failures++;
  }
  return failures == FAILURES_IN_A_ROW;
}

static void look_for_room(void) {
  uint32_t times_cost = __atomic_load_n(&looks_in_an_epoch, __ATOMIC_RELAXED);
  __atomic_store_n(&no_room, slot_limits_check(times_cost), __ATOMIC_RELEASE);
}

static void open_slots(uint64_t needed_ns) {
  bool may_fill = !__atomic_load_n(&no_room, __ATOMIC_RELAXED) && needed_ns <= LONGEST_EPOCH;
  placement_limit(may_fill ? bytes_for_slots() : 0);
  slots_accept(true);
}

/* Starts observation. Earlier accesses are unknown, so the objects in slots count as just accessed. */
static void begin_to_observe(void) {
  note_objects();
  read_uses();
  scan_cool(true);
  uint64_t now = monotonic_ns() >> SLOT_TIME_SHIFT;
  for (uint32_t i = 0; i < SLOTS; i++) {
    if (before[i].used) slot_touched(&before[i].object, now);
  }
  set(&epochs, 0);
  set(&void_epochs, 0);
  set(&started_ns, now << SLOT_TIME_SHIFT);
  set(&epoch_end_ns, coarse_monotonic_ns());
  look_for_room();
  open_slots(0);
}

/* Waits until a caller wants observation again. Meanwhile removes all watchpoints, even those that a caller has just
 * requested. */
static void rest(void) {
  __atomic_store_n(&rests, true, __ATOMIC_RELEASE);
  slots_accept(false);
  for (;;) {
    uint32_t seen_changes = changes_so_far();
    if (is_wanted()) break;
    watch_sites(NULL, 0); /* ends watching: while this thread waits, nothing checks the handler of SIGTRAP */
    reads_slots();
    wait_for_change(&changes, seen_changes, WAIT_WITHOUT_LIMIT);
  }
  begin_to_observe();
  __atomic_store_n(&rests, false, __ATOMIC_RELEASE);
}

static void observe_for_good(void) {
  uint64_t of_look = 0;
  for (;;) {
    uint64_t needed = of_look * __atomic_load_n(&looks_in_an_epoch, __ATOMIC_RELAXED);
    open_slots(needed);
    if (!wait_for_the_end(monotonic_ns(), needed)) {
      rest();
      continue;
    }
    sampler_measure();
    uint64_t begin = thread_cpu_ns();
    cpu_of_reader_ns = 0;
    if (has_failed_for_good(end_epoch())) {
      static char why[80];
      snprintf(why, sizeof why, "%s can no longer be read", page_use_read_name());
      fail(why);
      watch_sites(NULL, 0); /* ends watching, because only this thread checks that the handler of SIGTRAP remains */
      return;
    }
    of_look = thread_cpu_ns() - begin - cpu_of_reader_ns;
    look_for_room();
    set(&cpu_ns, thread_cpu_ns());
  }
}

static void *observe(void *unused) {
  own_thread_begin("mallometer-leaks");
  const char *why = prepare();
  if (why) {
    fail(why);
    own_thread_end();
    return unused;
  }
  reason = "";
  __atomic_store_n(&watch_reason, safety_test_watchpoints(), __ATOMIC_RELEASE);
  begin_to_observe();
  __atomic_store_n(&state, MALLOMETER_LEAKS_ON, __ATOMIC_RELEASE);
  observe_for_good();
  own_thread_end();
  return unused;
}

/* ---- The interface ------------------------------------------------------------------------------------ */

void observation_configure(enum leaks_wanted how, size_t bytes) {
  wanted = how;
  arena_bytes = bytes;
  if (how == LEAKS_UNWANTED) reason = "MALLOMETER_LEAKS=off";
}

static void tell_thread(void) {
  __atomic_fetch_add(&changes, 1, __ATOMIC_RELEASE);
  wait_wake(&changes);
}

static void wish(void) {
  __atomic_fetch_add(&wishes, 1, __ATOMIC_RELEASE);
  tell_thread();
}

int observation_start(const char *unable) {
  int expected = MALLOMETER_LEAKS_OFF;
  if (wanted == LEAKS_UNWANTED) return -ENODATA;
  if (!unable && arena_bytes == 0) unable = "MALLOMETER_ARENA_BYTES=0";
  if (!__atomic_compare_exchange_n(&state, &expected, MALLOMETER_LEAKS_STARTING, false, __ATOMIC_ACQ_REL,
                                   __ATOMIC_ACQUIRE)) {
    wish();
    return 0;
  }
  if (unable) {
    fail(unable);
    wish();
    return 0;
  }
  reason = "";
  wish();
  stack_bytes = own_thread_start(observe);
  if (stack_bytes) return 0;
  observation_stop();
  reason = "a thread cannot be started";
  __atomic_store_n(&state, MALLOMETER_LEAKS_OFF, __ATOMIC_RELEASE);
  return -EAGAIN;
}

void observation_forget(void) {
  for (uint32_t i = 0; slots_reserved() > 0 && i < SLOTS; i++) {
    struct slot_object object;
    if (!slot_read(i, &object)) continue;
    if (is_gone(&object)) {
      retire(&object);
    } else {
      disown(&object);
    }
  }
}

int observation_stop(void) {
  uint32_t left = __atomic_load_n(&wishes, __ATOMIC_RELAXED);
  do {
    if (left == 0) return -ENODATA;
  } while (!__atomic_compare_exchange_n(&wishes, &left, left - 1, true, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED));
  tell_thread();
  return 0;
}

bool observation_spend(uint64_t looks) {
  if (looks < FEWEST_LOOKS_IN_AN_EPOCH || looks > MOST_LOOKS_IN_AN_EPOCH) return false;
  __atomic_store_n(&looks_in_an_epoch, (uint32_t)looks, __ATOMIC_RELAXED);
  return true;
}

bool observation_shorten(uint64_t shortest_epoch_ms) {
  if (shortest_epoch_ms < SHORTEST_OF_ALL_MS || shortest_epoch_ms > LONGEST_EPOCH / MILLISECOND) return false;
  __atomic_store_n(&shortest_ms, (uint32_t)shortest_epoch_ms, __ATOMIC_RELAXED);
  tell_thread();
  return true;
}

void observation_forked(void) {
  if (__atomic_load_n(&state, __ATOMIC_RELAXED) == MALLOMETER_LEAKS_OFF) return;
  stack_bytes = 0;
  watch_forked();
  fail("a forked child observes no objects");
}

bool observation_has_evidence(void) { return get(&started_ns) != 0; }

/* Returns the state that callers see. OFF: no caller wants observation. STARTING: a caller wants observation, but
 * the thread has not begun to observe, or has not yet begun again after rest(). */
static int state_now(void) {
  int now = __atomic_load_n(&state, __ATOMIC_ACQUIRE);
  if (now != MALLOMETER_LEAKS_ON) return now;
  if (!is_wanted()) return MALLOMETER_LEAKS_OFF;
  return __atomic_load_n(&rests, __ATOMIC_ACQUIRE) ? MALLOMETER_LEAKS_STARTING : MALLOMETER_LEAKS_ON;
}

int observation_watch(const uint32_t *sites, uint32_t count) {
  if (state_now() != MALLOMETER_LEAKS_ON) return -ENODATA;
  if (__atomic_load_n(&watch_reason, __ATOMIC_ACQUIRE) && count > 0) return -ENOTSUP;
  const char *why = watch_sites(sites, count);
  if (why) __atomic_store_n(&watch_reason, why, __ATOMIC_RELEASE);
  tell_thread();
  return why ? -ENOTSUP : 0;
}

void observation_read_slots(void (*read)(void)) {
  __atomic_store_n(&slot_reader, read, __ATOMIC_RELEASE);
  tell_thread();
}

bool observation_looks(void) {
  int now = __atomic_load_n(&state, __ATOMIC_ACQUIRE);
  return now == MALLOMETER_LEAKS_STARTING || now == MALLOMETER_LEAKS_ON;
}

bool observation_does_not_read_slots(void) { return __atomic_exchange_n(&slot_reader, NULL, __ATOMIC_ACQ_REL) != NULL; }

size_t observation_footprint(void) {
  size_t own = before ? memory_whole_pages(SLOTS * sizeof *before) : 0;
  return own + slots_footprint() + placement_footprint() + evidence_footprint() + slots_excess() + stack_bytes;
}

uint64_t observation_overhead_ns(void) { return get(&cpu_ns); }

static void describe_slots(struct mallometer_observation *out) {
  struct slots_totals slots = slots_totals();
  struct placement_totals placement = placement_totals();
  out->arena_bytes = slots_reserved();
  out->resident_bytes = slots.taken_bytes;
  out->limit_bytes = placement_limited_to();
  memcpy(out->slots_in_use, slots.in_use, sizeof slots.in_use);
  memcpy(out->slots, slots.slots, sizeof slots.slots);
  out->placed = placement.placed;
  out->not_placed = placement.not_placed;
  out->too_large = placement.too_large;
  out->retired = slots.retired;
}

static const char *reason_now(int now) {
  const char *of_slots = __atomic_load_n(&no_room, __ATOMIC_ACQUIRE);
  if (now == MALLOMETER_LEAKS_ON && of_slots) return of_slots;
  bool rested = now == MALLOMETER_LEAKS_OFF && observation_has_evidence();
  return rested ? "leak observation was stopped (mallometer_leaks_stop)" : reason;
}

static void describe_reason(int now, char *text, size_t capacity) {
  const char *cause = __atomic_load_n(&no_reading, __ATOMIC_ACQUIRE);
  if (now == MALLOMETER_LEAKS_ON && cause) {
    snprintf(text, capacity, "%s cannot be read at present, so accesses are not seen: %s", page_use_read_name(), cause);
  } else {
    snprintf(text, capacity, "%s", reason_now(now));
  }
}

void observation_describe(struct mallometer_observation *out) {
  int now = state_now();
  out->state = (uint32_t)now;
  out->method = now == MALLOMETER_LEAKS_ON ? (uint32_t)method : 0;
  out->started_ns = get(&started_ns);
  out->void_epochs = get(&void_epochs);
  out->epochs = get(&epochs);
  out->epoch_end_ns = get(&epoch_end_ns);
  out->epoch_ns = get(&epoch_ns);
  out->cpu_ns = get(&cpu_ns);
  describe_slots(out);
  describe_reason(now, out->reason, sizeof out->reason);
  const char *no_watch = __atomic_load_n(&watch_reason, __ATOMIC_ACQUIRE);
  out->can_watch = !no_watch;
  snprintf(out->watch_reason, sizeof out->watch_reason, "%s", no_watch ? no_watch : "");
}
