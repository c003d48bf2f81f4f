/* Finds the next allocator (the one behind this library), and chooses the functions that serve the program's calls.
 * See start.h. */
#include "hooks/start.h"

#include <sched.h>
#include <stdint.h>

#include "account/huge_requests.h"
#include "account/monitors.h"
#include "account/scopes.h"
#include "account/totals.h"
#include "allocator/bootstrap.h"
#include "allocator/glibc.h"
#include "allocator/next.h"
#include "hooks/interposed.h"
#include "hooks/operators.h"
#include "hooks/route.h"
#include "hooks/state.h"
#include "platform/clock.h"
#include "platform/dynamic_symbols.h"
#include "platform/keep_errno.h"
#include "sample/call_sites.h"

static __thread bool this_thread_resolves __attribute__((tls_model("initial-exec")));

static bool program_calls(const char *name, const void *own) {
  return (first_object() ? first_definition(name, first_object(), NULL) : program_function(name)) == own;
}

bool program_malloc_is_ours(void) {
  static enum { UNKNOWN, OURS, ANOTHERS } whose;
  if (whose == UNKNOWN) whose = program_calls("malloc", (const void *)(uintptr_t)malloc) ? OURS : ANOTHERS;
  return whose == OURS;
}

/*
 * Returns whether calls of this library's functions reach this library. A memory checker such as Valgrind may intercept
 * the functions of malloc's family. Its malloc_usable_size() returns 0 for hook_state, which it does not know.
 */
static bool calls_arrive(void) { return malloc_usable_size(&hook_state) != 0; }

static bool calls_are_answered_elsewhere;

static int wanted_state(void) {
  if (malloc_leads_here && __atomic_load_n(&counting_is_wanted, __ATOMIC_SEQ_CST)) return HOOK_COUNTING;
  return size_source == SIZE_FROM_HEADER ? HOOK_IDLE : HOOK_FORWARDING;
}

static bool all_are_monitored(void) { return monitors_listen() || small_requests_are_watched(); }

static enum hook_route route_of(int state, bool monitored) {
  if (state == HOOK_FORWARDING) return ROUTE_FORWARDED;
  if (state == HOOK_COUNTING && size_source == SIZE_FROM_CHUNK && !monitored) return ROUTE_COUNTED;
  return ROUTE_COMPLETE;
}

/* Stores the state first, and then opens its route (the functions that serve the program's calls, hooks/route.h).
 * Calls may take the old route meanwhile; the functions of complete.h then find the new state. */
static void change_state(int wanted, bool monitored, bool tracked, bool matched) {
  __atomic_store_n(&hook_state, wanted, __ATOMIC_RELEASE);
  hook_open_route(route_of(wanted, monitored), tracked, matched);
}

static void choose_route(void);

static const struct next_allocator own_functions = {malloc,   free,          calloc,         realloc,
                                                    memalign, aligned_alloc, posix_memalign, malloc_usable_size};

static void on_thread_end(struct thread_block *block) {
  bool matched = block->reporting.scoped & SCOPED_MATCHED;
  scopes_end(block);
  if (matched) hook_choose_route();
  peak_flush(block);
}

static void start_counting(void) {
  if (glibc_chunks_are_readable()) size_source = SIZE_FROM_CHUNK;
  thread_blocks_start(on_thread_end);
}

static void resolve(void) {
  this_thread_resolves = true;
  thread_key_0_reserve();
  malloc_leads_here = program_malloc_is_ours();
  calls_are_answered_elsewhere = !calls_arrive();
  malloc_is_replaced = malloc_leads_here && calls_are_answered_elsewhere;
  if (malloc_is_replaced) malloc_leads_here = false;
  bool found = next_allocator_find(malloc_leads_here ? NULL : &own_functions);
  if (found && is_of_sanitizer((const void *)(uintptr_t)next.malloc)) malloc_leads_here = false;
  if (found) operators_find();
  if (found && after_serves) hook_find_missing_functions(program_calls);
  if (found && malloc_leads_here) {
    next_allocator_warm_up();
    start_counting();
  }
  if (found && malloc_leads_here) hook_owner.configure();
  thread_key_0_release();
  if (found) bootstrap_finish();
  this_thread_resolves = false;
  if (found) {
    choose_route();
  } else {
    change_state(HOOK_UNSERVED, false, false, false);
  }
}

void hook_find_operators(void) { operators_find(); }

bool hook_find_allocator(void) {
  if (this_thread_resolves || __atomic_load_n(&hook_state, __ATOMIC_ACQUIRE) == HOOK_UNSERVED) return false;
  KEEP_ERRNO;
  int expected = HOOK_UNRESOLVED;
  if (__atomic_compare_exchange_n(&hook_state, &expected, HOOK_RESOLVING, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) {
    resolve();
  } else {
    while (__atomic_load_n(&hook_state, __ATOMIC_ACQUIRE) == HOOK_RESOLVING) sched_yield();
  }
  return __atomic_load_n(&hook_state, __ATOMIC_ACQUIRE) >= HOOK_COUNTING;
}

bool hook_attach(void) {
  static bool started;
  if (calls_are_answered_elsewhere) return false;
  if (!started) {
    started = true;
    thread_key_0_reserve();
    start_counting();
    thread_key_0_release();
    /* The used bytes that glibc reports include the size word of each object. */
    if (size_source == SIZE_FROM_CHUNK) totals_set_extra(sizeof(size_t));
  }
  operators_take_over();
  __atomic_store_n(&after_serves, false, __ATOMIC_RELAXED);
  __atomic_store_n(&counting_was_off, false, __ATOMIC_RELAXED);
  __atomic_store_n(&counting_is_wanted, true, __ATOMIC_SEQ_CST); /* The latest detach may have switched counting off. */
  malloc_leads_here = true;
  hook_choose_route();
  return true;
}

/* The number of calls of choose_route() in progress. Each may be about to store an outdated route. */
static uint32_t choosing;
static __thread uint32_t this_thread_chooses __attribute__((tls_model("initial-exec")));

static void choose_route(void) {
  int wanted;
  bool monitored, tracked, matched;
  this_thread_chooses++;
  __atomic_fetch_add(&choosing, 1, __ATOMIC_SEQ_CST);
  do { /* Repeats if an input changed meanwhile, so that the last store is never outdated. */
    wanted = wanted_state();
    monitored = all_are_monitored();
    tracked = call_sites_on();
    matched = scopes_include_matched();
    change_state(wanted, monitored, tracked, matched);
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
  } while (wanted != wanted_state() || monitored != all_are_monitored() || tracked != call_sites_on() ||
           matched != scopes_include_matched());
  __atomic_fetch_sub(&choosing, 1, __ATOMIC_RELEASE);
  this_thread_chooses--;
}

/* Does nothing before resolve() has found the allocator, because resolve() itself calls choose_route() at its end.
 * The fences in this function and in choose_route() ensure that no change gets lost: either resolve() sees what the
 * caller has changed, or this thread sees the new hook_state and calls choose_route(). */
void hook_choose_route(void) {
  __atomic_thread_fence(__ATOMIC_SEQ_CST);
  if (__atomic_load_n(&hook_state, __ATOMIC_RELAXED) >= HOOK_COUNTING) choose_route();
}

/* Waits only for other threads. This thread may itself be in choose_route(), if a signal handler interrupted it
 * there and called this function. */
void hook_wait_for_route(void) {
  const uint64_t end = monotonic_ns() + 1000000000;
  while (__atomic_load_n(&choosing, __ATOMIC_SEQ_CST) > this_thread_chooses && monotonic_ns() < end) sched_yield();
}

void hook_forked(void) {
  __atomic_store_n(&choosing, this_thread_chooses, __ATOMIC_RELAXED);
  hook_choose_route();
}

bool hook_use_headers(void) {
  size_source = SIZE_FROM_HEADER;
  return true;
}
