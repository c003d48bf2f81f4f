/* Calls the registered monitors, and waits for their callbacks to return. See monitors.h. */
#include "account/monitors.h"

#include <errno.h>
#include <sched.h>

#include "account/size_class.h"
#include "platform/clock.h"
#include "platform/shared_words.h"
#include "platform/thread_pointer.h"

/* Is not NULL while the thread is in a monitor's callback. This is not a part of the thread's block of counters
 * (account/thread_block.h), because an ending thread may still allocate after it has given its block up. */
DECLARE_THREAD_POINTER(uint32_t, in_callback);
DEFINE_THREAD_POINTER(uint32_t, in_callback, NULL);

/* A monitor's number is made of an index in `places` and a use count, so that the number of a removed monitor does
 * not match a later monitor. */
enum { PLACE_BITS = 3, MOST_USES = (1 << 27) - 1, IS_REMOVED = 1 << 27 };
#define RUNNING UINT32_MAX
#define FORK ((uint64_t)1 << 32)
_Static_assert(MOST_MONITORS == 1 << PLACE_BITS, "PLACE_BITS must hold each place");

static struct place {
  /* May be written only while the place's bit is set in `taken` and clear in `monitors`. */
  struct mallometer_monitor monitor;
  uint32_t use; /* the number of uses of the place, plus IS_REMOVED while a thread removes the monitor */
  /* The lower half is the number of threads that are calling the monitor, or are about to test the monitor's bit in
   * `monitors`. The upper half is the number of forks between the first process and this one. */
  _Alignas(64) uint64_t running;
} places[MOST_MONITORS];

/* Bit i is set while places[i] is in use. monitor_add() sets it before the bit in `monitors`. monitor_remove()
 * clears it after the monitor's last callback has returned. */
static uint32_t taken;

uint32_t monitors;

/* ---- Calling monitors ---------------------------------------------------------------------------------- */

struct monitored_event {
  void *object;
  size_t requested, actual;
  bool is_free;
};

static void call(const struct mallometer_monitor *monitor, const struct monitored_event *event) {
  if (event->is_free) {
    if (monitor->freed) monitor->freed(monitor->context, event->object, event->actual);
  } else if (monitor->allocated) {
    monitor->allocated(monitor->context, event->object, event->requested, event->actual);
  }
}

/*
 * Ends a call. Does nothing in a child that a signal handler forked within the call, because monitors_forked() has
 * already ended the call there.
 */
static void end_call(struct place *place, uint64_t begun) {
  uint64_t running = __atomic_load_n(&place->running, __ATOMIC_RELAXED);
  while (running / FORK == begun / FORK && !__atomic_compare_exchange_n(&place->running, &running, running - 1, true,
                                                                        __ATOMIC_RELEASE, __ATOMIC_RELAXED)) {
  }
}

static void call_all(const struct monitored_event *event) {
  if (THREAD_POINTER(uint32_t, in_callback)) return;
  THREAD_POINTER_SET(in_callback, &monitors);
  __atomic_signal_fence(__ATOMIC_SEQ_CST);
  uint32_t left = __atomic_load_n(&monitors, __ATOMIC_ACQUIRE);
  for (; left != 0; left &= left - 1) {
    struct place *place = &places[__builtin_ctz(left)];
    uint64_t begun = __atomic_fetch_add(&place->running, 1, __ATOMIC_SEQ_CST);
    if (__atomic_load_n(&monitors, __ATOMIC_SEQ_CST) & left & -left) call(&place->monitor, event);
    end_call(place, begun);
  }
  __atomic_signal_fence(__ATOMIC_SEQ_CST);
  THREAD_POINTER_SET(in_callback, NULL);
}

void monitors_allocated(void *object, size_t requested, size_t actual) {
  call_all(&(struct monitored_event){object, requested, actual, false});
}

/* The callbacks may compare the freed object's address, but must not access the object. */
void monitors_freed(const void *object, size_t actual) {
  call_all(&(struct monitored_event){(void *)(uintptr_t)object, 0, actual, true});
}

void monitors_count_actual(void *context, void *object, size_t requested, size_t actual) {
  (void)object, (void)requested;
  uint64_t *counts = context;
  size_t class = size_class(actual);
  __atomic_fetch_add(&counts[class < FIRST_CLASSES ? 0 : class - FIRST_CLASSES + 1], 1, __ATOMIC_RELAXED);
}

/* ---- Registering monitors ------------------------------------------------------------------------------ */

int monitor_add(const struct mallometer_monitor *monitor) {
  static bool started;
  if (!__atomic_exchange_n(&started, true, __ATOMIC_ACQ_REL)) THREAD_POINTER_START(in_callback);
  uint32_t bit = take_bit(&taken, MOST_MONITORS);
  if (bit == 0) return -EAGAIN;
  uint32_t number = (uint32_t)__builtin_ctz(bit);
  struct place *place = &places[number];
  place->monitor = *monitor;
  uint32_t use = place->use % MOST_USES + 1;
  __atomic_store_n(&place->use, use, __ATOMIC_RELAXED);
  __atomic_fetch_or(&monitors, bit, __ATOMIC_SEQ_CST);
  return (int)(use << PLACE_BITS | number);
}

/* Returns false after a second, because a callback may never return, or may be left by longjmp. */
static bool wait_for_callbacks(const struct place *place) {
  const uint64_t end = monotonic_ns() + 1000000000;
  while ((__atomic_load_n(&place->running, __ATOMIC_SEQ_CST) & RUNNING) != 0) {
    if (monotonic_ns() > end) return false;
    sched_yield();
  }
  return true;
}

int monitor_remove(uint32_t number) {
  struct place *place = &places[number % MOST_MONITORS];
  const uint32_t bit = 1u << number % MOST_MONITORS, use = number >> PLACE_BITS;
  uint32_t found = use;
  if (use == 0 || use > MOST_USES || !(__atomic_load_n(&taken, __ATOMIC_ACQUIRE) & bit)) return -EINVAL;
  if (!__atomic_compare_exchange_n(&place->use, &found, use | IS_REMOVED, false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
    return found == (use | IS_REMOVED) ? -EBUSY : -EINVAL;
  __atomic_fetch_and(&monitors, ~bit, __ATOMIC_SEQ_CST);
  if (THREAD_POINTER(uint32_t, in_callback) || !wait_for_callbacks(place)) {
    __atomic_store_n(&place->use, use, __ATOMIC_RELEASE);
    return -EBUSY;
  }
  __atomic_store_n(&place->use, use % MOST_USES + 1, __ATOMIC_RELEASE);
  __atomic_fetch_and(&taken, ~bit, __ATOMIC_RELEASE);
  return 0;
}

void monitors_forked(void) {
  for (uint32_t i = 0; i < MOST_MONITORS; i++) {
    uint64_t forks = __atomic_load_n(&places[i].running, __ATOMIC_RELAXED) / FORK;
    __atomic_store_n(&places[i].running, (forks + 1) * FORK, __ATOMIC_RELAXED);
    __atomic_fetch_and(&places[i].use, ~(uint32_t)IS_REMOVED, __ATOMIC_RELAXED);
  }
  /* Frees the places that another thread of the parent was filling or emptying at the fork. */
  __atomic_store_n(&taken, __atomic_load_n(&monitors, __ATOMIC_RELAXED), __ATOMIC_RELAXED);
}
