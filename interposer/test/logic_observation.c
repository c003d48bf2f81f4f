/*
 * Tests the thread that finds out which objects in slots (memory pages of their own) are accessed. At the end of each
 * period ("epoch") it reads and clears the accessed bits of these pages. On the test platform (platform/given.h), the
 * test sets the clock and chooses the accesses.
 */
#include <errno.h>

#include "account/thread_block.h"
#include "leak/evidence.h"
#include "leak/observation.h"
#include "leak/placement.h"
#include "leak/slots.h"
#include "platform/given.h"
#include "sample/call_sites.h"
#include "sample/native_stack.h"

#define SECOND UINT64_C(1000000000)
#define EPOCH (DEFAULT_SHORTEST_EPOCH_MS * UINT64_C(1000000))
/* The library rounds times to multiples of this unit, in nanoseconds. */
#define UNIT (UINT64_C(1) << SLOT_TIME_SHIFT)
#define MEBIBYTE ((uint64_t)1 << 20)

enum { SIZE = 100, OBJECTS = 8, FIRST_CANARY = 1, CANARIES = 8 };

static struct thread_block *block;
static char stack[65536], objects_of_allocator[64][SIZE];
static const void *used[OBJECTS]; /* objects that the program accesses in every epoch */
static bool kernel_clears;        /* true: simulates that the kernel clears accessed bits, so no epoch counts */

/* ---- The process --------------------------------------------------------------------------------------- */

/* Accesses the objects in `used`, and the canary pages (leak/scan.h). If the canary pages seem not accessed, the
 * epoch does not count. */
static void uses_of_an_epoch(void) {
  char *canaries = slots_pages_before() + FIRST_CANARY * given_page_bytes;
  if (!kernel_clears) given_use(canaries, CANARIES * given_page_bytes);
  for (size_t i = 0; i < OBJECTS; i++) {
    if (used[i]) given_use(used[i], SIZE);
  }
}

static void begin(void) {
  given_monotonic_ns = 1000 * SECOND;
  given_stack = (struct own_stack){(uintptr_t)stack, (uintptr_t)stack + sizeof stack};
  given_uses = uses_of_an_epoch;
  current_block = &no_block_yet;
  block = thread_block_acquire();
  CHECK(block);
  native_stack_start(UNWIND_BY_FRAME_POINTERS);
  CHECK(!call_sites_start());
  call_sites_open();
}

static struct mallometer_observation described(void) {
  struct mallometer_observation now;
  observation_describe(&now);
  return now;
}

static void check_state(int state, const char *reason) {
  struct mallometer_observation now = described();
  CHECK_EQUAL(now.state, state);
  if (strstr(now.reason, reason) && (*reason || !*now.reason)) return;
  fprintf(stderr, "the reason is \"%s\", not \"%s\"\n", now.reason, reason);
  exit(1);
}

static void start(void) {
  begin();
  CHECK_EQUAL(observation_start(NULL), 0);
  check_state(MALLOMETER_LEAKS_STARTING, "");
  thread_goes_on();
  check_state(MALLOMETER_LEAKS_ON, "");
}

/* Samples an object and accesses it. Returns its address if it was placed on a page of its own (a slot), otherwise
 * NULL. */
static void *allocate(void) {
  static size_t taken;
  void *of_allocator = objects_of_allocator[taken++ % 64];
  struct sample sample = {.block = block,
                          .object = of_allocator,
                          .requested = SIZE,
                          .bytes = SIZE,
                          .move = {.alignment = 16, .contents = SIZE},
                          .origin = {(const char *)0x10000, stack + sizeof stack - 64},
                          .probability = 1};
  void *object = call_sites_record(&sample);
  if (object == of_allocator) return NULL;
  given_use(object, SIZE);
  return object;
}

static void deallocate(const void *object) {
  struct slot_object left;
  CHECK(placement_take_out(object, &left));
  call_sites_count_free(left.sample);
  slot_give_back(&left);
}

/* Samples an object of the call site, and waits until the site is old enough for its later objects to get slots. */
static void become_recurring(void) {
  CHECK(!allocate());
  time_passes(EPOCHS_BEFORE_SLOTS * EPOCH);
}

static void *object_in_slot(void) {
  start();
  become_recurring();
  void *object = allocate();
  CHECK(object && is_in_slots(object));
  return object;
}

/* ---- Descriptions of objects --------------------------------------------------------------------------- */

static double placement_of(const void *object) {
  struct slot_object slot;
  CHECK(slot_read(slot_number(object), &slot) && slot.object == object);
  return slot.placement;
}

static struct mallometer_object row(void) {
  struct mallometer_object rows[2];
  CHECK_EQUAL(slots_copy(rows, 2, NULL), 1);
  return rows[0];
}

static uint64_t in_units(uint64_t ns) { return ns / UNIT * UNIT; }

static uint64_t last_access(const void *object) {
  struct slot_object slot;
  CHECK(slot_read(slot_number(object), &slot) && slot.object == object);
  return slot.last_access * UNIT;
}

static struct mallometer_site_evidence evidence(void) {
  static struct mallometer_site_evidence row;
  CHECK_EQUAL(evidence_copy(&row, 1, 0), 1);
  return row;
}

static uint64_t gaps(void) { return evidence().gaps.count; }

/* ---- Epochs -------------------------------------------------------------------------------------------- */

CASE(epochs_end_by_the_given_clock) {
  start();
  uint64_t begin = given_monotonic_ns;
  CHECK_EQUAL(described().started_ns, in_units(begin));
  CHECK_EQUAL(described().epoch_ns, EPOCH);
  time_passes(EPOCH - 1);
  CHECK_EQUAL(described().epochs, 0);
  time_passes(1);
  CHECK_EQUAL(described().epochs, 1);
  CHECK_EQUAL(described().epoch_end_ns, in_units(begin + EPOCH));
  time_passes(10 * EPOCH);
  CHECK_EQUAL(described().epochs, 11);
  CHECK_EQUAL(described().void_epochs, 0);
  CHECK_EQUAL(described().epoch_end_ns, in_units(begin + 11 * EPOCH));
}

CASE(epochs_become_shorter_at_once) {
  start();
  time_passes(EPOCH / 5);
  CHECK(observation_shorten(1000));
  time_passes(0);
  CHECK_EQUAL(described().epochs, 1);
  CHECK_EQUAL(described().epoch_ns, SECOND);
  time_passes(10 * SECOND);
  CHECK_EQUAL(described().epochs, 11);
  CHECK(!observation_shorten(1) && !observation_shorten(3600000));
}

/* Readings may take at most a thousandth of the time, so readings of 10 ms of CPU time require epochs of 10 s. */
CASE(epochs_are_longer_where_looks_take_longer) {
  start();
  given_reading_ns = SECOND / 100;
  time_passes(EPOCH);
  CHECK_EQUAL(described().epoch_ns, 10 * SECOND);
  time_passes(10 * SECOND - 1);
  CHECK_EQUAL(described().epochs, 1);
  time_passes(1);
  CHECK_EQUAL(described().epochs, 2);
  CHECK(described().limit_bytes > 0);
  CHECK_EQUAL(observation_overhead_ns(), given_cpu_ns);
}

CASE(where_epochs_would_last_more_than_a_minute_nothing_is_placed) {
  start();
  become_recurring();
  given_reading_ns = SECOND / 10;
  time_passes(EPOCH);
  CHECK_EQUAL(described().epoch_ns, 100 * SECOND);
  CHECK_EQUAL(described().limit_bytes, 0);
  CHECK(!allocate());
  given_reading_ns = 0;
  time_passes(100 * SECOND);
  CHECK_EQUAL(described().epoch_ns, EPOCH);
  CHECK(allocate());
}

/* ---- Objects ------------------------------------------------------------------------------------------- */

CASE(an_object_that_is_never_used_becomes_idle) {
  void *object = object_in_slot();
  time_passes(EPOCH);
  uint64_t written = given_monotonic_ns;
  CHECK_EQUAL(last_access(object), in_units(written));
  for (unsigned i = 1; i <= 20; i++) {
    time_passes(EPOCH);
    CHECK_EQUAL(described().epochs, EPOCHS_BEFORE_SLOTS + 1 + i);
    CHECK_EQUAL(last_access(object), in_units(written));
  }
  CHECK_EQUAL(gaps(), 0);
  deallocate(object);
  struct mallometer_site_evidence of_site = evidence();
  CHECK(of_site.placed == 1 && of_site.freed == 1 && of_site.idle_before_free.count == 1);
  CHECK_EQUAL(of_site.idle_before_free.weight[duration_bucket(20 * EPOCH)], 1);
  CHECK_EQUAL(of_site.lifetimes.weight[duration_bucket(21 * EPOCH)], 1);
}

CASE(an_object_that_is_used_in_every_epoch_does_not) {
  void *object = object_in_slot();
  used[0] = object;
  for (unsigned i = 0; i < 20; i++) {
    time_passes(EPOCH);
    CHECK_EQUAL(last_access(object), in_units(given_monotonic_ns));
  }
  CHECK_EQUAL(gaps(), 0);
  deallocate(object);
  CHECK_EQUAL(evidence().idle_before_free.weight[0], 1);
}

/* Takes `samples` samples in one epoch. Returns the lowest probability with which a sample was placed in a slot. */
static double least_placement(unsigned samples) {
  double least = 1;
  time_passes(2 * EPOCH);
  for (unsigned i = 0; i < samples; i++) {
    void *object = allocate();
    double placement = object ? placement_of(object) : 1;
    if (placement < least) least = placement;
    if (object) deallocate(object);
    call_sites_forget(); /* removes the live samples that are not in slots */
  }
  return least;
}

/* A call site that keeps 7 objects in slots gets more than the usual four new slots in each epoch, until 32 of its
 * objects are in slots. */
CASE(a_site_that_keeps_objects_gets_more_slots) {
  enum { KEPT = 7, SAMPLES = 60 };
  start();
  become_recurring();
  call_sites_forget();
  CHECK(least_placement(SAMPLES) < 0.35);
  for (unsigned kept = 0; kept < KEPT;) {
    kept += allocate() != NULL;
    call_sites_forget();
    time_passes(2 * EPOCH);
  }
  CHECK(least_placement(SAMPLES) >= (32.0 - KEPT) / SAMPLES);
}

CASE(one_of_many_is_told_from_the_others) {
  const void *objects[OBJECTS] = {object_in_slot()};
  for (size_t i = 1; i < OBJECTS; i++) {
    while (!(objects[i] = allocate())) time_passes(EPOCH);
  }
  time_passes(EPOCH);
  uint64_t written = in_units(given_monotonic_ns);
  used[0] = objects[3];
  time_passes(3 * EPOCH);
  for (size_t i = 0; i < OBJECTS; i++) {
    CHECK(i == 3 ? last_access(objects[i]) == in_units(given_monotonic_ns) : last_access(objects[i]) <= written);
  }
}

CASE(an_object_that_is_used_again_has_a_gap) {
  void *object = object_in_slot();
  time_passes(7 * EPOCH);
  given_use(object, SIZE);
  time_passes(EPOCH);
  CHECK_EQUAL(last_access(object), in_units(given_monotonic_ns));
  CHECK_EQUAL(gaps(), 1);
  CHECK_EQUAL(evidence().gaps.weight[duration_bucket(7 * EPOCH)], 1);
}

/* An epoch that is void shows which objects were accessed, but not which were idle. */
CASE(a_void_epoch_is_not_counted) {
  void *object = object_in_slot();
  time_passes(2 * EPOCH);
  uint64_t written = last_access(object), end = described().epoch_end_ns;
  kernel_clears = true;
  time_passes(3 * EPOCH);
  CHECK_EQUAL(described().void_epochs, 3);
  CHECK_EQUAL(described().epoch_end_ns, end);
  CHECK_EQUAL(last_access(object), written);
  given_use(object, SIZE);
  time_passes(EPOCH);
  CHECK_EQUAL(described().void_epochs, 4);
  CHECK_EQUAL(last_access(object), in_units(given_monotonic_ns));
  CHECK_EQUAL(gaps(), 0);
  kernel_clears = false;
  time_passes(EPOCH);
  CHECK_EQUAL(described().void_epochs, 4);
  CHECK_EQUAL(described().epoch_end_ns, in_units(given_monotonic_ns));
}

static void *object_to_read;
static unsigned readings_of_slots;
static uint64_t reading_takes_ns;

static void reads_slots(void) {
  given_monotonic_ns += reading_takes_ns;
  if (object_to_read) given_use(object_to_read, SIZE);
  readings_of_slots++;
}

/* An access by the library itself to an object in a slot must not count. An access by the program in the same epoch
 * must count. */
CASE(slots_are_read_by_the_library_after_a_look) {
  void *object = object_to_read = object_in_slot();
  time_passes(3 * EPOCH);
  uint64_t written = last_access(object);
  observation_read_slots(reads_slots);
  time_passes(EPOCH / 2);
  CHECK(readings_of_slots == 0 && observation_looks());
  time_passes(EPOCH / 2);
  CHECK_EQUAL(readings_of_slots, 1);
  CHECK(!observation_does_not_read_slots());
  CHECK_EQUAL(described().void_epochs, 0);
  CHECK_EQUAL(described().epoch_end_ns, in_units(given_monotonic_ns));
  time_passes(3 * EPOCH);
  CHECK_EQUAL(readings_of_slots, 1);
  CHECK_EQUAL(described().void_epochs, 0);
  CHECK_EQUAL(described().epoch_end_ns, in_units(given_monotonic_ns));
  CHECK_EQUAL(last_access(object), written);
  CHECK_EQUAL(gaps(), 0);
  given_use(object, SIZE);
  observation_read_slots(reads_slots);
  time_passes(EPOCH);
  CHECK_EQUAL(last_access(object), in_units(given_monotonic_ns));
}

/* While the library reads slots, it misses accesses by the program. If it reads for an eighth of an epoch, the epoch
 * must be void. */
CASE(an_epoch_is_void_if_the_library_reads_slots_for_long) {
  object_to_read = object_in_slot();
  time_passes(3 * EPOCH);
  uint64_t end = described().epoch_end_ns;
  reading_takes_ns = EPOCH / 8;
  observation_read_slots(reads_slots);
  time_passes(EPOCH);
  CHECK_EQUAL(readings_of_slots, 1);
  CHECK_EQUAL(described().void_epochs, 1);
  CHECK_EQUAL(described().epoch_end_ns, end);
}

CASE(slots_are_read_at_once_while_the_thread_rests) {
  CHECK(!observation_looks());
  object_in_slot();
  CHECK_EQUAL(observation_stop(), 0);
  time_passes(0);
  observation_read_slots(reads_slots);
  time_passes(0);
  CHECK_EQUAL(readings_of_slots, 1);
}

CASE(a_reading_of_slots_is_taken_back) {
  start();
  observation_read_slots(reads_slots);
  CHECK(observation_does_not_read_slots());
  time_passes(2 * EPOCH);
  CHECK_EQUAL(readings_of_slots, 0);
  CHECK_EQUAL(described().void_epochs, 0);
}

static const void *object_to_replace, *fresh;

static void another_thread_replaces_the_object(void) {
  uses_of_an_epoch();
  if (fresh) return;
  deallocate(object_to_replace);
  fresh = allocate();
}

CASE(a_new_object_is_not_taken_for_the_one_before_in_its_slot) {
  object_to_replace = object_in_slot();
  time_passes(3 * EPOCH);
  uint64_t born = given_monotonic_ns + EPOCH;
  given_uses = another_thread_replaces_the_object;
  time_passes(3 * EPOCH);
  CHECK(fresh && slot_number(fresh) == slot_number(object_to_replace));
  CHECK_EQUAL(last_access(fresh), in_units(born));
  CHECK_EQUAL(gaps(), 0);
  CHECK(evidence().placed == 2 && evidence().freed == 1);
  CHECK_EQUAL(evidence().idle_before_free.weight[duration_bucket(3 * EPOCH)], 1);
  CHECK_EQUAL(described().retired, 0);
}

/* Unmaps the object's pages, as glibc's own free does if a library calls it directly. */
CASE(an_object_whose_pages_are_gone_is_retired) {
  void *object = object_in_slot();
  time_passes(EPOCH);
  given_unmap(object, SIZE);
  time_passes(EPOCH);
  CHECK_EQUAL(described().retired, 1);
  CHECK_EQUAL(described().slots_in_use[0], 0);
  struct mallometer_site site;
  CHECK_EQUAL(call_sites_copy(&site, 1, 0), 1);
  CHECK_EQUAL(site.freed.samples, 1);
  struct slot_object left;
  CHECK(!placement_take_out(object, &left));
  void *next = allocate();
  CHECK(next && next != object);
}

/* Locks the object's pages. Locked pages always read as accessed, so the last access must be reported as unknown. */
CASE(an_object_whose_use_cannot_be_seen_is_nothing_known_of) {
  void *object = object_in_slot();
  time_passes(EPOCH);
  given_lock(object, SIZE, true);
  given_use(object, SIZE);
  time_passes(2 * EPOCH);
  CHECK(row().placement == 0 && row().last_access_ns == 0);
  given_lock(object, SIZE, false);
  time_passes(EPOCH);
  CHECK(row().placement > 0);
  CHECK_EQUAL(row().last_access_ns, in_units(given_monotonic_ns));
  time_passes(EPOCH);
  CHECK_EQUAL(last_access(object), in_units(given_monotonic_ns - EPOCH));
}

/* ---- Readings that fail -------------------------------------------------------------------------------- */

static void fail_readings(unsigned count, int error) {
  given_failing_readings = count;
  given_error = error;
}

CASE(a_reading_that_fails_for_the_moment_is_tried_again) {
  void *object = object_in_slot();
  time_passes(2 * EPOCH);
  uint64_t epochs = described().epochs, written = last_access(object);
  fail_readings(5, EMFILE);
  for (unsigned i = 0; i < 5; i++) {
    time_passes(EPOCH);
    check_state(MALLOMETER_LEAKS_ON, "accesses are not seen: the process has no file descriptor left (RLIMIT_NOFILE)");
    CHECK_EQUAL(described().epochs, epochs);
  }
  time_passes(EPOCH);
  check_state(MALLOMETER_LEAKS_ON, "");
  CHECK_EQUAL(described().epochs, epochs + 1);
  CHECK_EQUAL(described().epoch_end_ns, in_units(given_monotonic_ns));
  CHECK_EQUAL(last_access(object), written);
}

/* The epoch must continue while readings fail. The first reading that succeeds must show the access. */
CASE(a_use_while_readings_fail_is_seen_later) {
  void *object = object_in_slot();
  time_passes(2 * EPOCH);
  fail_readings(3, ENOMEM);
  given_use(object, SIZE);
  time_passes(3 * EPOCH);
  check_state(MALLOMETER_LEAKS_ON, "the kernel has no memory for the reading");
  time_passes(EPOCH);
  CHECK_EQUAL(last_access(object), in_units(given_monotonic_ns));
}

CASE(two_failures_in_a_row_are_not_for_good) {
  start();
  for (unsigned i = 0; i < 4; i++) {
    fail_readings(2, EACCES);
    time_passes(2 * EPOCH);
    check_state(MALLOMETER_LEAKS_ON, "the reading failed, and is tried again");
    time_passes(EPOCH);
    check_state(MALLOMETER_LEAKS_ON, "");
  }
}

CASE(three_failures_in_a_row_are) {
  start();
  become_recurring();
  fail_readings(3, EACCES);
  time_passes(2 * EPOCH);
  check_state(MALLOMETER_LEAKS_ON, "is tried again");
  time_passes(EPOCH);
  check_state(MALLOMETER_LEAKS_FAILED, "the given use can no longer be read");
  CHECK(!allocate());
  CHECK_EQUAL(observation_stop(), 0);
  CHECK_EQUAL(observation_start(NULL), 0);
  check_state(MALLOMETER_LEAKS_FAILED, "the given use can no longer be read");
}

/* ---- The start of the observation ---------------------------------------------------------------------- */

static void start_that_fails(const char *reason) {
  begin();
  CHECK_EQUAL(observation_start(NULL), 0);
  thread_goes_on();
  check_state(MALLOMETER_LEAKS_FAILED, reason);
  CHECK(!allocate() && !slots_are_accepted());
}

CASE(what_is_in_the_way_is_said) {
  begin();
  CHECK_EQUAL(observation_start("mallocs are another's"), 0);
  check_state(MALLOMETER_LEAKS_FAILED, "mallocs are another's");
}

CASE(a_limit_is_the_programs) {
  given_limit = "addresses are limited";
  start_that_fails(given_limit);
}

CASE(a_trial_that_fails_is_the_reason) {
  given_trial_of_slots = "this glibc is another";
  start_that_fails(given_trial_of_slots);
}

CASE(where_uses_cannot_be_read_the_start_fails) {
  fail_readings(100, EACCES);
  start_that_fails("the given use cannot be read (error 13)");
}

/* The start tests whether accessed bits can be read. The second and the third reading fail, so the library must
 * repeat the test, which then succeeds. */
CASE(where_uses_can_be_read_at_last_the_start_does_not_fail) {
  given_readings_before = 1;
  fail_readings(2, EACCES);
  start();
}

CASE(where_uses_cannot_be_cleared_the_start_fails) {
  given_clearing_refused = true;
  start_that_fails("accessed bits cannot be cleared: clearing some fails");
}

CASE(all_uses_are_cleared_where_that_is_wanted) {
  given_clearing_refused = true;
  observation_configure(LEAKS_WANTED_BY_CLEAR_REFS, DEFAULT_ARENA_BYTES);
  void *object = object_in_slot();
  CHECK_EQUAL(described().method, MALLOMETER_LEAKS_BY_CLEAR_REFS);
  time_passes(5 * EPOCH);
  CHECK_EQUAL(last_access(object), in_units(given_monotonic_ns - 4 * EPOCH));
}

CASE(canaries_that_never_read_as_used_fail_the_start) {
  kernel_clears = true;
  start_that_fails("the kernel does not report a page that was accessed as accessed");
}

CASE(without_a_thread_it_can_be_tried_again) {
  begin();
  given_threads_refused = true;
  CHECK_EQUAL(observation_start(NULL), -EAGAIN);
  check_state(MALLOMETER_LEAKS_OFF, "a thread cannot be started");
  CHECK_EQUAL(observation_stop(), -ENODATA);
  given_threads_refused = false;
  CHECK_EQUAL(observation_start(NULL), 0);
  thread_goes_on();
  check_state(MALLOMETER_LEAKS_ON, "");
}

static int without_memory_it_fails_or_observes(unsigned request) {
  begin();
  refuse_memory_request(request);
  CHECK_EQUAL(observation_start(NULL), 0);
  thread_goes_on();
  bool refused = memory_was_refused();
  refuse_memory_request(0);
  if (described().state == MALLOMETER_LEAKS_ON) {
    become_recurring();
    CHECK(allocate());
  } else {
    CHECK(described().state == MALLOMETER_LEAKS_FAILED && *described().reason);
    time_passes(10 * EPOCH);
    CHECK(!allocate() && !slots_are_accepted());
  }
  return refused ? REACHED : NOT_REACHED;
}

/* ---- Stops and restarts -------------------------------------------------------------------------------- */

CASE(nothing_is_looked_at_while_nobody_asks) {
  void *object = object_in_slot();
  used[0] = object;
  time_passes(EPOCH);
  uint64_t seen = last_access(object), epochs = described().epochs;
  CHECK_EQUAL(observation_stop(), 0);
  check_state(MALLOMETER_LEAKS_OFF, "leak observation was stopped");
  time_passes(100 * EPOCH);
  CHECK_EQUAL(described().epochs, epochs);
  CHECK_EQUAL(last_access(object), seen);
  CHECK(!allocate() && observation_has_evidence());
  deallocate(object);
  CHECK_EQUAL(evidence().idle_before_free.count, 0); /* unknown, because observation was stopped */
  CHECK_EQUAL(observation_stop(), -ENODATA);
}

/* Objects in slots count as accessed when observation starts again. */
CASE(after_a_rest_all_begins_anew) {
  void *object = object_in_slot();
  time_passes(3 * EPOCH);
  CHECK_EQUAL(observation_stop(), 0);
  time_passes(100 * EPOCH);
  CHECK_EQUAL(observation_start(NULL), 0);
  check_state(MALLOMETER_LEAKS_STARTING, "");
  time_passes(0);
  check_state(MALLOMETER_LEAKS_ON, "");
  uint64_t again = given_monotonic_ns;
  CHECK_EQUAL(described().started_ns, in_units(again));
  CHECK_EQUAL(described().epochs, 0);
  CHECK_EQUAL(last_access(object), in_units(again));
  time_passes(5 * EPOCH);
  CHECK_EQUAL(described().epochs, 5);
  CHECK_EQUAL(last_access(object), in_units(again));
  CHECK(allocate());
}

CASE(who_asks_while_another_does_is_no_other_start) {
  start();
  time_passes(2 * EPOCH);
  CHECK_EQUAL(observation_start(NULL), 0);
  CHECK_EQUAL(observation_stop(), 0);
  time_passes(EPOCH);
  check_state(MALLOMETER_LEAKS_ON, "");
  CHECK_EQUAL(described().epochs, 3);
}

/* A stop must have no effect if observation is started again before its thread has noticed the stop. */
CASE(a_rest_that_ends_before_it_began_is_none) {
  start();
  time_passes(2 * EPOCH);
  CHECK(observation_stop() == 0 && observation_start(NULL) == 0);
  time_passes(EPOCH);
  check_state(MALLOMETER_LEAKS_ON, "");
  CHECK_EQUAL(described().epochs, 3);
}

CASE(a_forked_child_does_not_observe) {
  void *object = object_in_slot();
  observation_forked();
  check_state(MALLOMETER_LEAKS_FAILED, "a forked child observes no objects");
  CHECK(!allocate());
  deallocate(object);
  CHECK_EQUAL(described().slots_in_use[0], 0);
}

/* ---- Room for slots ------------------------------------------------------------------------------------ */

CASE(slots_take_a_share_of_what_is_resident) {
  given_resident_bytes = 100 * MEBIBYTE;
  start();
  CHECK_EQUAL(described().limit_bytes, 5 * MEBIBYTE);
  given_resident_bytes = 100000 * MEBIBYTE;
  time_passes(EPOCH);
  CHECK_EQUAL(described().limit_bytes, DEFAULT_ARENA_BYTES);
  given_resident_bytes = UINT64_MAX; /* unknown */
  time_passes(EPOCH);
  CHECK_EQUAL(described().limit_bytes, MEBIBYTE);
}

/* Placement in slots must stop when the process has three quarters of the mappings that the kernel allows. Placement
 * must resume when the process has less than half of them. */
CASE(a_crowded_process_has_no_room_until_it_has_half) {
  void *object = object_in_slot();
  void *freed = allocate();
  CHECK(freed);
  deallocate(freed);
  time_passes(EPOCH);
  CHECK_EQUAL(slots_totals().apart, 2);
  given_mappings = given_most_mappings * 4 / 5;
  time_passes(EPOCH);
  check_state(MALLOMETER_LEAKS_ON, "most of the mappings");
  CHECK_EQUAL(described().limit_bytes, 0);
  CHECK_EQUAL(slots_totals().apart, 1); /* the free slot has no mapping of its own any more */
  CHECK(!allocate());
  used[0] = object; /* this object must still be observed */
  given_mappings = given_most_mappings * 3 / 5;
  time_passes(EPOCH);
  CHECK_EQUAL(last_access(object), in_units(given_monotonic_ns));
  check_state(MALLOMETER_LEAKS_ON, "most of the mappings");
  given_mappings = given_most_mappings * 2 / 5;
  time_passes(EPOCH);
  check_state(MALLOMETER_LEAKS_ON, "");
  CHECK(allocate());
}

/* A slot (pages of one sampled object) takes two mappings. Slots are opened only until the process has half of the
 * allowed mappings. The rest is for the program. */
CASE(no_more_slots_are_opened_than_there_are_mappings_for) {
  given_most_mappings = 1000;
  given_mappings = 500 - 2 * 3;
  start();
  become_recurring();
  for (unsigned i = 0; i < 3; i++) CHECK(allocate());
  CHECK(!allocate());
  CHECK_EQUAL(slots_totals().apart, 3);
  uint64_t not_placed = described().not_placed;
  CHECK(not_placed > 0);
  given_mappings = 600;
  time_passes(EPOCH);
  CHECK(!allocate() && described().not_placed > not_placed);
}

CASE(a_process_that_locks_its_memory_has_no_room_meanwhile) {
  start();
  become_recurring();
  given_lock_of_all = true;
  time_passes(EPOCH);
  check_state(MALLOMETER_LEAKS_ON, "locks its memory (mlockall)");
  CHECK(!allocate());
  given_lock_of_all = false;
  time_passes(EPOCH);
  check_state(MALLOMETER_LEAKS_ON, "");
  CHECK(allocate());
}

int main(int argc, char **argv) {
  take_arguments(argc, argv);
  RUN(epochs_end_by_the_given_clock);
  RUN(epochs_become_shorter_at_once);
  RUN(epochs_are_longer_where_looks_take_longer);
  RUN(where_epochs_would_last_more_than_a_minute_nothing_is_placed);
  RUN(an_object_that_is_never_used_becomes_idle);
  RUN(an_object_that_is_used_in_every_epoch_does_not);
  RUN(a_site_that_keeps_objects_gets_more_slots);
  RUN(one_of_many_is_told_from_the_others);
  RUN(an_object_that_is_used_again_has_a_gap);
  RUN(a_void_epoch_is_not_counted);
  RUN(slots_are_read_by_the_library_after_a_look);
  RUN(an_epoch_is_void_if_the_library_reads_slots_for_long);
  RUN(slots_are_read_at_once_while_the_thread_rests);
  RUN(a_reading_of_slots_is_taken_back);
  RUN(a_new_object_is_not_taken_for_the_one_before_in_its_slot);
  RUN(an_object_whose_pages_are_gone_is_retired);
  RUN(an_object_whose_use_cannot_be_seen_is_nothing_known_of);
  RUN(a_reading_that_fails_for_the_moment_is_tried_again);
  RUN(a_use_while_readings_fail_is_seen_later);
  RUN(two_failures_in_a_row_are_not_for_good);
  RUN(three_failures_in_a_row_are);
  RUN(what_is_in_the_way_is_said);
  RUN(a_limit_is_the_programs);
  RUN(a_trial_that_fails_is_the_reason);
  RUN(where_uses_cannot_be_read_the_start_fails);
  RUN(where_uses_can_be_read_at_last_the_start_does_not_fail);
  RUN(where_uses_cannot_be_cleared_the_start_fails);
  RUN(all_uses_are_cleared_where_that_is_wanted);
  RUN(canaries_that_never_read_as_used_fail_the_start);
  RUN(without_a_thread_it_can_be_tried_again);
  CHECK(at_each_point(without_memory_it_fails_or_observes) > 4);
  RUN(nothing_is_looked_at_while_nobody_asks);
  RUN(after_a_rest_all_begins_anew);
  RUN(who_asks_while_another_does_is_no_other_start);
  RUN(a_rest_that_ends_before_it_began_is_none);
  RUN(a_forked_child_does_not_observe);
  RUN(slots_take_a_share_of_what_is_resident);
  RUN(a_crowded_process_has_no_room_until_it_has_half);
  RUN(no_more_slots_are_opened_than_there_are_mappings_for);
  RUN(a_process_that_locks_its_memory_has_no_room_meanwhile);
  return 0;
}
