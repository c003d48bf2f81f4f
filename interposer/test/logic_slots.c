/*
 * Tests slots: memory pages of their own for observed objects. On the test platform (platform/given.h), the cases
 * refuse each request for memory in turn, and let another thread interrupt the use of a slot at each point. They run
 * with pages of 4, 16, 64 and 128 KiB; the largest are too large for slots.
 */
#include <errno.h>

#include "leak/slots.h"
#include "platform/given.h"

enum { SITE = 5, OTHER_SITE = 6, SIZE = 1000, LARGEST_CLASS = MALLOMETER_SLOT_CLASSES - 1 };

static void *take(size_t size, uint32_t site) {
  struct slot_request request = {
      .size = size, .alignment = 16, .usable = size, .placement = 0.5, .sample = {site, 0, 1, size}};
  return slot_take(&request);
}

static bool put_back(const void *object) {
  struct slot_object left;
  if (!slot_remove(object, &left)) return false;
  slot_give_back(&left);
  return true;
}

static void start(void) {
  CHECK(!slots_start());
  slots_bound(SLOTS);
  slots_accept(true);
}

static uint32_t slots_in_use(void) {
  uint32_t sum = 0;
  for (unsigned i = 0; i < MALLOMETER_SLOT_CLASSES; i++) sum += slots_totals().in_use[i];
  return sum;
}

/* ---- Pages and memory ---------------------------------------------------------------------------------- */

CASE(larger_pages_are_refused_and_nothing_is_in_a_slot) {
  given_page_bytes = 128 << 10;
  CHECK(strcmp(slots_start(), "pages are larger than 64 KiB") == 0);
  CHECK_EQUAL(memory_taken(), 0);
  CHECK(slots_reserved() == 0 && slots_footprint() == 0 && !slots_pages_before());
  CHECK(!is_in_slots(given_range) && !is_in_slots(NULL) && !is_in_slots((void *)UINTPTR_MAX));
  CHECK_EQUAL(slot_usable(given_range), 0);
  CHECK_EQUAL(slots_totals().slots[0], 0);
}

static void *first_address(void) { return slots_pages_before() + PAGES_BEFORE_SLOTS * given_page_bytes; }

static int a_refused_range_is_given_back(unsigned request) {
  refuse_memory_request(request);
  const char *why = slots_start();
  if (!memory_was_refused()) {
    CHECK(!why);
    return NOT_REACHED;
  }
  if (why) {
    CHECK_EQUAL(memory_taken(), 0);
    CHECK(slots_reserved() == 0 && !is_in_slots(given_range + (1 << 20)));
    CHECK(!slots_start());
  }
  CHECK(is_in_slots(first_address()));
  return REACHED;
}

static size_t class_bytes(uint32_t class) {
  static const size_t usual[MALLOMETER_SLOT_CLASSES] = {4 << 10, 64 << 10, 1 << 20, 16 << 20};
  size_t of_pages = class == 0 ? given_page_bytes : class == 1 ? 4 * given_page_bytes : 0;
  return usual[class] > of_pages ? usual[class] : of_pages;
}

static void objects_fill_their_classes(void) {
  start();
  for (uint32_t class = 0; class <= LARGEST_CLASS; class ++) {
    size_t most = class_bytes(class) - 48; /* 48 bytes are used before and after the object */
    CHECK_EQUAL(slot_class(most, 16), class);
    CHECK_EQUAL(slot_class(most + 1, 16), class + 1);
    unsigned char *object = take(most, SITE);
    CHECK(object && slot_number(object) == slot_number(object + most - 1));
    CHECK_EQUAL(slot_opened(slot_number(object)), class_bytes(class));
    CHECK_EQUAL((uintptr_t)object % given_page_bytes, 16);
    memset(object, 7, most);
  }
  CHECK_EQUAL(slots_excess(), MALLOMETER_SLOT_CLASSES * 48);
}

CASE(each_class_holds_as_much_as_its_slots_have) { objects_fill_their_classes(); }

/* The number of slots of the largest class: MANY_LARGE with enough address space, and FEW_LARGE with little. With
 * pages of 64 KiB it is always FEW_LARGE. */
enum { MANY_LARGE = 24, FEW_LARGE = 8 };

CASE(all_slots_are_there_if_there_is_room) {
  start();
  CHECK(slots_reserved() <= given_range_bytes);
  CHECK_EQUAL(slots_totals().slots[LARGEST_CLASS], given_page_bytes > 16384 ? FEW_LARGE : MANY_LARGE);
}

CASE(where_there_is_less_room_there_are_fewer_large_slots) {
  if (given_page_bytes <= 16384) given_range_bytes = (size_t)460 << 20;
  objects_fill_their_classes();
  CHECK_EQUAL(slots_totals().slots[LARGEST_CLASS], FEW_LARGE);
}

CASE(without_room_there_are_no_slots) {
  given_range_bytes = (size_t)200 << 20;
  CHECK(slots_start());
  CHECK(memory_taken() == 0 && slots_reserved() == 0);
}

static int a_refused_page_loses_no_slot(unsigned request) {
  start();
  uint32_t slots_before = slots_totals().slots[0];
  refuse_memory_request(request);
  for (uint32_t class = 0; class <= LARGEST_CLASS; class ++) {
    size_t size = class_bytes(class) / 2 + 1;
    unsigned refusals = memory_was_refused();
    errno = 4711;
    void *object = take(size, SITE);
    CHECK_EQUAL(errno, 4711);
    if (!object) {
      CHECK(memory_was_refused() && !refusals);
      CHECK_EQUAL(slots_in_use(), 0);
      object = take(size, SITE);
    }
    CHECK(object && is_in_slots(object));
    CHECK_EQUAL(slot_class(size, 16), class);
    CHECK_EQUAL(slot_usable(object), size);
    memset(object, 7, size);
    CHECK(put_back(object));
  }
  CHECK_EQUAL(slots_in_use(), 0);
  CHECK_EQUAL(slots_excess(), 0);
  CHECK_EQUAL(slots_totals().taken_bytes, 0);
  CHECK_EQUAL(slots_totals().slots[0], slots_before);
  return memory_was_refused() ? REACHED : NOT_REACHED;
}

CASE(an_object_finds_its_pages_cleared) {
  start();
  for (unsigned round = 0; round < 3; round++) {
    unsigned char *object = take(SIZE, SITE);
    for (size_t i = 0; i < SIZE; i++) CHECK_EQUAL(object[i], 0);
    memset(object, 0xff, SIZE);
    CHECK(put_back(object));
  }
}

CASE(no_more_slots_are_opened_than_the_bound) {
  start();
  slots_bound(3);
  void *objects[3];
  for (unsigned i = 0; i < 3; i++) CHECK((objects[i] = take(SIZE, SITE)));
  CHECK(!take(SIZE, SITE));
  CHECK(slots_left(0) == 0);
  CHECK(put_back(objects[1]));
  CHECK(take(SIZE, SITE) == objects[1]);
  CHECK_EQUAL(slots_totals().apart, 3);
}

CASE(a_full_class_leaves_the_others) {
  start();
  uint32_t slots = slots_totals().slots[LARGEST_CLASS];
  for (uint32_t i = 0; i < slots; i++) CHECK(take(2 << 20, SITE));
  CHECK(!take(2 << 20, SITE));
  CHECK(take(SIZE, SITE));
}

static int merged_slots_can_be_taken_again(unsigned request) {
  enum { OBJECTS = 10 };
  void *objects[OBJECTS];
  start();
  for (unsigned i = 0; i < OBJECTS; i++) objects[i] = take(SIZE, SITE);
  for (unsigned i = 0; i < OBJECTS; i++) {
    if (i != 4) CHECK(put_back(objects[i]));
  }
  refuse_memory_request(request);
  slots_merge();
  bool refused = memory_was_refused();
  refuse_memory_request(0);
  if (!refused) CHECK_EQUAL(slots_totals().apart, 1);
  for (unsigned i = 0; i < OBJECTS - 1; i++) {
    unsigned char *object = take(SIZE, OTHER_SITE);
    CHECK(object && object != objects[4]);
    CHECK_EQUAL(object[0], 0);
  }
  CHECK_EQUAL(slots_in_use(), OBJECTS);
  return refused ? REACHED : NOT_REACHED;
}

/* ---- Concurrent threads -------------------------------------------------------------------------------- */

static void *object, *of_other;
static bool other_did;

static void another_frees_it(void) { other_did = put_back(object); }

static int an_object_is_freed_once(unsigned point) {
  start();
  object = take(SIZE, SITE);
  interrupt_at(point, another_frees_it);
  bool did = put_back(object);
  if (!was_interrupted()) return NOT_REACHED;
  CHECK(did != other_did);
  CHECK_EQUAL(slots_in_use(), 0);
  CHECK_EQUAL(slots_excess(), 0);
  void *first = take(SIZE, SITE), *second = take(SIZE, SITE);
  CHECK(first && second && first != second);
  return REACHED;
}

static void another_frees_and_takes(void) {
  CHECK(put_back(object));
  of_other = take(2 * SIZE, OTHER_SITE);
}

/* Another thread replaces a slot's object while its description is read. The reader must get the values of one
 * object, or none. */
static int a_look_sees_one_object(unsigned point) {
  start();
  object = take(SIZE, SITE);
  struct slot_object seen;
  interrupt_at(point, another_frees_and_takes);
  bool is_seen = slot_read(slot_number(object), &seen);
  if (!was_interrupted()) return NOT_REACHED;
  CHECK(slot_number(of_other) == slot_number(object));
  if (is_seen) {
    CHECK_EQUAL(seen.sample.bytes, seen.sample.site == SITE ? SIZE : 2 * SIZE);
    CHECK_EQUAL(seen.generation, seen.sample.site == SITE ? 1 : 2);
  }
  return REACHED;
}

static struct slot_object looked_at;

/* Another thread replaces an object while the time of its access is stored. The new object must not get this time. */
static int a_touch_is_not_the_next_objects(unsigned point) {
  start();
  given_monotonic_ns = (uint64_t)1000 << SLOT_TIME_SHIFT;
  object = take(SIZE, SITE);
  CHECK(slot_read(slot_number(object), &looked_at));
  given_monotonic_ns = (uint64_t)2000 << SLOT_TIME_SHIFT;
  interrupt_at(point, another_frees_and_takes);
  slot_touched(&looked_at, 1500);
  slot_show(&looked_at, false);
  if (!was_interrupted()) {
    CHECK(slot_read(slot_number(object), &looked_at));
    CHECK_EQUAL(looked_at.last_access, 1500);
    CHECK(looked_at.unseen);
    return NOT_REACHED;
  }
  CHECK(slot_read(slot_number(of_other), &looked_at));
  CHECK_EQUAL(looked_at.last_access, 2000);
  CHECK_EQUAL(looked_at.born, 2000);
  CHECK(!looked_at.unseen);
  return REACHED;
}

static void another_retires_it(void) { other_did = slot_retire(&looked_at); }

static int an_object_is_freed_or_retired(unsigned point) {
  start();
  object = take(SIZE, SITE);
  CHECK(slot_read(slot_number(object), &looked_at));
  interrupt_at(point, another_retires_it);
  bool did = put_back(object);
  if (!was_interrupted()) return NOT_REACHED;
  CHECK(did != other_did);
  CHECK_EQUAL(slots_totals().retired, other_did);
  CHECK_EQUAL(slots_in_use(), 0);
  CHECK_EQUAL(slots_totals().taken_bytes, 0);
  CHECK((take(SIZE, SITE) == object) == did);
  return REACHED;
}

static void another_takes_two_and_keeps_one(void) {
  void *first = take(SIZE, OTHER_SITE);
  of_other = take(SIZE, OTHER_SITE);
  CHECK(put_back(first));
}

static int no_slot_has_two_objects(unsigned point) {
  enum { FREE_SLOTS = 3 };
  void *objects[FREE_SLOTS];
  start();
  for (unsigned i = 0; i < FREE_SLOTS; i++) objects[i] = take(SIZE, SITE);
  for (unsigned i = 0; i < FREE_SLOTS; i++) CHECK(put_back(objects[i]));
  interrupt_at(point, another_takes_two_and_keeps_one);
  void *own = take(SIZE, SITE);
  if (!was_interrupted()) return NOT_REACHED;
  CHECK(own && own != of_other);
  void *next = take(SIZE, SITE), *after = take(SIZE, SITE);
  CHECK(next && next != own && next != of_other && after && after != own && after != of_other && after != next);
  CHECK_EQUAL(slots_in_use(), 4);
  return REACHED;
}

int main(int argc, char **argv) {
  take_arguments(argc, argv);
  RUN(larger_pages_are_refused_and_nothing_is_in_a_slot);
  RUN(each_class_holds_as_much_as_its_slots_have);
  RUN(all_slots_are_there_if_there_is_room);
  RUN(where_there_is_less_room_there_are_fewer_large_slots);
  RUN(without_room_there_are_no_slots);
  CHECK(at_each_point(a_refused_range_is_given_back) >= 2);
  CHECK(at_each_point(a_refused_page_loses_no_slot) >= MALLOMETER_SLOT_CLASSES);
  RUN(an_object_finds_its_pages_cleared);
  RUN(no_more_slots_are_opened_than_the_bound);
  RUN(a_full_class_leaves_the_others);
  CHECK(at_each_point(merged_slots_can_be_taken_again) >= 2);
  CHECK(at_each_point(an_object_is_freed_once) > 4);
  CHECK(at_each_point(a_look_sees_one_object) > 3);
  CHECK(at_each_point(a_touch_is_not_the_next_objects) >= 1);
  CHECK(at_each_point(an_object_is_freed_or_retired) > 4);
  CHECK(at_each_point(no_slot_has_two_objects) >= 3);
  return 0;
}
