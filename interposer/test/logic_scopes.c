/*
 * Tests scopes, which count the allocations and frees of a thread or of the process while they are open. On the test
 * platform (platform/given.h), memory is refused, and signal handlers and other threads interrupt the code at each
 * point.
 */
#include <errno.h>

#include "account/scopes.h"
#include "account/totals.h"
#include "platform/given.h"

enum { SMALL = 100, LARGE = 70000 };

static char objects[64]; /* the addresses of these bytes stand for objects, whose memory is never accessed */

static void *as_thread(struct thread_block *block) {
  struct thread_block *before = current_block;
  current_block = block;
  return before;
}

static struct thread_block *new_thread(void) {
  struct thread_block *before = as_thread(&no_block_yet), *block = thread_block_acquire();
  current_block = before;
  return block;
}

/* Adds to a counter. In the library this is one instruction, which no signal handler can interrupt. */
static void add(counter *c, uint64_t amount) { c->value += amount; }

/* Allocates as the slow path of the library's malloc does. A signal handler can act at point_of_interruption(), when
 * the thread's `scoped` bits have been read, but not yet used. */
static void allocate_doubled(struct thread_block *block, unsigned object, size_t bytes, size_t doubled) {
  if (thread_block_answer(block) != 0) scopes_unlink_closed(block);
  add(&block->events.allocated_bytes, bytes);
  add(event_allocations(&block->events, size_class(bytes)), 1);
  if (!headroom_take(block, (int64_t)bytes)) peak_flush_if_due(block);
  uint8_t scoped = block->reporting.scoped;
  point_of_interruption();
  if (scoped & SCOPED_MATCHED) {
    scope_match_allocation(block, &objects[object], doubled);
  } else if (scoped) {
    scope_allocation(block, &objects[object], doubled);
  }
}

static void allocate(struct thread_block *block, unsigned object, size_t bytes) {
  allocate_doubled(block, object, bytes, doubled_size(bytes));
}

static void release(struct thread_block *block, unsigned object, size_t bytes) {
  if (thread_block_answer(block) != 0) scopes_unlink_closed(block);
  add(&block->events.freed_bytes, bytes);
  add(&block->events.frees, 1);
  if (!headroom_give(block, (int64_t)bytes)) peak_flush_if_due(block);
  scope_free(block, &objects[object], bytes);
}

static struct mallometer_scope closed(int number) {
  struct mallometer_scope figures;
  CHECK_EQUAL(scope_close((uint32_t)number, &figures), 0);
  CHECK_EQUAL(scope_close((uint32_t)number, &figures), -EINVAL);
  return figures;
}

/* ---- Refused memory ------------------------------------------------------------------------------------ */

CASE(nothing_is_opened_without_memory) {
  struct thread_block *block = new_thread();
  as_thread(block);
  given_shortage = "a limit";
  CHECK_EQUAL(scope_open(block, false), -ENOMEM);
  given_shortage = NULL;
  refuse_memory_request(1);
  CHECK_EQUAL(scope_open(block, false), -ENOMEM);
  int scope = scope_open(block, false);
  CHECK(scope > 0);
  refuse_memory_request(1);
  CHECK_EQUAL(scope_open(block, true), -ENOMEM);
  CHECK(!scopes_include_matched());
  allocate(block, 1, LARGE);
  CHECK_EQUAL(closed(scope).peak_bytes, LARGE);
  int matched = scope_open(block, true);
  CHECK(matched > 0 && scopes_include_matched());
  size_t footprint = scopes_footprint();
  closed(matched);
  CHECK(!scopes_include_matched() && scopes_footprint() < footprint);
  CHECK_EQUAL(block->reporting.scoped, 0);
  CHECK(headroom_take(block, 1));
}

/* ---- Signal handlers ----------------------------------------------------------------------------------- */

static struct thread_block *own, *other;

static void a_handler_has_a_scope(void) {
  struct thread_block *before = as_thread(own);
  int scope = scope_open(own, true);
  CHECK(scope > 0);
  allocate(own, 9, SMALL);
  release(own, 9, SMALL);
  struct mallometer_scope figures = closed(scope);
  CHECK(figures.peak_bytes == SMALL || figures.flags == MALLOMETER_SCOPE_OVERFLOWED);
  as_thread(before);
}

/* A signal handler opens and closes a scope in a thread that has two scopes. These two must count all allocations of
 * the thread, and may count those of the handler. */
static int a_handler_comes_within(unsigned point) {
  own = new_thread();
  as_thread(own);
  interrupt_at(point, a_handler_has_a_scope);
  int outer = scope_open(own, true);
  allocate(own, 1, SMALL);
  int inner = scope_open(own, false);
  allocate(own, 2, LARGE);
  release(own, 2, LARGE);
  struct mallometer_scope of_inner = closed(inner);
  release(own, 1, SMALL);
  struct mallometer_scope of_outer = closed(outer);
  bool interrupted = was_interrupted();
  CHECK(of_inner.peak_bytes == LARGE || (interrupted && of_inner.peak_bytes == LARGE + SMALL));
  CHECK(of_outer.peak_bytes == LARGE + SMALL || (interrupted && of_outer.peak_bytes == LARGE + 2 * SMALL));
  CHECK_EQUAL(of_outer.largest_bytes, LARGE);
  CHECK(of_outer.flags == MALLOMETER_SCOPE_HAS_MATCHES || interrupted);
  /* A scope may count the handler's allocation without the handler's free. This happens if the handler interrupts
   * the opening or closing of the scope. */
  CHECK(of_outer.net_bytes == 0 || (interrupted && of_outer.net_bytes == SMALL));
  CHECK(of_outer.retained_allocations <= (interrupted ? 1 : 0));
  CHECK_EQUAL(own->reporting.scoped, 0);
  CHECK(headroom_take(own, 1));
  return interrupted ? REACHED : NOT_REACHED;
}

static int to_be_closed[2];
static size_t footprint_before;

static void a_handler_closes_what_is_open(void) {
  struct thread_block *before = as_thread(own);
  for (unsigned i = 0; i < 2; i++) {
    struct mallometer_scope figures;
    int result = scope_close((uint32_t)to_be_closed[i], &figures);
    CHECK(result == 0 || result == -EINVAL);
  }
  allocate(own, 9, SMALL); /* removes the closed scopes from the thread's list */
  release(own, 9, SMALL);
  as_thread(before);
}

static void close_if_open(int number) {
  struct mallometer_scope figures;
  int result = scope_close((uint32_t)number, &figures);
  CHECK(result == 0 || result == -EINVAL);
}

/* A signal handler closes a thread's scopes. Their records and memory must be free afterwards. */
static int a_handler_ends_scopes(unsigned point, bool matched) {
  own = new_thread();
  as_thread(own);
  (void)closed(scope_open(own, false));
  footprint_before = scopes_footprint();
  interrupt_at(point, a_handler_closes_what_is_open);
  to_be_closed[0] = scope_open(own, matched);
  to_be_closed[1] = scope_open(own, matched);
  allocate(own, 1, LARGE);
  allocate_doubled(own, 2, SMALL, 0);
  release(own, 1, LARGE);
  allocate(own, 3, 2 * LARGE);
  close_if_open(to_be_closed[0]);
  close_if_open(to_be_closed[1]);
  bool interrupted = was_interrupted();
  allocate(own, 4, SMALL); /* removes the closed scopes from the thread's list */
  CHECK_EQUAL(own->reporting.scoped, 0);
  CHECK(headroom_take(own, 1));
  CHECK(!scopes_include_matched());
  CHECK_EQUAL(scopes_footprint(), footprint_before);
  int again[2] = {scope_open(own, false), scope_open(own, false)};
  for (unsigned i = 0; i < 2; i++) CHECK((again[i] & (int)(MOST_SCOPES - 1)) < 2);
  allocate(own, 5, 3 * LARGE);
  for (unsigned i = 0; i < 2; i++) CHECK_EQUAL(closed(again[i]).peak_bytes, 3 * LARGE);
  return interrupted ? REACHED : NOT_REACHED;
}

static int a_handler_ends_unmatched_scopes(unsigned point) { return a_handler_ends_scopes(point, false); }
static int a_handler_ends_matched_scopes(unsigned point) { return a_handler_ends_scopes(point, true); }

/* event_mark() marks the thread until event_end(). A signal handler that closes the thread's last scope in between
 * must not remove the mark. */
CASE(a_mark_stays_where_a_handler_ends_the_last_scope) {
  own = new_thread();
  as_thread(own);
  int scope = scope_open(own, false);
  CHECK(event_mark(own, false));
  CHECK(is_in_event(own));
  (void)closed(scope);
  CHECK(is_in_event(own));
  event_end(own, NO_HEADROOM);
  allocate(own, 1, SMALL);
  CHECK_EQUAL(own->reporting.scoped, 0);
  CHECK(headroom_take(own, 1));
}

/* ---- Concurrent threads -------------------------------------------------------------------------------- */

static int of_own;
static bool was_closed;

static void another_closes(void) {
  struct thread_block *before = as_thread(other);
  struct mallometer_scope figures;
  was_closed = scope_close((uint32_t)of_own, &figures) == 0;
  if (was_closed) CHECK(figures.peak_bytes <= LARGE && figures.retained_allocations <= 1);
  as_thread(before);
}

/* Two threads close a scope at once. Only one of them may succeed, and the scope's record must be free afterwards. */
static int another_thread_closes_a_scope(unsigned point) {
  own = new_thread(), other = new_thread();
  as_thread(own);
  int outer = scope_open(own, false);
  of_own = scope_open(own, true);
  interrupt_at(point, another_closes);
  allocate(own, 1, LARGE);
  release(own, 1, LARGE);
  struct mallometer_scope figures;
  int result = scope_close((uint32_t)of_own, &figures);
  CHECK_EQUAL(result, was_closed ? -EINVAL : 0);
  allocate(own, 1, SMALL); /* removes the closed scope from the thread's list */
  struct mallometer_scope of_outer = closed(outer);
  CHECK_EQUAL(of_outer.peak_bytes, LARGE);
  CHECK_EQUAL(own->reporting.scoped, 0);
  CHECK(!scopes_include_matched());
  /* The two new scopes must get the first two records, because the closed scopes no longer use them. */
  int again[2] = {scope_open(own, false), scope_open(own, false)};
  for (unsigned i = 0; i < 2; i++) CHECK((again[i] & (int)(MOST_SCOPES - 1)) < 2);
  return was_interrupted() ? REACHED : NOT_REACHED;
}

static void its_thread_ends(void) {
  struct thread_block *before = as_thread(own);
  scopes_end(own);
  peak_flush(own);
  allocate(own, 3, 5 * LARGE); /* acts as a new thread with the counters of the ended one */
  as_thread(before);
}

static int a_thread_ends_while_another_closes_its_scope(unsigned point) {
  own = new_thread(), other = new_thread();
  as_thread(own);
  int scope = scope_open(own, true);
  allocate(own, 1, LARGE);
  as_thread(other);
  interrupt_at(point, its_thread_ends);
  struct mallometer_scope read, figures;
  CHECK_EQUAL(scope_read((uint32_t)scope, &read), 0);
  figures = closed(scope);
  CHECK_EQUAL(read.net_bytes, LARGE);
  CHECK_EQUAL(read.peak_bytes, LARGE);
  CHECK_EQUAL(figures.net_bytes, LARGE);
  CHECK_EQUAL(figures.peak_bytes, LARGE);
  CHECK_EQUAL(figures.retained_allocations, 1);
  CHECK(!scopes_include_matched());
  as_thread(own);
  if (!was_interrupted()) allocate(own, 2, SMALL);
  CHECK_EQUAL(own->reporting.scoped, 0);
  int again = scope_open(own, false);
  CHECK((again & (int)(MOST_SCOPES - 1)) == 0);
  return was_interrupted() ? REACHED : NOT_REACHED;
}

static void its_record_becomes_one_of_the_process(void) {
  struct thread_block *before = as_thread(own);
  (void)closed(of_own);
  int process = scope_open(NULL, false);
  CHECK_EQUAL(process & (int)(MOST_SCOPES - 1), of_own & (int)(MOST_SCOPES - 1));
  as_thread(before);
}

static int a_record_is_used_anew_while_its_scope_is_read(unsigned point) {
  own = new_thread(), other = new_thread();
  as_thread(own);
  of_own = scope_open(own, false);
  allocate(own, 1, LARGE);
  as_thread(other);
  interrupt_at(point, its_record_becomes_one_of_the_process);
  struct mallometer_scope figures;
  int result = scope_read((uint32_t)of_own, &figures);
  bool interrupted = was_interrupted();
  CHECK(result == 0 || (interrupted && result == -EINVAL));
  if (result == 0) CHECK_EQUAL(figures.peak_bytes, LARGE);
  return interrupted ? REACHED : NOT_REACHED;
}

/* ---- Scopes over the whole process --------------------------------------------------------------------- */

enum { MUCH = 10 << 20 };

static void another_has_its_peak(void) {
  struct thread_block *before = as_thread(other);
  allocate(other, 1, MUCH);
  release(other, 1, MUCH);
  as_thread(before);
}

static int the_peak_within_a_scope_is_seen(unsigned point) {
  own = new_thread(), other = new_thread();
  as_thread(own);
  allocate(own, 1, 4 * MUCH);
  release(own, 1, 4 * MUCH);
  int outer = scope_open(NULL, false);
  interrupt_at(point, another_has_its_peak);
  int inner = scope_open(NULL, false);
  for (unsigned i = 0; i < 10; i++) allocate(own, i, LARGE);
  for (unsigned i = 0; i < 10; i++) release(own, i, LARGE);
  bool within = was_interrupted();
  struct mallometer_scope of_inner = closed(inner), of_outer = closed(outer);
  CHECK(of_outer.peak_error_bytes < MUCH / 2);
  CHECK(of_inner.peak_bytes + of_inner.peak_error_bytes >= 10 * LARGE);
  CHECK(of_outer.peak_bytes + of_outer.peak_error_bytes >= (within ? MUCH : 10 * LARGE));
  CHECK(of_outer.peak_bytes <= MUCH + 10 * LARGE + of_outer.peak_error_bytes);
  CHECK_EQUAL(of_outer.net_bytes, 0);
  return within ? REACHED : NOT_REACHED;
}

static int first_of_process, next_of_process;
static bool was_counted;

static void another_scope_follows(void) {
  struct thread_block *before = as_thread(other);
  was_counted = own->events.allocated_bytes.value >= MUCH;
  release(other, 1, MUCH);
  (void)closed(first_of_process);
  next_of_process = scope_open(NULL, false);
  as_thread(before);
}

/* Opens a scope while the library adds up all threads' counters to find a new peak. The sum may include bytes that
 * were freed before the scope was opened. These bytes must not count in the scope's peak. */
static int a_scope_has_no_earlier_peak(unsigned point) {
  own = new_thread(), other = new_thread();
  as_thread(own);
  first_of_process = scope_open(NULL, false);
  interrupt_at(point, another_scope_follows);
  allocate(own, 1, MUCH);
  bool interrupted = was_interrupted();
  if (interrupted && was_counted) CHECK_EQUAL(closed(next_of_process).peak_bytes, 0);
  return interrupted ? REACHED : NOT_REACHED;
}

int main(int argc, char **argv) {
  take_arguments(argc, argv);
  RUN(nothing_is_opened_without_memory);
  CHECK(at_each_point(a_handler_comes_within) > 40);
  CHECK(at_each_point(a_handler_ends_unmatched_scopes) > 40);
  CHECK(at_each_point(a_handler_ends_matched_scopes) > 40);
  RUN(a_mark_stays_where_a_handler_ends_the_last_scope);
  CHECK(at_each_point(another_thread_closes_a_scope) > 10);
  CHECK(at_each_point(a_thread_ends_while_another_closes_its_scope) > 10);
  CHECK(at_each_point(a_record_is_used_anew_while_its_scope_is_read) > 10);
  CHECK(at_each_point(the_peak_within_a_scope_is_seen) > 40);
  CHECK(at_each_point(a_scope_has_no_earlier_peak) > 10);
  return 0;
}
