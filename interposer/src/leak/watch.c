/* Arms the processor's debug registers. The signal handler stores the stack of an access. See watch.h. */
#include "leak/watch.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <ucontext.h>

#include "account/thread_block.h"
#include "leak/slots.h"
#include "platform/arch.h"
#include "platform/breakpoint.h"
#include "platform/clock.h"
#include "platform/keep_errno.h"
#include "platform/kernel.h"
#include "platform/loaded_objects.h"
#include "platform/own_stack.h"
#include "platform/thread.h"
#include "sample/call_sites.h"
#include "sample/native_stack.h"

enum { WATCHES = 2, KINDS = 2, RECORDS = 128, TOUCHES = 8 };

/* The time for which a live object is watched before another object may replace it. */
#define TURN_NS 1000000000u

_Static_assert(sizeof((struct mallometer_access *)0)->thread_name == THREAD_NAME_BYTES,
               "an access has room for a whole thread name");

/* ---- Accesses ---------------------------------------------------------------------------------------- */

/* The stored accesses, one for each call site and kind of access. A thread must set `busy` to use one; a signal
 * handler that finds `busy` set drops its access. */
static struct record {
  uint32_t busy;
  struct mallometer_access access; /* kind 0: there is no access */
} records[RECORDS];

static bool hold(uint32_t *busy) { return __atomic_exchange_n(busy, 1, __ATOMIC_ACQUIRE) == 0; }
static void let_go(uint32_t *busy) { __atomic_store_n(busy, 0, __ATOMIC_RELEASE); }

/* Finds the record of a site and a kind of access, or a free record, and sets its `busy`. Returns NULL if there is
 * no such record, or if the search meets a busy record first. */
static struct record *hold_record(uint32_t site, uint32_t kind) {
  for (size_t i = 0; i < RECORDS; i++) {
    struct record *record = &records[i];
    if (!hold(&record->busy)) return NULL;
    if (record->access.kind == 0 || (record->access.site == site && record->access.kind == kind)) return record;
    let_go(&record->busy);
  }
  return NULL;
}

uint32_t watch_accesses(struct mallometer_access *accesses, uint32_t capacity) {
  uint32_t copied = 0;
  for (size_t i = 0; i < RECORDS && copied < capacity; i++) {
    if (!hold(&records[i].busy)) continue;
    const struct mallometer_access *access = &records[i].access;
    if (access->kind != 0) accesses[copied++] = *access;
    let_go(&records[i].busy);
  }
  return copied;
}

/* ---- Watched objects --------------------------------------------------------------------------------- */

static uint32_t wanted[MOST_WATCHED_SITES];
static uint32_t wanted_count;

/* A watched object. `number` changes with each object, so that a trap that comes late is not taken for an access to
 * the next object. */
static struct watch {
  uint32_t busy;
  uint32_t number;
  uint32_t site;
  uint32_t slot;
  uint64_t generation;
  uint64_t since_ns; /* the time at which watching of the object began; 0 if no object is watched */
  uint64_t born_ns;
  int descriptors[KINDS];
} watches[WATCHES] = {{.descriptors = {-1, -1}}, {.descriptors = {-1, -1}}};

static uint64_t data_of(const struct watch *watch, uint32_t kind) {
  return (uint64_t)watch->number << 8 | (uint64_t)(watch - watches) << 4 | kind;
}

static bool is_still_there(const struct watch *watch) {
  struct slot_object object;
  return slot_read(watch->slot, &object) && object.generation == watch->generation;
}

static void disarm(struct watch *watch) {
  for (size_t i = 0; i < KINDS; i++) {
    breakpoint_close(watch->descriptors[i]);
    watch->descriptors[i] = -1;
  }
  watch->since_ns = 0;
}

/* ---- An access --------------------------------------------------------------------------------------- */

/* Returns whether the library itself made the access: its code is then among the first three frames. */
static bool is_our_own(const uint64_t *stack, uint32_t count) {
  static const char inside;
  struct loaded_object ours, object;
  if (!loaded_object_at((uintptr_t)&inside, &ours)) return false;
  for (uint32_t i = 0; i < count && i < 3; i++) {
    if (loaded_object_at((uintptr_t)stack[i] - 1, &object) && object.begin == ours.begin) return true;
  }
  return false;
}

/* Records an access. Not inlined, so that a handler that records nothing needs no stack for these variables. */
__attribute__((noinline)) static void note(const struct watch *watch, uint32_t kind, const ucontext_t *context) {
  uint64_t stack[MALLOMETER_ACCESS_FRAMES];
  uint32_t frames = call_sites_stack_at(registers_of_context(context), stack, MALLOMETER_ACCESS_FRAMES);
  if (is_our_own(stack, frames)) return;
  struct record *record = hold_record(watch->site, kind);
  if (!record) return;
  struct mallometer_access *access = &record->access;
  access->site = watch->site;
  access->monotonic_ns = coarse_monotonic_ns();
  access->born_ns = watch->born_ns;
  access->thread_id = thread_id();
  access->frames = frames;
  thread_name(access->thread_name);
  memcpy(access->stack, stack, frames * sizeof *stack);
  access->kind = kind;
  let_go(&record->busy);
}

/* ---- The stack of the handler ------------------------------------------------------------------------ */

/*
 * The handler runs on the alternate signal stack of the thread, if there is one. The usual stack of such a thread may
 * be too small, as in Go. The kernel first stores a signal frame of 1 to 3 KiB or more, and ends the program if the
 * frame does not fit. The alternate stack must have room for two frames, because the thread may already be in a handler
 * of the program.
 */
static struct sigaction other_action;
static bool uses_alternate_stacks = true;

/* Returns whether an action calls a function. A test of sa_handler is enough, because Linux stores sa_handler and
 * sa_sigaction in one field. The flag SA_SIGINFO is no help, because Linux keeps it even without a handler. */
static bool is_handled(const struct sigaction *action) {
  return action->sa_handler != SIG_DFL && action->sa_handler != SIG_IGN;
}

/* Returns the bytes left on the stack on which this handler runs; 0 if that is neither the alternate stack nor the
 * thread's own stack. */
static size_t left_of_stack(const ucontext_t *context) {
  const char here = 0;
  size_t left = (uintptr_t)&here - (uintptr_t)context->uc_stack.ss_sp;
  return left < context->uc_stack.ss_size ? left : own_stack_left((uintptr_t)&here);
}

/* Returns whether the handler has room on the calling thread's alternate signal stack. Also returns true for a
 * thread without an alternate stack, because the handler then checks the thread's own stack (left_of_stack()). */
static bool has_stack_for_traps(void) {
  stack_t stack;
  if (sigaltstack(NULL, &stack) != 0) return false;
  if (stack.ss_flags & SS_DISABLE) return true;
  return uses_alternate_stacks && stack.ss_size >= 2 * signal_frame_bytes() + call_sites_stack_use();
}

/* ---- The handler -------------------------------------------------------------------------------------- */

/* Does for a foreign trap what the signal would have done without this library's handler. */
static void pass_on(int number, siginfo_t *information, void *context) {
  if (other_action.sa_handler == SIG_DFL) {
    sigaction(number, &other_action, NULL);
    raise(number);
  } else if (is_handled(&other_action) && (other_action.sa_flags & SA_SIGINFO)) {
    other_action.sa_sigaction(number, information, context);
  } else if (is_handled(&other_action)) {
    other_action.sa_handler(number);
  }
}

static void on_trap(int number, siginfo_t *information, void *context) {
  KEEP_ERRNO;
  struct breakpoint_trap trap = {0, false};
  bool is_known = breakpoint_trap_of(information, &trap);
  uint64_t index = trap.data >> 4 & 15;
  uint32_t kind = (uint32_t)trap.data & 15;
  if (!is_known || index >= WATCHES || kind < 1 || kind > KINDS) {
    pass_on(number, information, context);
  } else if (!trap.came_late && left_of_stack(context) >= call_sites_stack_use()) {
    struct watch *watch = &watches[index];
    if (hold(&watch->busy)) {
      if (trap.data == data_of(watch, kind) && watch->since_ns && is_still_there(watch)) note(watch, kind, context);
      let_go(&watch->busy);
    }
  }
}

/* ---- Arming ------------------------------------------------------------------------------------------- */

static bool handles_trap(const struct sigaction *action) {
  return (action->sa_flags & SA_SIGINFO) && action->sa_sigaction == on_trap;
}

/* Installs the handler of SIGTRAP. Returns false if the program has replaced it after an earlier call. The handler
 * runs on the kind of stack that the program's earlier handler requested, because other traps are passed on to that
 * handler. */
static bool take_signal(void) {
  static uint32_t installed;
  struct sigaction now, ours = {.sa_sigaction = on_trap, .sa_flags = SA_SIGINFO | SA_RESTART | SA_ONSTACK};
  if (sigaction(SIGTRAP, NULL, &now) != 0) return false;
  if (handles_trap(&now)) return true;
  if (__atomic_exchange_n(&installed, 1, __ATOMIC_ACQ_REL)) return false;
  other_action = now;
  uses_alternate_stacks = !is_handled(&now) || (now.sa_flags & SA_ONSTACK);
  if (!uses_alternate_stacks) ours.sa_flags &= ~SA_ONSTACK;
  return sigaction(SIGTRAP, &ours, NULL) == 0;
}

static bool arm(struct watch *watch, const void *object) {
  for (uint32_t kind = 1; kind <= KINDS; kind++) {
    int descriptor = breakpoint_open(object, kind == MALLOMETER_WRITE, TOUCHES, data_of(watch, kind));
    if (descriptor < 0) {
      disarm(watch);
      return false;
    }
    watch->descriptors[kind - 1] = descriptor;
  }
  return true;
}

static bool is_wanted(uint32_t site) {
  uint32_t count = __atomic_load_n(&wanted_count, __ATOMIC_ACQUIRE);
  for (uint32_t i = 0; i < count; i++) {
    if (__atomic_load_n(&wanted[i], __ATOMIC_RELAXED) == site) return true;
  }
  return false;
}

static void watch_instead(struct watch *watch, const struct slot_object *object) {
  uint64_t now = coarse_monotonic_ns();
  if (watch->since_ns && now - watch->since_ns < TURN_NS && is_still_there(watch)) return;
  disarm(watch);
  watch->number++;
  watch->site = object->sample.site;
  watch->slot = object->number;
  watch->generation = object->generation;
  watch->born_ns = now;
  if (arm(watch, object->object)) watch->since_ns = now;
}

/* An event of perf_event_open(2) that counts nothing. While it is open, the kernel opens other events quickly, so an
 * allocation that opens events never waits long. */
static struct {
  uint32_t busy;
  bool held;
  int descriptor;
} first_event;

static void hold_first_event(bool wanted_at_all) {
  if (!hold(&first_event.busy)) return;
  if (first_event.held && !wanted_at_all) breakpoint_close(first_event.descriptor);
  if (!first_event.held && wanted_at_all) first_event.descriptor = breakpoint_open_idle();
  first_event.held = wanted_at_all;
  let_go(&first_event.busy);
}

/* Returns whether the calling thread receives SIGTRAP. A blocked trap would arrive later, at an unrelated place. */
static bool hears_traps(void) {
  sigset_t blocked;
  return sigprocmask(SIG_BLOCK, NULL, &blocked) == 0 && !sigismember(&blocked, SIGTRAP);
}

/* Returns whether this library's handler of SIGTRAP is still installed. */
static bool has_signal(void) {
  struct sigaction now;
  return sigaction(SIGTRAP, NULL, &now) == 0 && handles_trap(&now);
}

void watch_new_object(const struct slot_object *object) {
  if (!is_wanted(object->sample.site)) return;
  KEEP_ERRNO;
  struct watch *watch = &watches[object->sample.site % WATCHES];
  if (hears_traps() && has_signal() && has_stack_for_traps() && hold(&watch->busy)) {
    watch_instead(watch, object);
    let_go(&watch->busy);
  }
}

static void disarm_all(void) {
  for (size_t i = 0; i < WATCHES; i++) {
    if (!hold(&watches[i].busy)) continue; /* a thread uses this watch; the next call disarms it */
    disarm(&watches[i]);
    let_go(&watches[i].busy);
  }
}

static const char signal_is_taken[] = "the program handles SIGTRAP itself";

static void watch_nothing(void) {
  __atomic_store_n(&wanted_count, 0, __ATOMIC_RELEASE);
  disarm_all();
  hold_first_event(false);
}

bool watch_is_on(void) { return __atomic_load_n(&wanted_count, __ATOMIC_ACQUIRE) > 0; }

const char *watch_look_after_signal(void) {
  if (!watch_is_on() || has_signal()) return NULL;
  watch_nothing();
  return signal_is_taken;
}

static const char *refusal_of_now(void) {
  if (process_is_traced()) return "a debugger is attached";
  return take_signal() ? NULL : signal_is_taken;
}

const char *watch_sites(const uint32_t *sites, uint32_t count) {
  __atomic_store_n(&wanted_count, 0, __ATOMIC_RELEASE);
  const char *why = count > 0 ? refusal_of_now() : NULL;
  if (count == 0 || why) {
    watch_nothing();
    return why;
  }
  hold_first_event(true);
  for (uint32_t i = 0; i < count; i++) __atomic_store_n(&wanted[i], sites[i], __ATOMIC_RELAXED);
  __atomic_store_n(&wanted_count, count, __ATOMIC_RELEASE);
  return NULL;
}

/* Closes the inherited descriptors, which would keep the parent's debug registers in use. */
void watch_forked(void) {
  wanted_count = 0;
  for (size_t i = 0; i < WATCHES; i++) {
    disarm(&watches[i]);
    let_go(&watches[i].busy);
  }
  let_go(&first_event.busy);
  hold_first_event(false);
  for (size_t i = 0; i < RECORDS; i++) let_go(&records[i].busy);
}

/* ---- Self-test ---------------------------------------------------------------------------------------- */

static volatile unsigned test_touches, test_late;

static void on_test_trap(int number, siginfo_t *information, void *context) {
  (void)number, (void)context;
  struct breakpoint_trap trap;
  if (!breakpoint_trap_of(information, &trap)) return;
  test_touches++;
  if (trap.came_late) test_late++;
}

static enum watch_trial refusal(int error) {
  switch (-error) {
    case EACCES:
    case EPERM:
      return WATCH_FORBIDDEN;
    case ENOSYS:
      return WATCH_NOT_IN_KERNEL;
    case EINVAL:
    case E2BIG:
      return WATCH_KERNEL_IS_OLD;
    default:
      return WATCH_NO_REGISTERS;
  }
}

const char *watch_trial_means(enum watch_trial trial) {
  switch (trial) {
    case WATCH_WORKS:
      return "";
    case WATCH_FORBIDDEN:
      return "perf_event_open is not permitted (kernel.perf_event_paranoid above 2, or a sandbox)";
    case WATCH_NOT_IN_KERNEL:
      return "the kernel has no perf_event_open";
    case WATCH_KERNEL_IS_OLD:
      return "the kernel is too old to trap accesses to an object (needs 5.18 or newer)";
    case WATCH_NO_REGISTERS:
      return "the processor's debug registers are not available";
    case WATCH_REPEATS:
      return "the kernel reports one access repeatedly (arm64 does not step over the instruction)";
    default:
      return "the kernel does not report each access in time";
  }
}

static void touch_often(volatile uint64_t *word) {
  for (unsigned i = 0; i < 3 * TOUCHES; i++) *word = i;
}

enum watch_trial watch_self_test(void) {
  static uint64_t word;
  struct sigaction action = {.sa_sigaction = on_test_trap, .sa_flags = SA_SIGINFO};
  sigset_t trap;
  sigemptyset(&trap);
  sigaddset(&trap, SIGTRAP);
  if (sigaction(SIGTRAP, &action, NULL) != 0) return WATCH_FORBIDDEN;
  sigprocmask(SIG_UNBLOCK, &trap, NULL);
  int descriptor = breakpoint_open(&word, false, TOUCHES, 1);
  if (descriptor < 0) return refusal(descriptor);
  *(volatile uint64_t *)&word = 1;
  if (test_touches > 1) {
    breakpoint_close(descriptor);
    return WATCH_REPEATS;
  }
  touch_often(&word);
  breakpoint_close(descriptor);
  if (test_touches == 0 || test_touches > TOUCHES || test_late > 0) return WATCH_COMES_LATE;
  sigprocmask(SIG_BLOCK, &trap, NULL);
  descriptor = breakpoint_open(&word, true, TOUCHES, 1);
  if (descriptor < 0) return refusal(descriptor);
  touch_often(&word);
  breakpoint_close(descriptor);
  sigprocmask(SIG_UNBLOCK, &trap, NULL);
  return WATCH_WORKS;
}
