/*
 * Tests src/account, which counts allocations in separate counters for each thread, on the test platform
 * (platform/given.h). The sums over all threads must be right even if memory is refused, or if a thread or a signal
 * handler interrupts the code.
 */
#include <pthread.h>

#include "account/huge_requests.h"
#include "account/thread_block.h"
#include "account/totals.h"
#include "platform/given.h"
#include "platform/memory.h"

enum { BYTES = 100 };

static struct thread_block *as_new_thread(void) {
  current_block = &no_block_yet;
  return thread_block_acquire();
}

static void allocate_in(struct thread_block *block, int64_t bytes) {
  if (!block) {
    counter_add_shared(&shared_events.allocated_bytes, (uint64_t)bytes);
    peak_flush_shared();
    return;
  }
  counter_add(&block->events.allocated_bytes, (uint64_t)bytes);
  if (!headroom_take(block, bytes)) peak_flush(block);
}

static void free_in(struct thread_block *block, int64_t bytes) {
  headroom_give(block, bytes);
  counter_add(&block->events.freed_bytes, (uint64_t)bytes);
}

static struct mallometer_counters sums(void) {
  struct mallometer_counters sum = {0};
  totals_read(&sum);
  return sum;
}

/* ---- Refused memory ------------------------------------------------------------------------------------ */

/* Refuses memory for the counters of some threads. The sums must contain all allocations nevertheless. */
static int sums_are_exact_without_the_memory(unsigned request) {
  enum { THREADS = 2 * BLOCKS_IN_SLAB };
  refuse_memory_request(request);
  for (unsigned i = 0; i < THREADS; i++) allocate_in(as_new_thread(), BYTES);
  bool refused = memory_was_refused();
  CHECK_EQUAL(sums().allocated_bytes, THREADS * BYTES);
  CHECK_EQUAL(threads_without_block(), refused ? 1 : 0);
  CHECK_EQUAL(thread_block_owners(), THREADS - threads_without_block());
  return refused ? REACHED : NOT_REACHED;
}

CASE(a_slab_is_mapped_when_its_next_block_is_asked_for) {
  refuse_memory_request(1);
  CHECK(!as_new_thread());
  CHECK(!thread_block_at(0) && thread_blocks_footprint() == 0);
  CHECK(as_new_thread());
  CHECK_EQUAL(thread_blocks_footprint(), memory_whole_pages(sizeof(struct slab)));
  CHECK_EQUAL(thread_blocks_footprint() % given_page_bytes, 0);
}

CASE(a_full_table_leaves_events_to_the_shared_block) {
  for (unsigned i = 0; i < MAXIMUM_BLOCKS; i++) allocate_in(as_new_thread(), BYTES);
  for (unsigned i = 0; i < 3; i++) {
    struct thread_block *none = as_new_thread();
    CHECK(!none);
    allocate_in(none, BYTES);
  }
  CHECK_EQUAL(threads_without_block(), 3);
  CHECK_EQUAL(thread_block_count(), MAXIMUM_BLOCKS);
  CHECK_EQUAL(sums().allocated_bytes, (MAXIMUM_BLOCKS + 3) * BYTES);
  struct mallometer_counters sum = {0};
  CHECK_EQUAL(totals_raise_peak(&sum), (MAXIMUM_BLOCKS + 3) * BYTES);
}

/* ---- Size classes -------------------------------------------------------------------------------------- */

CASE(classes_begin_at_16_bytes_and_end_open) {
  static const struct {
    size_t requested;
    unsigned class;
  } given[] = {{0, 0},        {1, 0},
               {2, 0},        {8, 0},
               {9, 0},        {15, 0},
               {16, 0},       {17, 1},
               {32, 1},       {33, 2},
               {64, 2},       {65, 3},
               {4096, 8},     {4097, 9},
               {32768, 11},   {32769, 12},
               {65536, 12},   {65537, 13},
               {4 << 20, 18}, {(4 << 20) + 1, 19},
               {5 << 20, 19}, {(size_t)1 << 40, 19}};
  uint64_t requested = 0;
  struct thread_block *block = as_new_thread();
  for (size_t i = 0; i < sizeof given / sizeof *given; i++) {
    struct mallometer_counters before = sums(), after;
    struct event_counters *events = i % 2 ? &block->events : &shared_events;
    counter_add(&events->requested_doubled, doubled_size(given[i].requested));
    counter_add(event_allocations(events, size_class(given[i].requested)), 1);
    after = sums();
    for (unsigned c = 0; c < MALLOMETER_SIZE_CLASSES; c++) {
      CHECK_EQUAL(after.allocations[c] - before.allocations[c], c == given[i].class);
    }
    CHECK_EQUAL(after.requested_bytes, requested += given[i].requested);
    CHECK_EQUAL(events_allocations(&block->events) + events_allocations(&shared_events), i + 1);
  }
}

/* ---- Threads that come and go -------------------------------------------------------------------------- */

static void *allocates_and_ends(void *block) {
  *(struct thread_block **)block = thread_block_acquire();
  allocate_in(thread_block_acquire(), BYTES);
  return NULL;
}

static struct thread_block *block_of_a_thread_that_ended(void) {
  struct thread_block *block;
  pthread_t thread;
  CHECK(pthread_create(&thread, NULL, allocates_and_ends, &block) == 0 && pthread_join(thread, NULL) == 0);
  return block;
}

CASE(a_block_is_handed_over_with_its_totals) {
  thread_blocks_start(peak_flush);
  struct thread_block *first = block_of_a_thread_that_ended();
  CHECK_EQUAL(thread_block_owners(), 0);
  CHECK(as_new_thread() == first);
  CHECK_EQUAL(counter_read(&thread_baseline(first)->allocated_bytes), BYTES);
  CHECK_EQUAL(sums().allocated_bytes, BYTES);
}

static unsigned answers;

static void count_answer(void) { answers++; }

CASE(threads_answer_until_nobody_asks_any_more) {
  struct thread_block *first = as_new_thread();
  thread_blocks_request_answer(count_answer);
  thread_block_answer(first);
  thread_block_answer(first);
  CHECK_EQUAL(answers, 1);
  thread_block_answer(as_new_thread());
  CHECK_EQUAL(answers, 2);
  thread_blocks_request_answer(count_answer);
  thread_blocks_request_answer(NULL);
  thread_block_answer(first); /* calls nothing: thread_blocks_request_answer(NULL) has cancelled the request */
  struct thread_block *last = as_new_thread();
  CHECK_EQUAL(last->reporting.requests, 0);
  thread_block_answer(last);
  CHECK_EQUAL(answers, 2);
}

/* A thread that is asked to call a function must leave the fast path at its next allocation or free, because only
 * the slow path calls the function. */
CASE(a_thread_that_is_asked_leaves_the_fast_path) {
  struct thread_block *block = as_new_thread();
  allocate_in(block, BYTES);
  CHECK(headroom_give(block, 1));
  thread_blocks_request_answer(count_answer);
  CHECK(!headroom_take(block, BYTES));
  CHECK(!headroom_give(block, INT64_C(1) << 40));
  thread_block_answer(block);
  thread_block_answer(block);
  CHECK_EQUAL(answers, 1);
  peak_flush(block);
  CHECK(headroom_take(block, 1) && headroom_give(block, 1));
}

static struct thread_block *handlers;

static void a_handler_allocates(void) {
  handlers = thread_block_acquire();
  allocate_in(handlers, BYTES);
}

/* A signal handler allocates while its thread acquires counters. Both must get the same counters. */
static int a_handler_allocates_while_the_block_is_taken(unsigned point) {
  current_block = &no_block_yet;
  interrupt_at(point, a_handler_allocates);
  struct thread_block *block = thread_block_acquire();
  if (!was_interrupted()) return NOT_REACHED;
  CHECK(block && block == handlers && block == current_block);
  CHECK_EQUAL(thread_block_owners(), 1);
  CHECK_EQUAL(counter_read(&block->events.allocated_bytes), BYTES);
  return REACHED;
}

static struct thread_block *kept;

/* Takes two free blocks of counters. The first becomes free again when the thread ends. */
static void *takes_two_keeps_one(void *unused) {
  struct thread_block *first = thread_block_acquire();
  kept = as_new_thread();
  current_block = first;
  return unused;
}

static void another_thread_takes_two_and_keeps_one(void) {
  pthread_t thread;
  CHECK(pthread_create(&thread, NULL, takes_two_keeps_one, NULL) == 0 && pthread_join(thread, NULL) == 0);
}

/* Tests the ABA problem: while this thread takes a block of counters, another thread takes the first two free blocks
 * and returns the first of them. */
static int no_block_has_two_owners(unsigned point) {
  thread_blocks_start(peak_flush);
  for (unsigned i = 0; i < 4; i++) as_new_thread();
  thread_blocks_forked(); /* makes all blocks free except the last, which this thread has */
  interrupt_at(point, another_thread_takes_two_and_keeps_one);
  struct thread_block *block = as_new_thread();
  if (!was_interrupted()) return NOT_REACHED;
  CHECK(block && block != kept);
  struct thread_block *others[2] = {as_new_thread(), as_new_thread()};
  for (unsigned i = 0; i < 2; i++) CHECK(others[i] && others[i] != block && others[i] != kept);
  CHECK(others[0] != others[1]);
  return REACHED;
}

/* ---- The peak of live bytes ---------------------------------------------------------------------------- */

enum { MUCH = 10 << 20, LITTLE = 40000 };

static struct thread_block *own, *others;

static void another_has_its_peak(void) {
  allocate_in(others, MUCH);
  free_in(others, MUCH);
}

static void has_a_small_peak(void) {
  for (unsigned i = 0; i < 10; i++) allocate_in(own, LITTLE);
  for (unsigned i = 0; i < 10; i++) free_in(own, LITTLE);
}

/* Another thread allocates and frees 10 MiB while this thread allocates little. The sum of peak_so_far() and
 * peak_error() must be at least these 10 MiB. */
static int the_peak_of_two_is_seen(unsigned point) {
  own = as_new_thread();
  others = as_new_thread();
  interrupt_at(point, another_has_its_peak);
  has_a_small_peak();
  if (!was_interrupted()) return NOT_REACHED;
  CHECK(peak_so_far() + peak_error() >= MUCH);
  CHECK(peak_so_far() <= MUCH + 10 * LITTLE);
  struct mallometer_counters sum = {0};
  totals_raise_peak(&sum);
  CHECK_EQUAL(sum.allocated_bytes, MUCH + 10 * LITTLE);
  CHECK_EQUAL(sum.freed_bytes, sum.allocated_bytes);
  return REACHED;
}

static void another_allocates_and_frees(void) {
  for (unsigned i = 0; i < 100; i++) another_has_its_peak();
}

/* While the counters are added, another thread allocates and frees one object after the other. The peak may include
 * at most one of these objects. */
static int a_sum_that_is_interrupted_proves_no_peak(unsigned point) {
  struct mallometer_counters sum = {0};
  own = as_new_thread();
  others = as_new_thread();
  allocate_in(own, LITTLE);
  interrupt_at(point, another_allocates_and_frees);
  uint64_t peak = totals_raise_peak(&sum);
  if (!was_interrupted()) return NOT_REACHED;
  CHECK(peak >= LITTLE && peak <= LITTLE + MUCH);
  CHECK(sum.allocated_bytes >= sum.freed_bytes);
  return REACHED;
}

static struct thread_block *others_of_child;

/* Acts as the child of a fork. The child does not have the thread that was allocating. */
static void the_process_forks(void) {
  others_of_child = others;
  current_block = own;
  thread_blocks_forked();
  totals_forked();
}

static int a_fork_in_the_middle_keeps_the_sums(unsigned point) {
  own = as_new_thread();
  others = as_new_thread();
  allocate_in(own, LITTLE);
  interrupt_at(point, the_process_forks);
  allocate_in(others, MUCH); /* the_process_forks() may interrupt this call; the rest then runs as the child */
  if (!was_interrupted()) return NOT_REACHED;
  CHECK_EQUAL(thread_block_owners(), 1);
  struct mallometer_counters sum = {0};
  uint64_t peak = totals_raise_peak(&sum);
  CHECK(sum.allocated_bytes == LITTLE || sum.allocated_bytes == LITTLE + MUCH);
  CHECK(peak >= sum.allocated_bytes);
  CHECK(as_new_thread() == others_of_child);
  return REACHED;
}

/* ---- Huge requests ------------------------------------------------------------------------------------- */

enum { HUGE = 1 << 28, EVENTS_IN_RING = 64 };

static uint64_t recorded;

static void record_next(void) { record_request(HUGE + ++recorded, NULL, 0); }

static void others_fill_the_ring(void) {
  for (unsigned i = 0; i < EVENTS_IN_RING; i++) record_next();
}

/* Reads the events of huge requests while other threads fill the ring buffer. Events may be missing, but none may mix
 * the values of two requests. */
static int events_are_whole_wherever_others_come(unsigned point) {
  static struct mallometer_event events[EVENTS_IN_RING];
  for (unsigned i = 0; i < 10; i++) record_next();
  interrupt_at(point, others_fill_the_ring);
  uint32_t count = huge_request_events(events, EVENTS_IN_RING, 0);
  bool overtaken = was_interrupted();
  for (uint32_t i = 0; i < count; i++) {
    CHECK_EQUAL(events[i].requested_bytes, HUGE + events[i].number);
    CHECK(i == 0 || events[i].number > events[i - 1].number);
  }
  CHECK(overtaken || count == 10);
  CHECK_EQUAL(huge_requests(), recorded);
  return overtaken ? REACHED : NOT_REACHED;
}

static uint32_t watched;

/* Acts as the child of a fork. The child does not have the thread that was writing an event, but must be able to
 * record requests. */
static void a_child_fills_the_ring(void) {
  static struct mallometer_event events[EVENTS_IN_RING];
  uint64_t total;
  huge_requests_forked();
  CHECK(request_watch_read(watched, events, EVENTS_IN_RING, &total) >= 0);
  for (unsigned i = 0; i < EVENTS_IN_RING; i++) record_request(2000, NULL, 0);
  CHECK_EQUAL(request_watch_read(watched, events, EVENTS_IN_RING, &total), EVENTS_IN_RING);
}

static int a_child_keeps_every_request(unsigned point) {
  watched = (uint32_t)request_watch_add(1000, 0);
  interrupt_at(point, a_child_fills_the_ring);
  record_request(2000, NULL, 0);
  bool reached = was_interrupted();
  CHECK_EQUAL(request_watch_remove(watched), 0);
  return reached ? REACHED : NOT_REACHED;
}

static void another_requests_less(void) { record_largest_request(HUGE); }

static int the_largest_request_is_known_whoever_comes_between(unsigned point) {
  interrupt_at(point, another_requests_less);
  record_largest_request(2 * (size_t)HUGE);
  bool reached = was_interrupted();
  CHECK_EQUAL(largest_request(), 2 * (uint64_t)HUGE);
  another_requests_less();
  CHECK_EQUAL(largest_request(), 2 * (uint64_t)HUGE);
  return reached ? REACHED : NOT_REACHED;
}

int main(int argc, char **argv) {
  take_arguments(argc, argv);
  CHECK_EQUAL(at_each_point(sums_are_exact_without_the_memory), 2);
  RUN(a_slab_is_mapped_when_its_next_block_is_asked_for);
  RUN(a_full_table_leaves_events_to_the_shared_block);
  if (argc > 1) return 0; /* The other tests do not depend on the size of pages. */
  RUN(classes_begin_at_16_bytes_and_end_open);
  RUN(a_block_is_handed_over_with_its_totals);
  RUN(threads_answer_until_nobody_asks_any_more);
  RUN(a_thread_that_is_asked_leaves_the_fast_path);
  CHECK(at_each_point(a_handler_allocates_while_the_block_is_taken) > 5);
  CHECK(at_each_point(no_block_has_two_owners) > 3);
  CHECK(at_each_point(the_peak_of_two_is_seen) > 40);
  CHECK(at_each_point(a_sum_that_is_interrupted_proves_no_peak) > 40);
  CHECK(at_each_point(a_fork_in_the_middle_keeps_the_sums) > 5);
  CHECK(at_each_point(events_are_whole_wherever_others_come) > 20);
  CHECK(at_each_point(a_child_keeps_every_request) > 2);
  CHECK(at_each_point(the_largest_request_is_known_whoever_comes_between) >= 2);
  return 0;
}
