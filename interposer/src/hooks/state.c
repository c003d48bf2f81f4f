/* The hook's state, and the one moment in which it changes by itself: the first event of the process. */
#include "hooks/state.h"

#include <errno.h>
#include <sched.h>

#include "account/thread_block.h"
#include "allocator/bootstrap.h"
#include "allocator/next.h"

int hook_state = HOOK_UNRESOLVED;
size_t huge_threshold = (size_t)64 << 20;
bool sizes_from_chunks;
bool hook_was_reached;

static __thread bool this_thread_resolves __attribute__((tls_model("initial-exec")));

static void resolve(void) {
  this_thread_resolves = true;
  bool found = next_allocator_find();
  if (found) {
    sizes_from_chunks = next_allocator_has_glibc_chunks();
    thread_blocks_start();
    bootstrap_finished();
  }
  this_thread_resolves = false;
  __atomic_store_n(&hook_state, found ? HOOK_COUNTING : HOOK_UNSERVED, __ATOMIC_RELEASE);
}

bool hook_ready(void) {
  int state = __atomic_load_n(&hook_state, __ATOMIC_ACQUIRE);
  if (state >= HOOK_COUNTING) return true;
  if (this_thread_resolves || state == HOOK_UNSERVED) return false;
  int saved_errno = errno;
  int expected = HOOK_UNRESOLVED;
  if (__atomic_compare_exchange_n(&hook_state, &expected, HOOK_RESOLVING, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) {
    resolve();
  } else {
    while (__atomic_load_n(&hook_state, __ATOMIC_ACQUIRE) == HOOK_RESOLVING) sched_yield();
  }
  errno = saved_errno;
  return __atomic_load_n(&hook_state, __ATOMIC_ACQUIRE) >= HOOK_COUNTING;
}
