/* See attachment.h. */
#include "control/attachment.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "allocator/next.h"
#include "control/baseline.h"
#include "control/process.h"
#include "control/snapshot.h"
#include "hooks/redirection.h"
#include "hooks/start.h"
#include "hooks/state.h"
#include "platform/barrier.h"
#include "platform/clock.h"
#include "platform/dynamic_symbols.h"
#include "platform/libc.h"
#include "platform/loaded_objects.h"
#include "platform/loader.h"
#include "platform/loader_lock.h"

static bool attached;
static bool must_be_undone; /* words lead here still, although it does not count: nothing could be put back */
static struct redirection redirection; /* of the latest walk */

/* ---- Whether it is possible ---------------------------------------------------------------------------- */

static int refuse(int error, const char *reason) {
  process_state_is(MALLOMETER_STATE_NOT_PRELOADED, "not attached: %s", reason);
  return error;
}

static bool next_is_part_of_program(void) {
  const void *malloc_address;
  memcpy(&malloc_address, &next.malloc, sizeof malloc_address);
  const struct link_map *object = object_of(malloc_address);
  return object && object == first_object(); /* on Darwin both are unknown */
}

/*
 * What its own report says: which malloc a look-up finds, an executable's entry for it may hide. A copy with another
 * interface cannot be asked, and is taken for one that counts.
 */
static bool is_copy_that_counts(const struct link_map *object) {
  struct mallometer_report report = {0};
  const void *addresses[2] = {NULL, NULL};
  if (object != own_object()) {
    addresses[0] = function_in(object, "mallometer_abi_version");
    addresses[1] = function_in(object, "mallometer_self");
  }
  __typeof__(mallometer_abi_version) *version;
  __typeof__(mallometer_self) *describe;
  memcpy(&version, &addresses[0], sizeof version);
  memcpy(&describe, &addresses[1], sizeof describe);
  if (!version || !describe) return false;
  if (version() != MALLOMETER_ABI_VERSION) return true;
  if (describe(&report) != 0) return false;
  return report.state == MALLOMETER_STATE_COUNTING || report.state == MALLOMETER_STATE_DISABLED;
}

static void look_for_another_copy(void *found) {
  for (const struct link_map *object = first_object(); object; object = next_object(object)) {
    *(bool *)found |= is_copy_that_counts(object);
  }
}

/*
 * What is asked of the loader waits for threads that load libraries, and must not wait often. So it is asked once, but
 * for other copies of this library, which may come and go.
 */
static const char *unfit;

static void look_at_allocator(void *unused) {
  (void)unused;
  const void *in_allocator = NULL;
  memcpy(&in_allocator, &next.malloc, sizeof in_allocator);
  if (is_of_sanitizer(in_allocator)) {
    unfit = "the program is built with a sanitizer, which needs its own malloc";
  } else if (!next_allocator_bypass_executable()) {
    unfit = "the definitions of malloc and the functions of its family were not found";
  } else if (next_is_part_of_program()) {
    unfit = "malloc is linked into the executable, whose calls cannot be redirected";
  } else if (next_allocator_may_come_back()) {
    unfit = "another malloc comes first and may call mallometer's; name mallometer before it in LD_PRELOAD";
  } else {
    unfit = NULL;
  }
}

static int refuse_here(void) {
  static bool looked;
  bool another_counts = false;
  const char *objection = libc_objection_to_attach();
  if (objection) return refuse(-ENOTSUP, objection);
  objection = process_objection();
  if (objection) return refuse(-EPERM, objection);
  if (!with_loader_lock(look_for_another_copy, &another_counts))
    return refuse(-ENOTSUP, "the lock of the dynamic loader was not found");
  if (another_counts) return refuse(-EALREADY, "another copy of mallometer is in this process, and counts or has another version");
  if (!looked && !hook_ready()) return refuse(-ENOTSUP, "the allocator lacks a function of malloc's family");
  if (!looked) with_loader_lock(look_at_allocator, NULL);
  looked = true;
  return unfit ? refuse(-ENOTSUP, unfit) : 0;
}

/* ---- There and back ------------------------------------------------------------------------------------ */

static int error_of(const struct redirection *failed) {
  if (failed->error == 0) return -ENOTSUP;
  return redirection_met_forks(failed) ? -EBUSY : -EACCES;
}

/* Nothing leads here, or what does passes through. */
static void stop_counting(bool words_stay) {
  hook_detach();
  baseline_forget_threads();
  attached = false;
  must_be_undone = words_stay;
}

static int go_back(int error, const char *reason) {
  stop_counting(must_be_undone);
  process_state_is(MALLOMETER_STATE_NOT_PRELOADED, "not attached: %s%s%s", reason, redirection.error ? ": " : "",
                   redirection.error ? strerror(redirection.error) : "");
  return error;
}

static bool is_blind; /* what was loaded since the latest walk could not be looked at */

static void say_counting(void) {
  uint64_t bound;
  int64_t drift = baseline_drift(&bound);
  uint64_t amount = (uint64_t)(drift < 0 ? -drift : drift);
  if (redirection.ignored > 0) {
    process_state_is(
        MALLOMETER_STATE_COUNTING,
        "incomplete: %u calls could not be redirected, because glibc made them direct jumps (glibc.cpu.plt_rewrite)",
        redirection.ignored);
  } else if (is_blind) {
    process_state_is(MALLOMETER_STATE_COUNTING,
                     "incomplete: calls from libraries loaded after the attach may be missing, because /proc/self/maps "
                     "cannot be read");
  } else if (amount > bound) {
    process_state_is(
        MALLOMETER_STATE_COUNTING,
        "incomplete: the live bytes that glibc reports differ by %lld from those counted: some calls are not seen",
        (long long)drift);
  } else {
    process_state_is(MALLOMETER_STATE_COUNTING, "%s", "");
  }
}

/*
 * When to walk again: after the loader has loaded or unloaded an object; and once more a while after each such walk,
 * for threads that had looked a function up before it and stored what they found behind it.
 */
static uint64_t changes_at_walk;
static uint64_t late_walk_ns; /* 0: none is due */

static void walked(uint64_t changes) {
  loaded_objects_refresh(); /* nobody else tells of libraries here */
  const uint64_t late_ns = 5000000000;
  late_walk_ns = changes == changes_at_walk ? 0 : monotonic_ns() + late_ns;
  changes_at_walk = changes;
}

static bool must_walk(uint64_t changes) {
  return changes != changes_at_walk || (late_walk_ns != 0 && monotonic_ns() >= late_walk_ns);
}

static int begin(void) {
  int refused = refuse_here();
  if (refused != 0) return refused;
  process_prepare();
  if (!hook_attach()) return refuse(-ENOTSUP, "a memory checker replaces malloc");
  /* A thread that meets a redirected word finds all that its route needs, though nothing orders these loads. */
  barrier_for_all_threads();
  changes_at_walk = 0;
  uint64_t changes = loader_changes();
  const char *failure = redirection_apply(&redirection);
  if (failure) return go_back(error_of(&redirection), failure);
  if (!redirection_works()) {
    redirection_undo(&redirection);
    must_be_undone = redirection.is_blind;
    return go_back(-ENOTSUP, "the test of the redirection failed: a call of strdup was not counted");
  }
  walked(changes);
  is_blind = false;
  baseline_find();
  attached = true;
  must_be_undone = false;
  say_counting();
  process_counts();
  return 0;
}

static int walk_again(uint64_t changes) {
  struct redirection again;
  const char *failure = redirection_apply(&again);
  if (redirection_met_forks(&again)) return -EBUSY;
  is_blind = again.is_blind;
  if (is_blind) return 0; /* it is tried again at the next check: descriptors, for example, may be there then */
  redirection = again;
  if (!failure) {
    walked(changes);
    return 0;
  }
  return go_back(-EACCES, failure);
}

static int check(void) {
  if (!attached) return -ENODATA;
  uint64_t changes = loader_changes();
  bool walks = must_walk(changes);
  int result = walks ? walk_again(changes) : 0;
  if (result != 0) return result;
  if ((baseline_watch() || walks) && process_state() == MALLOMETER_STATE_COUNTING) say_counting();
  return 0;
}

static bool busy;

static int alone(int (*act)(void)) {
  if (process_was_forked()) return -ECHILD;
  if (__atomic_exchange_n(&busy, true, __ATOMIC_ACQUIRE)) return -EBUSY;
  int result = act();
  __atomic_store_n(&busy, false, __ATOMIC_RELEASE);
  return result;
}

static int begin_or_check(void) {
  if (attached) return check();
  switch (process_state()) {
    case MALLOMETER_STATE_NOT_PRELOADED:
      return begin();
    case MALLOMETER_STATE_UNSUPPORTED:
      return -ENOTSUP;
    case MALLOMETER_STATE_EXCLUDED:
      return -EPERM;
    default:
      return -EALREADY;
  }
}

int attachment_begin(void) { return alone(begin_or_check); }

int attachment_check(void) { return alone(check); }

static int end(void) {
  if (!attached && !must_be_undone) return -ENODATA;
  struct redirection undone;
  redirection_undo(&undone);
  if (redirection_met_forks(&undone)) return -EBUSY;
  stop_counting(undone.is_blind);
  uint32_t stay = undone.is_blind ? redirection.words + redirection.refused : undone.refused;
  redirection = undone;
  redirection.words = 0;
  redirection.refused = stay;
  if (undone.is_blind) {
    process_state_is(MALLOMETER_STATE_NOT_PRELOADED,
                     "counting has ended, but redirected calls could not be put back and pass through the library: %s; "
                     "call mallometer_detach() again",
                     undone.error ? strerror(undone.error) : "the lock of the dynamic loader was not found");
    return error_of(&undone);
  }
  process_state_is(MALLOMETER_STATE_NOT_PRELOADED, "detached by mallometer_detach()");
  return stay > 0 ? -EACCES : 0;
}

int attachment_end(void) { return alone(end); }

void attachment_describe(struct mallometer_report *report) {
  int state = process_state();
  bool counts = state == MALLOMETER_STATE_COUNTING || state == MALLOMETER_STATE_DISABLED;
  report->mode = !counts ? MALLOMETER_MODE_NONE : attached ? MALLOMETER_MODE_ATTACHED : MALLOMETER_MODE_PRELOADED;
  report->words = redirection.words;
  report->words_refused = redirection.refused;
  report->calls_unseen = redirection.ignored;
  report->since_ns = snapshot_since();
  report->attach_lock_ns = redirection.lock_ns;
  report->drift_bytes = baseline_drift(&report->drift_bound_bytes);
}
