/* Tests mallometer_attach() for macOS, which replaces the functions of malloc zones, on the test platform
 * (platform/given.h). The zones are fake. */
#include <errno.h>
#include <mach/mach.h>
#include <malloc.h>
#include <malloc/malloc.h>
#include <stdarg.h>

#include "account/thread_block.h"
#include "account/totals.h"
#include "allocator/next.h"
#include "control/attachment.h"
#include "control/baseline.h"
#include "control/process.h"
#include "control/snapshot.h"
#include "hooks/darwin_arrival.h"
#include "hooks/darwin_zone.h"
#include "hooks/start.h"
#include "hooks/state.h"
#include "platform/barrier.h"
#include "platform/dynamic_symbols.h"
#include "platform/given.h"
#include "platform/libc.h"
#include "platform/loader.h"
#include "platform/loader_lock.h"
#include "platform/page_protection.h"

/* ---- The system ---------------------------------------------------------------------------------------- */

void process_note_mappings(void) {}

static void *z_malloc(struct zone *zone, size_t size) {
  (void)zone;
  return malloc(size);
}

static void z_free(struct zone *zone, void *object) {
  (void)zone;
  free(object);
}

#define ZONE \
  { .malloc = z_malloc, .free = z_free, .version = 13 }
static struct zone first = ZONE, second = ZONE;
static vm_address_t zones[2] = {(vm_address_t)&first, (vm_address_t)&second};
static unsigned zone_count = 2;

mach_port_t mach_task_self(void) { return 1; }

kern_return_t malloc_get_all_zones(mach_port_t task, void *reader, vm_address_t **all, unsigned *count) {
  CHECK(task == 1 && !reader);
  *all = zones;
  *count = zone_count;
  return KERN_SUCCESS;
}

bool pages_open_for_change(void *begin, size_t bytes, int *before) {
  (void)begin, (void)bytes;
  *before = 0;
  return true;
}

bool pages_close_after_change(void *begin, size_t bytes, int before) {
  (void)begin, (void)bytes, (void)before;
  return true;
}

static bool interposed;

/* darwin_start.c calls this function in place of strdup, to test whether calls are counted. */
char *given_strdup(const char *text);
char *given_strdup(const char *text) {
  if (interposed) calls_have_arrived = true;
  char *copy = first.malloc(&first, strlen(text) + 1);
  return strcpy(copy, text);
}

/* ---- A loader that reports no objects ------------------------------------------------------------------ */

static uint64_t changes;

uint64_t loader_changes(void) { return changes; }

void loaded_objects_refresh(void) {}

bool with_loader_lock(void (*run)(void *argument), void *argument) {
  run(argument);
  return true;
}

struct link_map *object_of(const void *address) {
  return (void)address, NULL;
}

struct link_map *first_object(void) {
  return NULL;
}

struct link_map *next_object(const struct link_map *object) {
  return (void)object, NULL;
}

struct link_map *own_object(void) {
  return NULL;
}

const void *function_in(const struct link_map *object, const char *name) { return (void)object, (void)name, NULL; }

const char *libc_objection_to_attach(void) { return NULL; }

void barrier_for_all_threads(void) {}

static bool has_sanitizer;

bool is_of_sanitizer(const void *function) { return (void)function, has_sanitizer; }

bool next_allocator_bypass_executable(void) { return true; }

bool next_allocator_may_call_back(void) { return false; }

/* ---- The process --------------------------------------------------------------------------------------- */

static int state = MALLOMETER_STATE_NOT_PRELOADED;
static char reason[512];

int process_state(void) { return state; }

void process_set_state(int new_state, const char *format, ...) {
  va_list arguments;
  state = new_state;
  va_start(arguments, format);
  vsnprintf(reason, sizeof reason, format, arguments);
  va_end(arguments);
}

bool process_was_forked(void) { return false; }

const char *process_objection(void) { return NULL; }

void process_prepare(void) {}

void process_start_reports(void) {}

void baseline_find(void) {}

void baseline_forget_threads(void) {}

bool baseline_compare(void) { return false; }

int64_t baseline_drift(uint64_t *bound) { return (int64_t)(*bound = 0); }

uint64_t snapshot_since(void) { return 0; }

static void configure(void) {}

const struct hook_owner hook_owner = {.find_allocator = hook_find_allocator, .configure = configure};

static size_t size_of(void *object) { return malloc_usable_size(object); }

static void process_starts(void) {
  next.malloc = malloc;
  next.free = free;
  next.usable_size = size_of;
  bool ours = program_malloc_is_ours();
  if (ours && hook_ready() && malloc_leads_here) state = MALLOMETER_STATE_COUNTING;
}

static uint64_t allocations(void) {
  struct mallometer_counters read = {0};
  totals_read(&read);
  return mallometer_allocations(&read);
}

static void allocate_in(struct zone *zone) { zone->free(zone, zone->malloc(zone, 100)); }

/* ---- Cases --------------------------------------------------------------------------------------------- */

CASE(a_process_that_runs_is_attached_and_left) {
  process_starts();
  for (unsigned i = 0; i < 3; i++) {
    CHECK_EQUAL(attachment_begin(), 0);
    CHECK_EQUAL(state, MALLOMETER_STATE_COUNTING);
    uint64_t before = allocations();
    allocate_in(&first);
    allocate_in(&second);
    CHECK_EQUAL(allocations(), before + 2);
    CHECK_EQUAL(attachment_end(), 0);
    CHECK(first.malloc == z_malloc && second.free == z_free);
    allocate_in(&first);
    CHECK_EQUAL(allocations(), before + 2);
  }
}

CASE(a_zone_that_comes_later_is_counted_from_the_next_check_on) {
  zone_count = 1;
  process_starts();
  CHECK_EQUAL(attachment_begin(), 0);
  zone_count = 2;
  changes++;
  CHECK_EQUAL(attachment_check(), 0);
  uint64_t before = allocations();
  allocate_in(&second);
  CHECK_EQUAL(allocations(), before + 1);
}

CASE(one_zone_of_an_unknown_version_and_none_is_changed) {
  second.version = 17;
  process_starts();
  CHECK(attachment_begin() < 0);
  CHECK(strstr(reason, "version"));
  CHECK(first.malloc == z_malloc && second.malloc == z_malloc);
  CHECK_EQUAL(state, MALLOMETER_STATE_NOT_PRELOADED);
}

CASE(a_process_that_counts_from_the_start_is_not_attached) {
  interposed = true;
  process_starts();
  CHECK_EQUAL(state, MALLOMETER_STATE_COUNTING);
  CHECK_EQUAL(attachment_begin(), -EALREADY);
  CHECK(first.malloc == z_malloc);
}

/* If calls of malloc already reach the library by interposing, an attach must be refused, because each call would
 * count twice. */
CASE(calls_that_are_interposed_after_all_forbid_an_attach) {
  process_starts();
  calls_have_arrived = true;
  CHECK_EQUAL(attachment_begin(), -ENOTSUP);
  CHECK(strstr(reason, "DYLD_INSERT_LIBRARIES"));
  CHECK(first.malloc == z_malloc);
  CHECK_EQUAL(hook_state, HOOK_FORWARDING);
}

CASE(nothing_is_counted_over_a_sanitizer) {
  has_sanitizer = interposed = true;
  process_starts();
  CHECK_EQUAL(hook_state, HOOK_FORWARDING);
  CHECK_EQUAL(state, MALLOMETER_STATE_NOT_PRELOADED);
  CHECK_EQUAL(attachment_begin(), -ENOTSUP);
  CHECK(strstr(reason, "sanitizer"));
}

int main(void) {
  RUN(a_process_that_runs_is_attached_and_left);
  RUN(a_zone_that_comes_later_is_counted_from_the_next_check_on);
  RUN(one_zone_of_an_unknown_version_and_none_is_changed);
  RUN(a_process_that_counts_from_the_start_is_not_attached);
  RUN(calls_that_are_interposed_after_all_forbid_an_attach);
  RUN(nothing_is_counted_over_a_sanitizer);
  return 0;
}
