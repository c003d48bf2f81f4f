/*
 * The hook's start and switches on Darwin, in the place of start.c, and the way into a process that runs already, in
 * the place of redirection.c. See start.h and redirection.h.
 *
 * Calls come by one way at a time: from the start through the interposed functions, or else through the zones from
 * mallometer_attach() on, which a process that counts from the start refuses.
 */
#include <errno.h>
#include <mach/mach.h>
#include <malloc/malloc.h>
#include <stdlib.h>
#include <string.h>

#include "account/scopes.h"
#include "account/totals.h"
#include "allocator/next.h"
#include "hooks/darwin_arrival.h"
#include "hooks/darwin_zone.h"
#include "hooks/redirection.h"
#include "hooks/start.h"
#include "hooks/state.h"
#include "sample/call_sites.h"

/* What the header of this SDK has of the struct. */
#define SAME(member, of_apple) \
  _Static_assert(offsetof(struct zone, member) == offsetof(malloc_zone_t, of_apple), "zone: " #member);
SAME(size, size)
SAME(malloc, malloc)
SAME(calloc, calloc)
SAME(valloc, valloc)
SAME(free, free)
SAME(realloc, realloc)
SAME(destroy, destroy)
SAME(name, zone_name)
SAME(batch_malloc, batch_malloc)
SAME(batch_free, batch_free)
SAME(introspection, introspect)
SAME(version, version)
SAME(memalign, memalign)
SAME(free_definite_size, free_definite_size)
SAME(pressure_relief, pressure_relief)
SAME(claimed_address, claimed_address)
SAME(try_free_default, try_free_default)
_Static_assert(sizeof(struct zone) == offsetof(struct zone, try_free_default) + 7 * sizeof(void *), "zone: 15 and 16");

bool calls_have_arrived;

/* A call that another library makes: the C library's own copy of a string. */
static bool calls_arrive(void) {
  char *copy = strdup("mallometer");
  free(copy); /* our own call, which stays as it is */
  return __atomic_load_n(&calls_have_arrived, __ATOMIC_RELAXED);
}

bool program_malloc_is_ours(void) {
  static enum { UNKNOWN, OURS, ANOTHERS } whose;
  if (whose == UNKNOWN) whose = calls_arrive() ? OURS : ANOTHERS;
  return whose == OURS;
}

void hook_stands_behind(void) {}

/* ---- State --------------------------------------------------------------------------------------------- */

static int wanted_state(void) {
  bool counts = malloc_leads_here && __atomic_load_n(&counting_is_wanted, __ATOMIC_SEQ_CST);
  return counts ? HOOK_COUNTING : HOOK_FORWARDING;
}

/* There is one route (hooks/complete.h); it asks itself whether samples and matched scopes are to be looked for. */
void hook_choose_route(void) {
  if (__atomic_load_n(&hook_state, __ATOMIC_ACQUIRE) < HOOK_COUNTING) return; /* hook_find_allocator() sets it */
  __atomic_store_n(&hook_state, wanted_state(), __ATOMIC_RELEASE);
}

/* What is called asks for monitors itself. */
void hook_route_settles(void) {}

void hook_forked(void) { hook_choose_route(); }

static void thread_ends(struct thread_block *block) {
  scopes_end(block);
  peak_flush(block);
}

static void start_counting(void) {
  static bool started;
  if (!started) thread_blocks_start(thread_ends);
  started = true;
}

/* Called by the constructor, before there are threads: until then the interposed functions pass calls on. */
bool hook_find_allocator(void) {
  int saved_errno = errno;
  malloc_leads_here = program_malloc_is_ours() && !is_of_sanitizer(NULL);
  if (malloc_leads_here) {
    start_counting();
    hook_owner.starts();
  }
  __atomic_store_n(&hook_state, wanted_state(), __ATOMIC_RELEASE);
  errno = saved_errno;
  return true;
}

bool hook_attach(void) {
  start_counting();
  __atomic_store_n(&counting_was_off, false, __ATOMIC_RELAXED);
  __atomic_store_n(&counting_is_wanted, true, __ATOMIC_SEQ_CST);
  malloc_leads_here = true;
  hook_choose_route();
  return true;
}

/* Zones would meet the headers. */
bool hook_use_headers(void) { return false; }

/* ---- A process that runs already ----------------------------------------------------------------------- */

/* Applies `act` to each zone that is registered; they are never moved, and the list only grows in practice. */
static void each_zone(void (*act)(struct zone *zone, struct redirection *done), struct redirection *done) {
  vm_address_t *zones;
  unsigned count = 0;
  if (malloc_get_all_zones(mach_task_self(), NULL, &zones, &count) != KERN_SUCCESS) count = 0;
  for (unsigned i = 0; i < count; i++) act((struct zone *)zones[i], done);
}

static void hook_one(struct zone *zone, struct redirection *done) {
  if (zone_is_hooked(zone) || zone_hook(zone)) {
    done->words += zone_words(zone);
  } else {
    done->refused += zone_words(zone);
  }
}

static void unhook_one(struct zone *zone, struct redirection *done) {
  if (!zone_is_hooked(zone)) return;
  if (zone_unhook(zone)) {
    done->words += zone_words(zone);
  } else {
    done->refused++;
  }
}

/* All zones or none: objects may be freed through another zone than they came from. */
const char *redirection_apply(struct redirection *done) {
  *done = (struct redirection){0};
  /* Each call would count here and there. */
  if (__atomic_load_n(&calls_have_arrived, __ATOMIC_RELAXED))
    return "the program's calls are interposed already; start it without DYLD_INSERT_LIBRARIES to attach";
  each_zone(hook_one, done);
  if (done->words > 0 && done->refused == 0) return NULL;
  struct redirection undone = {0};
  each_zone(unhook_one, &undone);
  done->error = ENOTSUP;
  done->words = 0;
  done->refused = undone.refused;
  return "a malloc zone has an unknown version, or its memory cannot be changed";
}

void redirection_undo(struct redirection *done) {
  *done = (struct redirection){0};
  each_zone(unhook_one, done);
}

bool redirection_works(void) {
  uint64_t before = totals_bytes().allocated;
  char *copy = strdup("mallometer");
  bool counted = totals_bytes().allocated != before;
  free(copy);
  return counted;
}
