/* Attaches to the running process and detaches from it. See attachment.h. */
#include "control/attachment.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "account/ranges.h"
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
/* True if redirected pointers that could not be restored still lead to this library, although nothing is counted. */
static bool has_redirected_words;
static struct redirection redirection; /* the results of the latest walk over the loaded objects */

/* ---- Reasons to refuse an attach ----------------------------------------------------------------------- */

static int refuse(int error, const char *reason) {
  process_set_state(MALLOMETER_STATE_NOT_PRELOADED, "not attached: %s", reason);
  return error;
}

static bool next_is_part_of_program(void) {
  const struct link_map *object = object_of((const void *)(uintptr_t)next.malloc);
  return object && object == first_object(); /* `object` is always NULL on Darwin. */
}

/*
 * Returns whether an object is another copy of this library that counts. Calls mallometer_self() of the copy. A look-up
 * of malloc would not tell, because it may find an executable's PLT entry. A copy with another ABI version cannot be
 * asked, and is assumed to count.
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

/* The reason why this allocator does not allow an attach, or NULL. Determined only once, because this takes the
 * loader's lock, and threads that load libraries may hold the lock for long. */
static const char *unfit;

static void look_at_allocator(void *unused) {
  (void)unused;
  if (is_of_sanitizer((const void *)(uintptr_t)next.malloc)) {
    unfit = "the program is built with a sanitizer, which needs its own malloc";
  } else if (!next_allocator_bypass_executable()) {
    unfit = "the definitions of malloc and the functions of its family were not found";
  } else if (next_is_part_of_program()) {
    unfit = "malloc is linked into the executable, whose calls cannot be redirected";
  } else if (next_allocator_may_call_back()) {
    unfit = "another malloc comes first and may call mallometer's; name mallometer before it in LD_PRELOAD";
  } else {
    unfit = NULL;
  }
}

static int refuse_if_unfit(void) {
  static bool looked;
  bool another_counts = false;
  const char *objection = libc_objection_to_attach();
  if (objection) return refuse(-ENOTSUP, objection);
  objection = process_objection();
  if (objection) return refuse(-EPERM, objection);
  if (!with_loader_lock(look_for_another_copy, &another_counts))
    return refuse(-ENOTSUP, "the lock of the dynamic loader was not found");
  if (another_counts)
    return refuse(-EALREADY, "another copy of mallometer is in this process, and counts or has another version");
  if (!looked && !hook_ready()) return refuse(-ENOTSUP, "the allocator lacks a function of malloc's family");
  if (!looked) with_loader_lock(look_at_allocator, NULL);
  looked = true;
  return unfit ? refuse(-ENOTSUP, unfit) : 0;
}

/* ---- Attach and detach --------------------------------------------------------------------------------- */

static int error_of(const struct redirection *failed) {
  if (failed->error == 0) return -ENOTSUP;
  return redirection_met_forks(failed) ? -EBUSY : -EACCES;
}

/* If `words_stay` is set, some pointers still lead to this library, whose functions then only pass the calls on to
 * the allocator. */
static void stop_counting(bool words_stay) {
  hook_detach();
  ranges_forget();
  baseline_forget_threads();
  attached = false;
  has_redirected_words = words_stay;
}

static int abort_attach(int error, const char *reason) {
  stop_counting(has_redirected_words);
  process_set_state(MALLOMETER_STATE_NOT_PRELOADED, "not attached: %s%s%s", reason, redirection.error ? ": " : "",
                    redirection.error ? strerror(redirection.error) : "");
  return error;
}

static bool new_objects_unread; /* Set if objects that were loaded since the latest walk could not be read. */

static void report_counting(void) {
  uint64_t bound;
  int64_t drift = baseline_drift(&bound);
  uint64_t amount = (uint64_t)(drift < 0 ? -drift : drift);
  if (redirection.ignored > 0) {
    process_set_state(
        MALLOMETER_STATE_COUNTING,
        "incomplete: %u calls could not be redirected, because glibc made them direct jumps (glibc.cpu.plt_rewrite)",
        redirection.ignored);
  } else if (new_objects_unread) {
    process_set_state(
        MALLOMETER_STATE_COUNTING,
        "incomplete: calls from libraries loaded after the attach may be missing, because /proc/self/maps "
        "cannot be read");
  } else if (amount > bound) {
    process_set_state(
        MALLOMETER_STATE_COUNTING,
        "incomplete: the live bytes that glibc reports differ by %lld from those counted: some calls are not seen",
        (long long)drift);
  } else {
    process_set_state(MALLOMETER_STATE_COUNTING, "%s", "");
  }
}

/*
 * A walk over the loaded objects redirects their calls. A walk is due when an object was loaded or unloaded. A second
 * walk is due some seconds later: a thread may look a function up before the first walk, and store the function's
 * address after it.
 */
static uint64_t changes_at_walk;
static uint64_t late_walk_ns; /* the time at which a second walk is due; 0: none is due */

static void note_walk(uint64_t changes) {
  loaded_objects_refresh(); /* a preloaded mallometer does this in its dlopen hook */
  const uint64_t late_ns = 5000000000;
  late_walk_ns = changes == changes_at_walk ? 0 : monotonic_ns() + late_ns;
  changes_at_walk = changes;
}

static bool walk_is_due(uint64_t changes) {
  return changes != changes_at_walk || (late_walk_ns != 0 && monotonic_ns() >= late_walk_ns);
}

static int begin(void) {
  int refused = refuse_if_unfit();
  if (refused != 0) return refused;
  process_prepare();
  if (!hook_attach()) return refuse(-ENOTSUP, "a memory checker replaces malloc");
  /* Makes the data of the hooked functions visible to all threads, which read the redirected words without a fence
   * (hooks/route.h). */
  barrier_for_all_threads();
  changes_at_walk = 0;
  uint64_t changes = loader_changes();
  const char *failure = redirection_apply(&redirection);
  if (failure) return abort_attach(error_of(&redirection), failure);
  if (!redirection_works()) {
    redirection_undo(&redirection);
    has_redirected_words = redirection.nothing_changed;
    return abort_attach(-ENOTSUP, "the test of the redirection failed: a call of strdup was not counted");
  }
  note_walk(changes);
  new_objects_unread = false;
  baseline_find();
  attached = true;
  has_redirected_words = false;
  process_note_mappings();
  report_counting();
  process_start_reports();
  return 0;
}

static int walk_again(uint64_t changes) {
  struct redirection again;
  const char *failure = redirection_apply(&again);
  if (redirection_met_forks(&again)) return -EBUSY;
  new_objects_unread = again.nothing_changed;
  if (new_objects_unread) return 0; /* The next check tries again, because file descriptors may be free then. */
  redirection = again;
  if (!failure) {
    note_walk(changes);
    return 0;
  }
  return abort_attach(-EACCES, failure);
}

static int check(void) {
  if (!attached) return -ENODATA;
  uint64_t changes = loader_changes();
  bool walks = walk_is_due(changes);
  int result = walks ? walk_again(changes) : 0;
  if (result != 0) return result;
  if ((baseline_compare() || walks) && process_state() == MALLOMETER_STATE_COUNTING) report_counting();
  return 0;
}

static bool busy;

static int run_exclusively(int (*act)(void)) {
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

int attachment_begin(void) { return run_exclusively(begin_or_check); }

int attachment_check(void) { return run_exclusively(check); }

static int end(void) {
  if (!attached && !has_redirected_words) return -ENODATA;
  struct redirection undone;
  redirection_undo(&undone);
  if (redirection_met_forks(&undone)) return -EBUSY;
  stop_counting(undone.nothing_changed);
  uint32_t stay = undone.nothing_changed ? redirection.words + redirection.refused : undone.refused;
  redirection = undone;
  redirection.words = 0;
  redirection.refused = stay;
  if (undone.nothing_changed) {
    process_set_state(
        MALLOMETER_STATE_NOT_PRELOADED,
        "counting has ended, but redirected calls could not be put back and pass through the library: %s; "
        "call mallometer_detach() again",
        undone.error ? strerror(undone.error) : "the lock of the dynamic loader was not found");
    return error_of(&undone);
  }
  process_set_state(MALLOMETER_STATE_NOT_PRELOADED, "detached by mallometer_detach()");
  return stay > 0 ? -EACCES : 0;
}

int attachment_end(void) { return run_exclusively(end); }

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
