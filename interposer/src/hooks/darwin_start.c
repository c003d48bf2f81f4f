/*
 * Starts the library on Darwin, switches its counting on and off (start.h), and attaches it to a running process
 * (redirection.h).
 *
 * In a process that counts from the start, calls reach this library through the interposed functions, and
 * mallometer_attach() fails. A successful mallometer_attach() makes calls reach this library through the malloc zones.
 */
#include <errno.h>
#include <mach/mach.h>
#include <malloc/malloc.h>
#include <stdlib.h>
#include <string.h>

#include "account/ranges.h"
#include "account/scopes.h"
#include "account/totals.h"
#include "allocator/next.h"
#include "hooks/darwin_arrival.h"
#include "hooks/darwin_zone.h"
#include "hooks/mappings.h"
#include "hooks/redirection.h"
#include "hooks/start.h"
#include "hooks/state.h"
#include "platform/keep_errno.h"
#include "sample/call_sites.h"

/* Checks that a member has the offset that the SDK's header gives it. */
#define SAME(member, of_apple) \
  _Static_assert(offsetof(struct zone, member) == offsetof(malloc_zone_t, of_apple), "struct zone: offset of " #member);
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
_Static_assert(sizeof(struct zone) == offsetof(struct zone, try_free_default) + 7 * sizeof(void *),
               "versions 15 and 16 add six functions");

bool calls_have_arrived;

/* Returns whether other libraries' calls of malloc reach this library. Tests this with strdup, which calls malloc. */
static bool calls_arrive(void) {
  char *copy = strdup("mallometer");
  free(copy); /* calls the system's free, because dyld does not redirect calls of this library itself */
  return __atomic_load_n(&calls_have_arrived, __ATOMIC_RELAXED);
}

bool program_malloc_is_ours(void) {
  static enum { UNKNOWN, OURS, ANOTHERS } whose;
  if (whose == UNKNOWN) whose = calls_arrive() ? OURS : ANOTHERS;
  return whose == OURS;
}

void hook_find_operators(void) {}

/* ---- State --------------------------------------------------------------------------------------------- */

static int wanted_state(void) {
  bool counts = malloc_leads_here && __atomic_load_n(&counting_is_wanted, __ATOMIC_SEQ_CST);
  return counts ? HOOK_COUNTING : HOOK_FORWARDING;
}

/* Stores only the state, because on Darwin the functions of hooks/complete.h serve all calls. */
void hook_choose_route(void) {
  if (__atomic_load_n(&hook_state, __ATOMIC_ACQUIRE) < HOOK_COUNTING) return;
  __atomic_store_n(&hook_state, wanted_state(), __ATOMIC_RELEASE);
}

/* Has nothing to wait for: on Darwin the functions of hooks/complete.h serve all calls. */
void hook_wait_for_route(void) {}

void hook_forked(void) { hook_choose_route(); }

static void on_thread_end(struct thread_block *block) {
  scopes_end(block);
  peak_flush(block);
}

static void start_counting(void) {
  static bool started;
  if (!started) thread_blocks_start(on_thread_end);
  started = true;
}

/* The constructor calls this before there are threads. The interposed functions only forward calls until this
 * function has set `hook_state`. */
bool hook_find_allocator(void) {
  KEEP_ERRNO;
  malloc_leads_here = program_malloc_is_ours() && !is_of_sanitizer(NULL);
  if (malloc_leads_here) {
    start_counting();
    hook_owner.configure();
  }
  __atomic_store_n(&hook_state, wanted_state(), __ATOMIC_RELEASE);
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

/* Returns false: headers are not supported, because the system's zones cannot free objects with headers. */
bool hook_use_headers(void) { return false; }

/* ---- The attach to a running process ------------------------------------------------------------------- */

/* Calls `act` for each registered zone. Zones never move, and in practice the list of zones only grows. */
static void visit_zones(void (*act)(struct zone *zone, struct redirection *done), struct redirection *done) {
  vm_address_t *zones;
  unsigned count = 0;
  if (malloc_get_all_zones(mach_task_self(), NULL, &zones, &count) != KERN_SUCCESS) count = 0;
  for (unsigned i = 0; i < count; i++) act((struct zone *)zones[i], done);
}

static void hook_and_count(struct zone *zone, struct redirection *done) {
  if (zone_is_hooked(zone) || zone_hook(zone)) {
    done->words += zone_words(zone);
  } else {
    done->refused += zone_words(zone);
  }
}

static void unhook_and_count(struct zone *zone, struct redirection *done) {
  if (!zone_is_hooked(zone)) return;
  if (zone_unhook(zone)) {
    done->words += zone_words(zone);
  } else {
    done->refused++;
  }
}

/* Hooks all zones or none, because an object may be freed through another zone than its own. */
const char *redirection_apply(struct redirection *done) {
  *done = (struct redirection){0};
  /* If calls are interposed, each call would be counted twice: by an interposed function and by a zone. */
  if (__atomic_load_n(&calls_have_arrived, __ATOMIC_RELAXED))
    return "the program's calls are interposed already; start it without DYLD_INSERT_LIBRARIES to attach";
  visit_zones(hook_and_count, done);
  if (done->words > 0 && done->refused == 0) return NULL;
  struct redirection undone = {0};
  visit_zones(unhook_and_count, &undone);
  done->error = ENOTSUP;
  done->words = 0;
  done->refused = undone.refused;
  return "a malloc zone has an unknown version, or its memory cannot be changed";
}

void redirection_undo(struct redirection *done) {
  *done = (struct redirection){0};
  visit_zones(unhook_and_count, done);
}

bool redirection_works(void) {
  uint64_t before = totals_bytes().allocated;
  char *copy = strdup("mallometer");
  bool counted = totals_bytes().allocated != before;
  free(copy);
  return counted;
}

/* ---- Mappings: not recorded on Darwin, where mmap and its family are not replaced ---------------------- */

void mappings_start(bool is_late) { (void)is_late; }

const char *mappings_missing(void) { return NULL; }

void mappings_find_next(void) {}

void mappings_forked(void) {}

uint64_t mappings_not_walked(void) { return 0; }

bool ranges_on(void) { return false; }

size_t ranges_footprint(void) { return 0; }

void ranges_forget(void) {}

int ranges_copy(struct mallometer_range *rows, uint32_t capacity, uint64_t from) {
  (void)rows, (void)capacity, (void)from;
  return 0;
}

struct ranges_totals ranges_totals(void) {
  return (struct ranges_totals){0};
}
