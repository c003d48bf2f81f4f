/*
 * Tests the counters of threads and their sums under ThreadSanitizer, which reports data races. The final sums must be
 * exact.
 *
 * The library takes a thread's counters back in the destructor of a thread key. ThreadSanitizer forgets a thread before
 * its last destructor runs, so the threads here call the destructor themselves. The test includes the source file
 * because the destructor is static.
 */
#include <pthread.h>
#include <unistd.h>

#include "account/thread_block.c"
#include "account/totals.h"
#include "check.h"

bool thread_keys_exist(void) { return true; }

enum { GENERATIONS = 20, AT_ONCE = 8, EVENTS = 300, BYTES = 100 };

static void *count(void *unused) {
  for (int i = 0; i < EVENTS; i++) {
    struct thread_block *block = thread_block_acquire();
    CHECK(block && is_thread_block(block));
    counter_add(&block->events.allocated_bytes, BYTES);
    counter_add(event_allocations(&block->events, size_class(BYTES)), 1);
    if (!headroom_take(block, BYTES) || i % 16 == 0) peak_flush(block);
    CHECK(headroom_give(block, BYTES));
    counter_add(&block->events.freed_bytes, BYTES);
    counter_add(&block->events.frees, 1);
  }
  struct thread_block *block = current_block;
  on_thread_end(block);
  counter_add_shared(&shared_events.failed, 1);
  return unused;
}

static unsigned answered;

static void answer(void) { answered++; }

/* Requests that each thread call answer() at its next allocation or free, or at its end. The calling thread makes no
 * further allocation, so it must call answer() at its end. */
static void *is_asked_before_its_end(void *unused) {
  struct thread_block *block = thread_block_acquire();
  thread_blocks_request_answer(answer);
  CHECK_EQUAL(answered, 0);
  on_thread_end(block);
  CHECK_EQUAL(answered, 1);
  thread_blocks_request_answer(NULL);
  return unused;
}

static int stop;

static void *read_on(void *unused) {
  uint64_t frees = 0;
  while (!__atomic_load_n(&stop, __ATOMIC_RELAXED)) {
    struct mallometer_counters sum = {0};
    uint64_t peak = totals_raise_peak(&sum);
    CHECK(mallometer_live_bytes(&sum) >= 0);
    CHECK(peak <= AT_ONCE * EVENTS * BYTES);
    CHECK(sum.frees >= frees); /* counters only grow */
    frees = sum.frees;
    (void)peak_error();
    (void)threads_without_block();
    (void)thread_blocks_footprint();
    usleep(100);
  }
  return unused;
}

int main(void) {
  at_hand_over = peak_flush;
  CHECK_EQUAL(pthread_key_create(&exit_key, NULL), 0);
  pthread_t reader, asked, threads[AT_ONCE];
  CHECK_EQUAL(pthread_create(&asked, NULL, is_asked_before_its_end, NULL), 0);
  pthread_join(asked, NULL);
  CHECK_EQUAL(pthread_create(&reader, NULL, read_on, NULL), 0);
  for (int generation = 0; generation < GENERATIONS; generation++) {
    for (int i = 0; i < AT_ONCE; i++) CHECK_EQUAL(pthread_create(&threads[i], NULL, count, NULL), 0);
    for (int i = 0; i < AT_ONCE; i++) pthread_join(threads[i], NULL);
  }
  __atomic_store_n(&stop, 1, __ATOMIC_RELAXED);
  pthread_join(reader, NULL);
  struct mallometer_counters sum = {0};
  totals_read(&sum);
  CHECK_EQUAL(sum.allocations[3], GENERATIONS * AT_ONCE * EVENTS);
  CHECK_EQUAL(sum.frees, GENERATIONS * AT_ONCE * EVENTS);
  CHECK_EQUAL(sum.failed, GENERATIONS * AT_ONCE);
  CHECK_EQUAL(mallometer_live_bytes(&sum), 0);
  CHECK_EQUAL(thread_block_owners(), 0);
  CHECK(thread_block_count() <= AT_ONCE + 1);
  return 0;
}
