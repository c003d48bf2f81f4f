/* See watch.h. */
#include "leak/watch.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#include "account/thread_block.h"
#include "leak/slots.h"
#include "platform/arch.h"
#include "platform/clock.h"
#include "platform/kernel.h"
#include "platform/loaded_objects.h"
#include "platform/own_stack.h"
#include "platform/system_calls.h"
#include "sample/call_sites.h"
#include "sample/native_stack.h"

enum { WATCHES = 2, KINDS = 2, RECORDS = 128, TOUCHES = 8 };

/* An object is watched so long before one of the same site or another may take its place. */
#define TURN_NS 1000000000u

/* ---- The kernel's interface --------------------------------------------------------------------------- */

/*
 * struct perf_event_attr as perf_event_open(2) describes it, which older systems' headers do not know whole; names as
 * there.
 */
struct breakpoint {
  uint32_t type;
  uint32_t size;
  uint64_t config;
  uint64_t sample_period;
  uint64_t sample_type;
  uint64_t read_format;
  uint64_t flags;
  uint32_t wakeup_events;
  uint32_t bp_type;
  uint64_t bp_addr;
  uint64_t bp_len;
  uint64_t unused[6];
  uint64_t sig_data;
};
_Static_assert(sizeof(struct breakpoint) == 128, "PERF_ATTR_SIZE_VER7");

#define PERF_TYPE_SOFTWARE 1u
#define PERF_TYPE_BREAKPOINT 5u
#define SOFTWARE_DUMMY 9u
#define BREAKPOINT_WRITE 2u
#define BREAKPOINT_ANY 3u
#define FLAG_DISABLED ((uint64_t)1 << 0)
#define FLAG_EXCLUDE_KERNEL ((uint64_t)1 << 5)
#define FLAG_EXCLUDE_HYPERVISOR ((uint64_t)1 << 6)
#define FLAG_REMOVE_ON_EXEC ((uint64_t)1 << 36)
#define FLAG_SIGTRAP ((uint64_t)1 << 37)
#define OPEN_CLOSE_ON_EXEC 8u
#define IOCTL_REFRESH 0x2402u /* PERF_EVENT_IOC_REFRESH: enable for so many events */
#define CODE_OF_PERF 6        /* TRAP_PERF in siginfo's si_code */
#define CAME_LATE 1u /* TRAP_PERF_FLAG_ASYNC: the signal was blocked, and the registers are of another moment */

/* What siginfo holds behind its first 16 bytes for such a signal. */
struct trap {
  uintptr_t address;
  uint64_t data; /* sig_data of the breakpoint */
  uint32_t type;
  uint32_t flags;
};
#define TRAP_OFFSET 16

/* Watches WATCHPOINT_BYTES in the calling thread. Returns a descriptor, or a negative errno value. */
static int open_breakpoint(const void *address, uint32_t kind, uint64_t data) {
  struct breakpoint breakpoint = {
      .type = PERF_TYPE_BREAKPOINT,
      .size = sizeof breakpoint,
      .sample_period = 1,
      .flags = FLAG_DISABLED | FLAG_EXCLUDE_KERNEL | FLAG_EXCLUDE_HYPERVISOR | FLAG_REMOVE_ON_EXEC | FLAG_SIGTRAP,
      .bp_type = kind == MALLOMETER_WRITE ? BREAKPOINT_WRITE : BREAKPOINT_ANY,
      .bp_addr = (uintptr_t)address,
      .bp_len = WATCHPOINT_BYTES,
      .sig_data = data};
  long descriptor = syscall(SYS_perf_event_open, &breakpoint, 0, -1, -1, OPEN_CLOSE_ON_EXEC);
  if (descriptor < 0) return -errno;
  if (ioctl((int)descriptor, IOCTL_REFRESH, TOUCHES) == 0) return (int)descriptor;
  int error = -errno;
  call_close((int)descriptor);
  return error;
}

/* Counts nothing. As open_breakpoint(). */
static int open_dummy(void) {
  struct breakpoint nothing = {.type = PERF_TYPE_SOFTWARE,
                               .size = sizeof nothing,
                               .config = SOFTWARE_DUMMY,
                               .flags = FLAG_DISABLED | FLAG_EXCLUDE_KERNEL | FLAG_EXCLUDE_HYPERVISOR};
  long descriptor = syscall(SYS_perf_event_open, &nothing, 0, -1, -1, OPEN_CLOSE_ON_EXEC);
  return descriptor < 0 ? -errno : (int)descriptor;
}

/* A program may have closed all descriptors, and the number may be another file's by now. */
static void close_breakpoint(int descriptor) {
  static const char perf[] = "anon_inode:[perf_event]";
  char path[32] = "/proc/self/fd/", target[sizeof perf], digits[12];
  size_t length = strlen(path), count = 0;
  if (descriptor < 0) return;
  for (unsigned left = (unsigned)descriptor; left > 0 || count == 0; left /= 10)
    digits[count++] = (char)('0' + left % 10);
  while (count > 0) path[length++] = digits[--count];
  path[length] = '\0';
  ssize_t read = readlink(path, target, sizeof target);
  if (read == sizeof perf - 1 && memcmp(target, perf, sizeof perf - 1) == 0) call_close(descriptor);
}

/* ---- What was seen ------------------------------------------------------------------------------------ */

/* Whoever holds `busy` reads or writes; a handler that finds it held loses its touch. */
static struct record {
  uint32_t busy;
  struct mallometer_access access; /* kind 0: none */
} records[RECORDS];

static bool hold(uint32_t *busy) { return __atomic_exchange_n(busy, 1, __ATOMIC_ACQUIRE) == 0; }
static void let_go(uint32_t *busy) { __atomic_store_n(busy, 0, __ATOMIC_RELEASE); }

/* The site's record of this kind, or a free one, held; NULL if there is none, or somebody holds it. */
static struct record *hold_record(uint32_t site, uint32_t kind) {
  for (size_t i = 0; i < RECORDS; i++) {
    struct record *record = &records[i];
    if (!hold(&record->busy)) return NULL;
    if (record->access.kind == 0 || (record->access.site == site && record->access.kind == kind)) return record;
    let_go(&record->busy);
  }
  return NULL;
}

uint32_t watch_accesses(const struct rows *accesses) {
  uint32_t copied = 0;
  for (size_t i = 0; i < RECORDS && copied < accesses->capacity; i++) {
    if (!hold(&records[i].busy)) continue;
    const struct mallometer_access *access = &records[i].access;
    if (access->kind != 0) rows_write(accesses, copied++, access, sizeof *access);
    let_go(&records[i].busy);
  }
  return copied;
}

/* ---- What is watched ---------------------------------------------------------------------------------- */

static uint32_t wanted[MOST_WATCHED_SITES];
static uint32_t wanted_count;

/* An object that is watched. `number` tells a touch of it from a late one of the object before. */
static struct watch {
  uint32_t busy;
  uint32_t number;
  uint32_t site;
  uint32_t slot;
  uint64_t generation;
  uint64_t since_ns; /* 0: nothing is watched */
  uint64_t born_ns;
  int descriptors[KINDS];
} watches[WATCHES] = {{.descriptors = {-1, -1}}, {.descriptors = {-1, -1}}};

static uint64_t data_of(const struct watch *watch, uint32_t kind) {
  return (uint64_t)watch->number << 8 | (uint64_t)(watch - watches) << 4 | kind;
}

static bool is_still_there(const struct watch *watch) {
  struct slot_object object;
  return slot_look(watch->slot, &object) && object.generation == watch->generation;
}

static void disarm(struct watch *watch) {
  for (size_t i = 0; i < KINDS; i++) {
    close_breakpoint(watch->descriptors[i]);
    watch->descriptors[i] = -1;
  }
  watch->since_ns = 0;
}

/* ---- A touch ------------------------------------------------------------------------------------------ */

/* Also in the C library's functions that we called. */
static bool is_our_own(const uint64_t *stack, uint32_t count) {
  static const char inside;
  struct loaded_object ours, object;
  if (!loaded_object_at((uintptr_t)&inside, &ours)) return false;
  for (uint32_t i = 0; i < count && i < 3; i++) {
    if (loaded_object_at((uintptr_t)stack[i] - 1, &object) && object.begin == ours.begin) return true;
  }
  return false;
}

/* Not part of the handler itself, which may have too little stack for it. */
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
  access->thread_id = (uint32_t)syscall(SYS_gettid);
  access->frames = frames;
  prctl(PR_GET_NAME, access->thread_name);
  memcpy(access->stack, stack, frames * sizeof *stack);
  access->kind = kind;
  let_go(&record->busy);
}

/* ---- Where it is handled ------------------------------------------------------------------------------ */

/*
 * Handlers run on the alternate stack of threads that have one: who sets one may run on stacks that have no room for a
 * handler, such as Go's and those of coroutines. What the kernel puts there first takes 1 to 3 KiB and more, as the
 * processor has registers; where that does not fit, the kernel ends the program. So that it does even if the program is
 * in a handler of its own already, there must be room for two.
 */
#ifndef AT_MINSIGSTKSZ
#define AT_MINSIGSTKSZ 51
#endif
#define USUAL_FRAME_OF_KERNEL 4096u

static struct sigaction other_action;
static bool uses_alternate_stacks = true;

/* Linux has one place for both kinds of handler, and keeps the flags also where none is there. */
static bool is_handled(const struct sigaction *action) {
  return action->sa_handler != SIG_DFL && action->sa_handler != SIG_IGN;
}

/* What a handler may still take of the alternate stack that it runs on, or of the thread's own; 0 on others. */
static size_t left_of_stack(const ucontext_t *context) {
  const char here = 0;
  size_t left = (uintptr_t)&here - (uintptr_t)context->uc_stack.ss_sp;
  return left < context->uc_stack.ss_size ? left : own_stack_left((uintptr_t)&here);
}

/* Of the calling thread. */
static bool has_stack_for_traps(void) {
  stack_t stack;
  if (sigaltstack(NULL, &stack) != 0) return false;
  if (stack.ss_flags & SS_DISABLE) return true;
  size_t of_kernel = getauxval(AT_MINSIGSTKSZ);
  if (!of_kernel) of_kernel = USUAL_FRAME_OF_KERNEL;
  return uses_alternate_stacks && stack.ss_size >= 2 * of_kernel + call_sites_stack_use();
}

/* ---- The handler -------------------------------------------------------------------------------------- */

/* A trap that is not ours is for whom it was for before. */
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
  int saved_errno = errno;
  struct trap trap;
  memcpy(&trap, (const char *)information + TRAP_OFFSET, sizeof trap);
  uint64_t index = trap.data >> 4 & 15;
  uint32_t kind = (uint32_t)trap.data & 15;
  if (information->si_code != CODE_OF_PERF || index >= WATCHES || kind < 1 || kind > KINDS) {
    pass_on(number, information, context);
  } else if (!(trap.flags & CAME_LATE) && left_of_stack(context) >= call_sites_stack_use()) {
    struct watch *watch = &watches[index];
    if (hold(&watch->busy)) {
      if (trap.data == data_of(watch, kind) && watch->since_ns && is_still_there(watch)) note(watch, kind, context);
      let_go(&watch->busy);
    }
  }
  errno = saved_errno;
}

/* ---- Arming ------------------------------------------------------------------------------------------- */

static bool handles_trap(const struct sigaction *action) {
  return (action->sa_flags & SA_SIGINFO) && action->sa_sigaction == on_trap;
}

/*
 * False if the program has a handler of its own since, which ours would be in the way of. One that was there before
 * runs on the stack that it was made for.
 */
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
    int descriptor = open_breakpoint(object, kind, data_of(watch, kind));
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

/*
 * The first event that is opened makes Linux change its own code and wait for all processors, for 10 to 30 ms, and so
 * does the first after a second without any. While something is watched who asked for it holds one, so that no thread
 * waits in the middle of an allocation.
 */
static struct {
  uint32_t busy;
  bool held;
  int descriptor;
} first_event;

static void hold_first_event(bool wanted_at_all) {
  if (!hold(&first_event.busy)) return;
  if (first_event.held && !wanted_at_all) close_breakpoint(first_event.descriptor);
  if (!first_event.held && wanted_at_all) first_event.descriptor = open_dummy();
  first_event.held = wanted_at_all;
  let_go(&first_event.busy);
}

/* A thread that blocks the signal would hear of a touch when it no longer does, wherever it is then. */
static bool hears_traps(void) {
  sigset_t blocked;
  return sigprocmask(SIG_BLOCK, NULL, &blocked) == 0 && !sigismember(&blocked, SIGTRAP);
}

/* The program may have taken the signal since it was ours, and would not know what a touch is. */
static bool has_signal(void) {
  struct sigaction now;
  return sigaction(SIGTRAP, NULL, &now) == 0 && handles_trap(&now);
}

void watch_new_object(const struct slot_object *object) {
  if (!is_wanted(object->sample.site)) return;
  int saved_errno = errno;
  struct watch *watch = &watches[object->sample.site % WATCHES];
  if (hears_traps() && has_signal() && has_stack_for_traps() && hold(&watch->busy)) {
    watch_instead(watch, object);
    let_go(&watch->busy);
  }
  errno = saved_errno;
}

static bool is_debugged(void) {
  char text[1536];
  if (!kernel_text("/proc/self/status", text, sizeof text)) return true;
  const char *tracer = strstr(text, "TracerPid:\t");
  return !tracer || tracer[strlen("TracerPid:\t")] != '0';
}

static void disarm_all(void) {
  for (size_t i = 0; i < WATCHES; i++) {
    if (!hold(&watches[i].busy)) continue; /* somebody is about to watch another; it ends with that one's turn */
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
  if (is_debugged()) return "a debugger is attached";
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

/* The descriptors are the child's too, and would keep the parent's registers. */
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
  struct trap trap;
  memcpy(&trap, (const char *)information + TRAP_OFFSET, sizeof trap);
  if (information->si_code != CODE_OF_PERF) return;
  test_touches++;
  if (trap.flags & CAME_LATE) test_late++;
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
      return "the kernel is too old to stop who touches an object (5.18 or newer)";
    case WATCH_NO_REGISTERS:
      return "the processor's debug registers are not to be had";
    default:
      return "the kernel does not tell of each touch in time";
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
  int descriptor = open_breakpoint(&word, MALLOMETER_ACCESS, 1);
  if (descriptor < 0) return refusal(descriptor);
  touch_often(&word);
  call_close(descriptor);
  if (test_touches == 0 || test_touches > TOUCHES || test_late > 0) return WATCH_COMES_LATE;
  sigprocmask(SIG_BLOCK, &trap, NULL);
  descriptor = open_breakpoint(&word, MALLOMETER_WRITE, 1);
  if (descriptor < 0) return refusal(descriptor);
  touch_often(&word);
  call_close(descriptor);
  sigprocmask(SIG_UNBLOCK, &trap, NULL);
  return WATCH_WORKS;
}
