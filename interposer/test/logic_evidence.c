/* Tests which sampled objects are placed on memory pages of their own (slots), and which lifetimes and times between
 * accesses are recorded for each call site. On the test platform (platform/given.h), the test sets the clock. */
#include "account/thread_block.h"
#include "leak/evidence.h"
#include "leak/placement.h"
#include "platform/given.h"
#include "sample/call_sites.h"

#define MEBIBYTE ((size_t)1 << 20)
#define BEGIN_NS (UINT64_C(1) << 44) /* a multiple of the unit of stored times (2^SLOT_TIME_SHIFT ns) */

/* The first call site gets the number 0. */
enum { SITE = 0, SIZE = 100 };

static char stack[65536], objects_of_allocator[SIZE];
static struct mallometer_site_evidence rows[MOST_SITES_WITH_EVIDENCE];

static void start_sites(void) {
  given_monotonic_ns = BEGIN_NS;
  given_stack = (struct own_stack){(uintptr_t)stack, (uintptr_t)stack + sizeof stack};
  current_block = &no_block_yet;
  CHECK(thread_block_acquire());
  native_stack_start(UNWIND_BY_FRAME_POINTERS);
  CHECK(!call_sites_start());
  call_sites_open();
}

static void start(void) {
  start_sites();
  CHECK(!slots_start());
  slots_bound(SLOTS);
  CHECK(placement_start());
  placement_limit(64 * MEBIBYTE);
  slots_accept(true);
}

/* Samples an object of the call site. Returns its address if it was placed on a page of its own (a slot), otherwise
 * NULL. */
static void *place(uint32_t site, double probability) {
  struct sample sample = {.block = current_block,
                          .object = objects_of_allocator,
                          .requested = SIZE,
                          .bytes = SIZE,
                          .move = {.alignment = 16, .contents = SIZE},
                          .origin = {(const char *)0x10000 + 64 * (size_t)site, stack + sizeof stack - 64},
                          .probability = probability};
  void *object = call_sites_record(&sample);
  return object != objects_of_allocator ? object : NULL;
}

/* Samples an object of the call site, and waits until the site is old enough for its later objects to get slots. */
static void become_old(uint32_t site) {
  CHECK(!place(site, 1));
  for (unsigned i = 0; i < EPOCHS_BEFORE_SLOTS; i++) placement_next_epoch();
}

static void take_out(const void *object) {
  struct slot_object left;
  CHECK(placement_take_out(object, &left));
  slot_give_back(&left);
}

static const struct mallometer_site_evidence *evidence(uint32_t site) {
  uint32_t count = evidence_copy(rows, MOST_SITES_WITH_EVIDENCE, 0);
  for (uint32_t i = 0; i < count; i++) {
    if (rows[i].site == site && rows[i].placed) return &rows[i];
  }
  CHECK(!"the site has no evidence");
  return NULL;
}

static void check_durations(const struct mallometer_durations *durations, uint32_t bucket, float weight,
                            uint64_t count) {
  CHECK_EQUAL(durations->count, count);
  for (uint32_t i = 0; i < MALLOMETER_DURATION_BUCKETS; i++) CHECK(durations->weight[i] == (i == bucket ? weight : 0));
}

/* ---- Lifetimes and idle times of objects --------------------------------------------------------------- */

/* A bucket begins at 1/64 s times a power of the square root of two. */
CASE(buckets_begin_where_they_should) {
  const uint64_t first = 15625000;
  CHECK_EQUAL(duration_bucket(0), 0);
  CHECK_EQUAL(duration_bucket(first - 1), 0);
  for (unsigned power = 0; 2 * power + 1 < MALLOMETER_DURATION_BUCKETS - 1; power++) {
    uint64_t begin = first << power, middle = (uint64_t)((double)begin * 1.4142135623730951);
    CHECK_EQUAL(duration_bucket(begin), 2 * power);
    CHECK_EQUAL(duration_bucket(middle - 2), 2 * power);
    CHECK_EQUAL(duration_bucket(middle + 2), 2 * power + 1);
    CHECK_EQUAL(duration_bucket(2 * begin - 1), 2 * power + 1);
  }
  CHECK_EQUAL(duration_bucket(UINT64_MAX), MALLOMETER_DURATION_BUCKETS - 1);
}

/* The object is not accessed for 0.5 s (bucket 10), then for 1 s before its free (bucket 12), and lives 2 s (bucket
 * 14). */
CASE(an_object_counts_by_its_age_and_its_idle_time) {
  start();
  become_old(SITE);
  void *object = place(SITE, 0.25);
  CHECK(object && is_in_slots(object));
  struct slot_object seen;
  CHECK(slot_read(slot_number(object), &seen));
  CHECK_EQUAL(seen.born << SLOT_TIME_SHIFT, BEGIN_NS);
  evidence_of_gap(&seen, 500000000);
  slot_touched(&seen, (BEGIN_NS + 1000000000) >> SLOT_TIME_SHIFT);
  given_monotonic_ns = BEGIN_NS + 2 * UINT64_C(1000013824); /* just over 2 s, because stored times are rounded down */
  take_out(object);
  const struct mallometer_site_evidence *of_site = evidence(SITE);
  CHECK_EQUAL(of_site->placed, 1);
  CHECK_EQUAL(of_site->freed, 1);
  check_durations(&of_site->lifetimes, 14, 4, 1);
  check_durations(&of_site->idle_before_free, 12, 4, 1);
  check_durations(&of_site->gaps, 10, 4, 1);
}

CASE(an_object_that_was_never_looked_at_has_only_lived) {
  start();
  become_old(SITE);
  void *object = place(SITE, 1);
  given_monotonic_ns += 15625000;
  take_out(object);
  check_durations(&evidence(SITE)->lifetimes, 0, 1, 1);
  CHECK_EQUAL(evidence(SITE)->idle_before_free.count, 0);
}

CASE(a_clock_that_went_back_makes_no_age) {
  start();
  become_old(SITE);
  void *object = place(SITE, 1);
  given_monotonic_ns -= 3600 * UINT64_C(1000000000);
  take_out(object);
  check_durations(&evidence(SITE)->lifetimes, 0, 1, 1);
}

/* ---- Limits -------------------------------------------------------------------------------------------- */

static int without_memory_nothing_is_placed(unsigned request) {
  start_sites();
  refuse_memory_request(request);
  bool started = placement_start();
  if (!memory_was_refused()) {
    CHECK(started);
    return NOT_REACHED;
  }
  CHECK(!started);
  CHECK(!place(SITE, 1));
  CHECK(placement_start());
  CHECK(evidence_footprint() > 0 && placement_footprint() > 0);
  return REACHED;
}

CASE(sites_without_room_for_evidence_are_not_placed) {
  start();
  for (uint32_t site = 0; site <= MOST_SITES_WITH_EVIDENCE; site++) CHECK(!place(site, 1));
  for (unsigned i = 0; i < EPOCHS_BEFORE_SLOTS; i++) placement_next_epoch();
  for (uint32_t site = 0; site < MOST_SITES_WITH_EVIDENCE; site++) {
    void *object = place(site, 1);
    CHECK(object);
    take_out(object);
  }
  CHECK(!place(MOST_SITES_WITH_EVIDENCE, 1));
  void *object = place(3, 1);
  CHECK(object);
  take_out(object);
  CHECK_EQUAL(evidence(3)->placed, 2);
  CHECK_EQUAL(placement_totals().placed, MOST_SITES_WITH_EVIDENCE + 1);
  CHECK_EQUAL(placement_totals().not_placed, 1);
}

CASE(a_site_waits_for_its_epochs) {
  start();
  for (unsigned i = 0; i < EPOCHS_BEFORE_SLOTS; i++) {
    CHECK(!place(SITE, 1));
    placement_next_epoch();
  }
  CHECK(place(SITE, 1));
}

/* The limit bounds slots_excess(): the size of the slots in use (the pages that hold one object each) minus the size
 * of the objects. */
CASE(the_limit_bounds_what_slots_take) {
  start();
  become_old(SITE);
  placement_limit(0);
  CHECK(!place(SITE, 1));
  placement_limit(20 * given_page_bytes);
  unsigned placed = 0;
  for (unsigned i = 0; i < 1000; i++) placed += place(SITE, 1) != NULL;
  CHECK(placed > 0 && slots_excess() <= 20 * given_page_bytes);
  CHECK_EQUAL(placement_totals().placed, placed);
}

/* ---- Concurrent threads -------------------------------------------------------------------------------- */

static void *of_other;

static void another_places_one(void) {
  of_other = place(SITE, 1);
  CHECK(of_other);
}

/* A call site's first objects are placed by two threads. Each thread may add a row for the site, but both objects
 * must count in one row. */
static int two_that_meet_a_site_share_its_evidence(unsigned point) {
  start();
  become_old(SITE);
  interrupt_at(point, another_places_one);
  void *object = place(SITE, 1);
  if (!was_interrupted()) return NOT_REACHED;
  CHECK(object && object != of_other);
  take_out(object);
  take_out(of_other);
  CHECK_EQUAL(evidence(SITE)->placed, 2);
  CHECK_EQUAL(evidence(SITE)->freed, 2);
  check_durations(&evidence(SITE)->lifetimes, 0, 2, 2);
  return REACHED;
}

CASE(the_evidence_of_a_forgotten_site_gives_way) {
  enum { OF_SITE = 5, OF_LATER = OF_SITE + 2 * MOST_SITES };
  start();
  struct slot_object object = {.sample = {.site = OF_SITE, .probability = 1, .bytes = SIZE}, .placement = 1};
  struct slot_object later = object;
  later.sample.site = OF_LATER;
  evidence_of_placed(&object);
  evidence_of_freed(&object);
  evidence_of_placed(&later);
  CHECK_EQUAL(evidence_copy(rows, MOST_SITES_WITH_EVIDENCE, 0), 1);
  CHECK_EQUAL(rows->site, OF_LATER);
  CHECK_EQUAL(rows->placed, 1);
  CHECK_EQUAL(rows->freed, 0);
  CHECK_EQUAL(rows->lifetimes.count, 0);
  /* A free that belongs to the forgotten site must not count for the site that now has the row. */
  evidence_of_freed(&object);
  CHECK(!evidence_has_room(OF_SITE) && evidence_has_room(OF_LATER));
  evidence_copy(rows, MOST_SITES_WITH_EVIDENCE, 0);
  CHECK_EQUAL(rows->freed, 0);
}

int main(int argc, char **argv) {
  take_arguments(argc, argv);
  RUN(buckets_begin_where_they_should);
  RUN(an_object_counts_by_its_age_and_its_idle_time);
  RUN(an_object_that_was_never_looked_at_has_only_lived);
  RUN(a_clock_that_went_back_makes_no_age);
  CHECK_EQUAL(at_each_point(without_memory_nothing_is_placed), 2);
  RUN(sites_without_room_for_evidence_are_not_placed);
  RUN(the_evidence_of_a_forgotten_site_gives_way);
  RUN(a_site_waits_for_its_epochs);
  RUN(the_limit_bounds_what_slots_take);
  CHECK(at_each_point(two_that_meet_a_site_share_its_evidence) > 20);
  return 0;
}
