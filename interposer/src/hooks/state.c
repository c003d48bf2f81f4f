/* The hook's state, and the one moment in which it changes by itself: the first event of the process. */
#include "hooks/state.h"

#include <errno.h>
#include <sched.h>
#include <string.h>

#include "account/thread_block.h"
#include "allocator/bootstrap.h"
#include "allocator/header.h"
#include "allocator/next.h"
#include "platform/glibc_versions.h"
#include "platform/interposed.h"

int hook_state = HOOK_UNRESOLVED;
enum size_source size_source = SIZE_FROM_CALL;
size_t huge_threshold = (size_t)64 << 20;
bool malloc_leads_here;

static __thread bool this_thread_resolves __attribute__((tls_model("initial-exec")));

/*
 * Whether a program that calls malloc comes to us. Its address tells, except in executables that are linked to fixed
 * addresses, where every function seems to lie in the executable. A call tells for sure: while this thread resolves,
 * our malloc answers from the bootstrap buffer.
 */
static bool program_malloc_is_ours(void) {
  void *(*allocate)(size_t) = malloc;
  void *own, *first = program_function("malloc"), *last = program_function("free");
  memcpy(&own, &allocate, sizeof own);
  if (!first || !last || first == own) return first == own;
  void (*release)(void *);
  memcpy(&allocate, &first, sizeof first);
  memcpy(&release, &last, sizeof last);
  void *probe = allocate(1);
  bool ours = probe && is_bootstrap(probe);
  release(probe);
  return ours;
}

static bool counting_is_wanted = true;

static int wanted_state(void) {
  if (malloc_leads_here && __atomic_load_n(&counting_is_wanted, __ATOMIC_SEQ_CST)) return HOOK_COUNTING;
  return size_source == SIZE_FROM_HEADER ? HOOK_IDLE : HOOK_FORWARDING;
}

static enum hook_route route_of(int state) {
  if (state == HOOK_FORWARDING) return ROUTE_FORWARDED;
  return state == HOOK_COUNTING && size_source == SIZE_FROM_CHUNK ? ROUTE_COUNTED : ROUTE_COMPLETE;
}

/* The state first: complete.h must be right for calls that still take the old route. */
static void change_state(int wanted) {
  __atomic_store_n(&hook_state, wanted, __ATOMIC_RELEASE);
  hook_route(route_of(wanted));
}

static void resolve(void) {
  this_thread_resolves = true;
  malloc_leads_here = program_malloc_is_ours();
  bool found = next_allocator_find(malloc_leads_here);
  if (found && malloc_leads_here) {
    next_allocator_warm_up();
    if (next_allocator_has_glibc_chunks()) size_source = SIZE_FROM_CHUNK;
    thread_blocks_start();
  }
  if (found && malloc_leads_here) hook_starts();
  if (found) bootstrap_finished();
  this_thread_resolves = false;
  change_state(found ? wanted_state() : HOOK_UNSERVED);
}

bool hook_find_allocator(void) {
  if (this_thread_resolves || __atomic_load_n(&hook_state, __ATOMIC_ACQUIRE) == HOOK_UNSERVED) return false;
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

void hook_count(bool on) {
  __atomic_store_n(&counting_is_wanted, on, __ATOMIC_SEQ_CST);
  hook_choose_route();
}

void hook_choose_route(void) {
  if (this_thread_resolves) return; /* resolve() sets the state */
  int wanted;
  do { /* whoever comes last sees to it that state and route are what is wanted in the end */
    wanted = wanted_state();
    change_state(wanted);
  } while (wanted != wanted_state());
}

void hook_use_headers(void) {
  header_start(next_allocator_is_glibc());
  size_source = SIZE_FROM_HEADER;
}
