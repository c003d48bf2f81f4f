/*
 * Tests the search of memory for addresses of objects, which tells whether an object is still referenced. On the test
 * platform (platform/given.h), the test sets the process's mappings and threads, and decides when the searching
 * thread runs.
 */
#include <errno.h>

#include "account/thread_block.h"
#include "leak/observation.h"
#include "leak/search.h"
#include "leak/search_targets.h"
#include "platform/given.h"
#include "platform/mappings.h"
#include "platform/memory.h"
#include "platform/resident_memory.h"
#include "sample/live_samples.h"

enum {
  SITE = 3,
  OTHER_SITE = 4,
  BYTES = 104,
  LARGEST_PAGE = 65536,
  WORDS = 64 * LARGEST_PAGE / 8,
  READABLE = 1,
  WRITABLE = 2
};

static _Alignas(LARGEST_PAGE) uintptr_t memory[WORDS];
static struct mapping mapping;
static struct mallometer_searched searched;
static struct mallometer_sought rows[MOST_SEARCH_TARGETS];
static uint32_t count;
static const struct heap_parts *heap;

/* Returns the address of object `number`. There is no memory at this address. */
static const char *object(unsigned number) { return (const char *)0x7f0000000000 + number * (size_t)128; }

static void add(unsigned number, uint32_t site) {
  const struct live_sample sample = {.site = site, .born = number, .probability = 0.5, .bytes = BYTES};
  CHECK(live_sample_insert(object(number), &sample));
}

static void begin(void) {
  given_monotonic_ns = 1000000000;
  mapping = (struct mapping){(uintptr_t)memory, (uintptr_t)(memory + WORDS), READABLE | WRITABLE, true, false, false};
  given_rows = &mapping;
  given_row_count = 1;
  current_block = &no_block_yet;
  CHECK(live_samples_use(memory_reserve(live_samples_bytes())) != NULL);
}

static void describe(void) { count = search_describe(&searched, rows, MOST_SEARCH_TARGETS); }

static void search_up_to(uint64_t bytes) {
  const uint32_t site = SITE;
  CHECK_EQUAL(search_start(&site, 1, bytes, heap), 0);
  thread_goes_on();
  describe();
}

static void search(void) {
  search_up_to(UINT64_MAX);
  CHECK_EQUAL(searched.state, MALLOMETER_SEARCH_DONE);
}

/* ---- Words that count as addresses --------------------------------------------------------------------- */

static uint32_t references_by(uintptr_t word) {
  begin();
  add(0, SITE);
  memory[1000] = word;
  search();
  CHECK_EQUAL(count, 1);
  return rows[0].references;
}

static int word_points(unsigned number) {
  const uintptr_t at = (uintptr_t)object(0);
  const uintptr_t words[] = {at, at + 1, at + BYTES / 2, at + BYTES - 1, at | (uintptr_t)0xffff << 48};
  if (number > sizeof words / sizeof *words) return NOT_REACHED;
  CHECK_EQUAL(references_by(words[number - 1]), 1);
  return REACHED;
}

static int word_does_not_point(unsigned number) {
  const uintptr_t at = (uintptr_t)object(0);
  const uintptr_t words[] = {0, at - 1, at + BYTES, at + (UINT64_C(1) << 47), ~at, at >> 1, at << 16};
  if (number > sizeof words / sizeof *words) return NOT_REACHED;
  CHECK_EQUAL(references_by(words[number - 1]), 0);
  return REACHED;
}

CASE(words_are_counted_wherever_they_are) {
  begin();
  for (unsigned i = 0; i < 100; i++) add(i, i % 2 == 0 ? SITE : OTHER_SITE);
  memory[0] = memory[WORDS - 1] = memory[77777 % WORDS] = (uintptr_t)object(0);
  memory[13] = (uintptr_t)object(1);
  memory[14] = (uintptr_t)object(98) + 3;
  search();
  CHECK_EQUAL(count, 50);
  CHECK_EQUAL(searched.objects, 50);
  uint32_t sum = 0;
  for (uint32_t i = 0; i < count; i++) {
    sum += rows[i].references;
    CHECK_EQUAL(rows[i].site, SITE);
    CHECK_EQUAL(rows[i].bytes, BYTES);
    CHECK(rows[i].probability == 0.5 && !rows[i].freed);
    CHECK_EQUAL(rows[i].references, rows[i].born_ns == 0 ? 3 : rows[i].born_ns >> 24 == 98 ? 1 : 0);
  }
  CHECK_EQUAL(sum, 4);
  CHECK_EQUAL(searched.searched_bytes, sizeof memory);
  CHECK_EQUAL(searched.resident_bytes, sizeof memory);
}

CASE(an_address_in_the_object_itself_does_not_count) {
  begin();
  const struct live_sample sample = {.site = SITE, .bytes = BYTES};
  CHECK(live_sample_insert(&memory[2000], &sample));
  memory[2000] = memory[2000 + BYTES / 8 - 1] = (uintptr_t)&memory[2000];
  search();
  CHECK_EQUAL(rows[0].references, 0);
  memory[1999] = memory[2000 + BYTES / 8] = (uintptr_t)&memory[2000];
  search();
  CHECK_EQUAL(rows[0].references, 2);
  CHECK_EQUAL(searched.number, 2);
}

CASE(objects_that_leave_or_come_meanwhile_are_told_apart) {
  begin();
  add(0, SITE);
  add(1, SITE);
  add(2, SITE);
  const uint32_t site = SITE;
  given_while_copying = NULL;
  CHECK_EQUAL(search_start(&site, 1, UINT64_MAX, heap), 0);
  describe();
  CHECK_EQUAL(searched.state, MALLOMETER_SEARCH_RUNNING);
  CHECK_EQUAL(count, 0);
  CHECK_EQUAL(search_start(&site, 1, UINT64_MAX, heap), -EBUSY);
  thread_goes_on();
  live_sample_remove(object(0));
  describe();
  CHECK_EQUAL(count, 3);
}

static void remove_and_renew(void) {
  if (live_sample_remove(object(0)).site == NO_SITE) return;
  live_sample_remove(object(1));
  const struct live_sample another = {.site = SITE, .born = 99, .bytes = BYTES};
  CHECK(live_sample_insert(object(1), &another));
  add(5, SITE);
}

CASE(freed_objects_are_marked) {
  begin();
  for (unsigned i = 0; i < 3; i++) add(i, SITE);
  given_while_copying = remove_and_renew;
  search();
  CHECK_EQUAL(count, 3);
  for (unsigned i = 0; i < 3; i++) CHECK_EQUAL(rows[i].freed, i < 2);
}

/* The room for objects is divided equally between two call sites, so some of the first site's 6,000 objects must be
 * left out. */
CASE(more_objects_than_there_is_room_for_are_left_out) {
  begin();
  for (unsigned i = 0; i < 6000; i++) add(i, SITE);
  for (unsigned i = 6000; i < 6100; i++) add(i, OTHER_SITE);
  const uint32_t sites[] = {SITE, OTHER_SITE};
  CHECK_EQUAL(search_start(sites, 2, UINT64_MAX, heap), 0);
  thread_goes_on();
  describe();
  CHECK_EQUAL(searched.objects, MOST_SEARCH_TARGETS / 2 + 100);
  CHECK_EQUAL(searched.left_out, 6000 - MOST_SEARCH_TARGETS / 2);
  for (uint32_t i = 1; i < count; i++) CHECK(rows[i].id != rows[i - 1].id);
}

/* ---- A heap with free parts ---------------------------------------------------------------------------- */

static bool is_still, stays;

static bool begin_heap(enum memory_copying by) {
  (void)by;
  return is_still;
}

/* Implements heap_parts.used() for a heap in the first half of `memory`. The heap uses half a page in every three
 * pages: the first half of the first page. */
static uintptr_t used_part(enum memory_copying by, uintptr_t from, uintptr_t *to) {
  (void)by;
  uintptr_t part = from - (from - (uintptr_t)memory) % (3 * given_page_bytes), used = part + given_page_bytes / 2;
  if (from < (uintptr_t)memory || from >= (uintptr_t)(memory + WORDS / 2)) return *to;
  if (*to > part + 3 * given_page_bytes) *to = part + 3 * given_page_bytes;
  return used < from ? from : used < *to ? used : *to;
}

static bool is_unmoved(enum memory_copying by) {
  (void)by;
  return stays;
}

static uint32_t references_with(bool still_at_first, bool still_at_last) {
  is_still = still_at_first;
  stays = still_at_last;
  search();
  return rows[0].references;
}

/* Addresses in free parts of a heap must count only if the collector moved objects during the search. In that case
 * the search may have read a moved object at its old address only. */
CASE(words_in_free_parts_of_a_heap_count_if_objects_were_moved) {
  static const struct heap_parts parts = {begin_heap, used_part, is_unmoved};
  const size_t words = given_page_bytes / sizeof *memory;
  begin();
  add(0, SITE);
  memory[5] = memory[3 * words] = memory[3 * words + words / 2 - 1] = (uintptr_t)object(0);
  memory[words / 2] = memory[words] = memory[2 * words] = memory[6 * words - 1] = (uintptr_t)object(0);
  memory[WORDS - 1] = (uintptr_t)object(0);
  heap = &parts;
  CHECK_EQUAL(references_with(true, true), 4);
  CHECK_EQUAL(searched.searched_bytes, sizeof memory);
  CHECK_EQUAL(references_with(true, false), 8);
  CHECK_EQUAL(references_with(false, true), 8);
  heap = NULL;
  CHECK_EQUAL(references_with(true, true), 8);
}

/* ---- States of pages ----------------------------------------------------------------------------------- */

static uint8_t by_turns(uintptr_t address) {
  static const uint8_t states[] = {PAGE_IN_MEMORY, PAGE_UNTOUCHED, PAGE_SWAPPED, PAGE_UNTOUCHED};
  return states[(address - (uintptr_t)memory) / given_page_bytes % 4];
}

CASE(only_pages_in_memory_are_read) {
  begin();
  add(0, SITE);
  for (size_t page = 0; page < sizeof memory / given_page_bytes; page++) {
    memory[page * given_page_bytes / sizeof *memory] = (uintptr_t)object(0);
  }
  given_page_state = by_turns;
  search();
  CHECK_EQUAL(rows[0].references, sizeof memory / given_page_bytes / 4);
  CHECK_EQUAL(searched.resident_bytes, sizeof memory / 4);
  CHECK_EQUAL(searched.swapped_bytes, sizeof memory / 4);
}

CASE(what_cannot_be_written_and_devices_are_not_read) {
  begin();
  add(0, SITE);
  memory[5] = (uintptr_t)object(0);
  mapping.protection = READABLE;
  search();
  CHECK_EQUAL(searched.searched_bytes, 0);
  mapping.protection = READABLE | WRITABLE;
  mapping.is_device = true;
  search();
  CHECK_EQUAL(searched.searched_bytes, 0);
  CHECK_EQUAL(rows[0].references, 0);
}

/* The search must not read any shared pages if there is no /proc/self/pagemap, because it cannot know which of them
 * this process has touched. */
CASE(without_pagemap_shared_pages_are_counted_and_not_read) {
  begin();
  add(0, SITE);
  memory[5] = (uintptr_t)object(0);
  mapping.is_shared = true;
  search();
  CHECK_EQUAL(rows[0].references, 1);
  given_no_pagemap = true;
  search();
  CHECK_EQUAL(rows[0].references, 0);
  CHECK_EQUAL(searched.searched_bytes, 0);
  CHECK_EQUAL(searched.resident_bytes, sizeof memory);
  mapping.is_shared = mapping.is_anonymous = false;
  search();
  CHECK_EQUAL(rows[0].references, 1);
}

CASE(own_memory_is_not_read) {
  begin();
  add(0, SITE);
  memory[5] = (uintptr_t)object(0);
  memory[LARGEST_PAGE / 8] = (uintptr_t)object(0);
  memory_own_add((uintptr_t)memory, LARGEST_PAGE);
  search();
  CHECK_EQUAL(rows[0].references, 1);
  CHECK_EQUAL(searched.searched_bytes, sizeof memory - LARGEST_PAGE);
}

CASE(no_more_is_read_than_was_asked_for) {
  begin();
  add(0, SITE);
  search_up_to(2 << 20);
  CHECK_EQUAL(searched.searched_bytes, 2 << 20);
  CHECK_EQUAL(searched.resident_bytes, sizeof memory);
}

/* ---- Threads ------------------------------------------------------------------------------------------- */

static _Alignas(LARGEST_PAGE) uintptr_t stack[LARGEST_PAGE / 8];

static uint32_t references_of(unsigned number) {
  for (uint32_t i = 0; i < count; i++) {
    if (rows[i].born_ns >> 24 == number) return rows[i].references;
  }
  return UINT32_MAX;
}

/*
 * The first thread waits and has stored its registers on its stack. The second thread first waits without having stored
 * its registers, and then runs.
 */
CASE(what_threads_have_in_registers_and_on_stacks_counts) {
  begin();
  for (unsigned i = 0; i < 4; i++) add(i, SITE);
  stack[0] = 77;
  stack[1] = (uintptr_t)object(1);
  const uintptr_t stack_pointer = (uintptr_t)stack;
  given_threads[0] = (struct given_thread){true, {0, {0, (uintptr_t)object(0)}, stack_pointer, 77}};
  given_thread_count = 1;
  search();
  CHECK_EQUAL(references_of(0), 1);
  CHECK_EQUAL(references_of(1), 1);
  CHECK_EQUAL(references_of(2), 0);
  CHECK_EQUAL(searched.unread_threads, 0);
  given_threads[1] = (struct given_thread){true, {0, {0, 0, 0, 0, 0, (uintptr_t)object(2)}, stack_pointer, 78}};
  given_thread_count = 2;
  search();
  CHECK_EQUAL(references_of(1), 2);
  CHECK_EQUAL(references_of(2), 1);
  CHECK_EQUAL(searched.unread_threads, 1);
  given_threads[1].waits = false;
  search();
  CHECK_EQUAL(references_of(2), 0);
  CHECK_EQUAL(searched.unread_threads, 1);
}

/* ---- Failures ------------------------------------------------------------------------------------------ */

CASE(another_way_to_copy_is_tried) {
  begin();
  given_trials_of_copying[COPY_BY_READV] = "no";
  search();
  CHECK_EQUAL(given_copying, COPY_BY_PIPE);
  given_trials_of_copying[COPY_BY_PIPE] = "neither";
  search_up_to(UINT64_MAX);
  CHECK_EQUAL(searched.state, MALLOMETER_SEARCH_FAILED);
  CHECK(strcmp(searched.reason, "neither") == 0);
  given_trials_of_copying[COPY_BY_READV] = NULL;
  search();
  CHECK(searched.reason[0] == '\0');
}

static uint8_t unknown(uintptr_t address) {
  return address == (uintptr_t)memory + 3 * given_page_bytes ? PAGE_UNKNOWN : PAGE_IN_MEMORY;
}

CASE(which_pages_are_in_memory_is_told_or_there_is_no_result) {
  begin();
  given_page_state = unknown;
  search_up_to(UINT64_MAX);
  CHECK_EQUAL(searched.state, MALLOMETER_SEARCH_FAILED);
  CHECK(strstr(searched.reason, "which pages"));
  given_page_state = NULL;
  given_trial_of_mincore = "no";
  search();
  given_no_pagemap = true;
  search_up_to(UINT64_MAX);
  CHECK(strcmp(searched.reason, "no") == 0);
}

/* Swapped memory is not read. So if the number of swapped bytes is unknown, the search must fail. */
CASE(what_is_swapped_is_known_or_there_is_no_result) {
  begin();
  given_no_pagemap = true;
  given_swapped_bytes = 4096;
  search();
  CHECK_EQUAL(searched.swapped_bytes, 4096);
  given_swapped_bytes = UINT64_MAX;
  search_up_to(UINT64_MAX);
  CHECK_EQUAL(searched.state, MALLOMETER_SEARCH_FAILED);
  CHECK(strstr(searched.reason, "swapped"));
  CHECK_EQUAL(searched.swapped_bytes, 0);
}

CASE(without_thread_memory_or_mappings_there_is_no_result) {
  const uint32_t site = SITE;
  begin();
  given_threads_refused = true;
  CHECK_EQUAL(search_start(&site, 1, UINT64_MAX, heap), -EAGAIN);
  given_threads_refused = false;
  given_rows = NULL;
  search_up_to(UINT64_MAX);
  CHECK_EQUAL(searched.state, MALLOMETER_SEARCH_FAILED);
  CHECK(strstr(searched.reason, "mappings"));
  given_shortage = "too little";
  search_up_to(UINT64_MAX);
  CHECK(strcmp(searched.reason, "too little") == 0);
  given_shortage = NULL;
  refuse_memory_request(1);
  search_up_to(UINT64_MAX);
  CHECK(strstr(searched.reason, "no memory"));
  search_forked();
  CHECK_EQUAL(search_start(&site, 1, UINT64_MAX, heap), -ECHILD);
}

int main(int argc, char **argv) {
  take_arguments(argc, argv);
  CHECK_EQUAL(at_each_point(word_points), 5);
  CHECK_EQUAL(at_each_point(word_does_not_point), 7);
  RUN(words_are_counted_wherever_they_are);
  RUN(an_address_in_the_object_itself_does_not_count);
  RUN(objects_that_leave_or_come_meanwhile_are_told_apart);
  RUN(freed_objects_are_marked);
  RUN(more_objects_than_there_is_room_for_are_left_out);
  RUN(words_in_free_parts_of_a_heap_count_if_objects_were_moved);
  RUN(only_pages_in_memory_are_read);
  RUN(what_cannot_be_written_and_devices_are_not_read);
  RUN(without_pagemap_shared_pages_are_counted_and_not_read);
  RUN(own_memory_is_not_read);
  RUN(no_more_is_read_than_was_asked_for);
  RUN(what_threads_have_in_registers_and_on_stacks_counts);
  RUN(another_way_to_copy_is_tried);
  RUN(which_pages_are_in_memory_is_told_or_there_is_no_result);
  RUN(what_is_swapped_is_known_or_there_is_no_result);
  RUN(without_thread_memory_or_mappings_there_is_no_result);
  return 0;
}
