/*
 * The platform for tests of the library's logic. It implements the functions of src/platform by arrays and by variables
 * that the test sets.
 *
 * The test sets the clock, the size of pages and the pages that were accessed. It can refuse requests for memory, and
 * lets the library's thread run step by step. At each point where another thread could act, the test can call a
 * function that acts as that thread.
 */
#ifndef MALLOMETER_TEST_PLATFORM_GIVEN_H
#define MALLOMETER_TEST_PLATFORM_GIVEN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"
#include "platform/own_stack.h"
#include "platform/thread.h"

/* ---- The clock ----------------------------------------------------------------------------------------- */

extern uint64_t given_monotonic_ns, given_cpu_ns;
/* While true, coarse_clock_advance() advances the clock by its argument, as it does without a vDSO. Otherwise only
 * the test changes the clock. */
extern bool given_clock_passes;

/* ---- Memory -------------------------------------------------------------------------------------------- */

/* The page size: 4096, unless the test is called with another one. */
extern size_t given_page_bytes;
/* The results of memory_limit(), memory_shortage() and memory_is_locked(). */
extern const char *given_limit, *given_shortage;
extern bool given_lock_of_all;
/* The resident bytes of process_memory(). */
extern uint64_t given_resident_bytes;

/* Makes one request fail: 1 the next one, 2 the one after it, 0 none. Requests are memory_reserve(), memory_map(),
 * page_range_reserve(), pages_open(), pages_mark() and pages_renew(). */
void refuse_memory_request(unsigned number);

bool memory_was_refused(void);

/* Returns the bytes that memory_reserve() and memory_map() have returned and that were not given back. */
size_t memory_taken(void);

/* The mappings that mappings_read() returns; NULL makes mappings_read() fail. */
struct mapping;
extern const struct mapping *given_rows;
extern size_t given_row_count;
/* A function of the test that returns the state of a page (enum page_state), or NULL if all pages are in memory.
 * PAGE_UNKNOWN stands for a kernel that does not report the state. */
extern uint8_t (*given_page_state)(uintptr_t address);
/* A function of the test that memory_copy() calls before it copies. */
extern void (*given_while_copying)(void);
/* given_trials_of_copying[by] is the result of safety_test_copying(by). given_trial_of_mincore is the result of
 * safety_test_mincore(). */
extern const char *given_trials_of_copying[2], *given_trial_of_mincore;
extern int given_copying;
/* given_no_pagemap simulates that /proc/self/pagemap is missing. given_swapped_bytes is the result of
 * process_swapped_bytes(). */
extern bool given_no_pagemap;
extern uint64_t given_swapped_bytes;

/* ---- The range of pages for slots (pages of one sampled object), and accesses to them ------------------ */

/* The most bytes that page_range_reserve() reserves for slots. The default suffices with pages of 4 and 16 KiB. */
extern size_t given_range_bytes;
extern char *const given_range;

/* given_use() marks the pages of the bytes as accessed. given_lock() locks or unlocks them as mlock(2) and
 * munlock(2) do. given_unmap() unmaps them. */
void given_use(const void *begin, size_t bytes);
void given_lock(const void *begin, size_t bytes, bool locked);
void given_unmap(const void *begin, size_t bytes);

/* page_use_read() first calls this function of the test, which calls given_use() for the pages that the program has
 * accessed since the previous reading. */
extern void (*given_uses)(void);
/* page_use_read() succeeds given_readings_before times and then fails given_failing_readings times, with
 * given_error. */
extern unsigned given_readings_before, given_failing_readings;
extern int given_error;
/* The CPU time of one page_use_read(). */
extern uint64_t given_reading_ns;
/* Makes page_use_clear() fail, but not page_use_clear_all(). */
extern bool given_clearing_refused;
/* The results of mappings_count() and mappings_most(). */
extern size_t given_mappings, given_most_mappings;

/* ---- Threads ------------------------------------------------------------------------------------------- */

extern bool given_threads_refused;

/* Runs the thread of the code under test until the thread waits or ends. The code may have only one thread at a
 * time. */
void thread_goes_on(void);

/* The other threads of the simulated process. The simulated thread_has_stored_registers() only compares the first
 * word on a thread's stack with the program counter in `waiting`. */
struct given_thread {
  bool waits;
  struct waiting_thread waiting;
};
extern struct given_thread given_threads[2];
extern size_t given_thread_count;

/* Advances the clock by `ns`. Meanwhile the thread of the code under test runs whenever it has a reason to wake up:
 * the word for which it waits has changed, or its waiting time is over. */
void time_passes(uint64_t ns);

/* A function of the test that wait_until() calls after it has set the clock. */
extern void (*given_while_waiting)(void);

/* ---- Safety tests -------------------------------------------------------------------------------------- */

/* The result of safety_test_slots(). */
extern const char *given_trial_of_slots;

/* ---- Probes -------------------------------------------------------------------------------------------- */

/* The numbers of calls of probe_allocation() and probe_free(), and the arguments of the latest probe_allocation(). */
extern unsigned given_announced, given_announced_free;
extern const void *given_announced_object;
extern uint64_t given_announced_size, given_announced_weight;

/* ---- Stacks -------------------------------------------------------------------------------------------- */

/* The calling thread's stack. An empty range stands for an unknown stack. */
extern struct own_stack given_stack;
extern uintptr_t given_frame_pointer;

/* ---- Interruptions ------------------------------------------------------------------------------------- */

/*
 * Calls `meanwhile`, which acts as another thread or a signal handler, when the code under test reaches the point of
 * interruption with the number `point`, counted from 1. Points of interruption are between the load and the store of
 * local_add() and its variants (platform/arch.h), before each atomic load, compare-and-exchange, fetch-or and
 * fetch-and, and in thread_name(). `meanwhile` itself has no points.
 */
void interrupt_at(unsigned point, void (*meanwhile)(void));

/* Returns whether the `meanwhile` of interrupt_at() was called, and cancels the call if it was not. */
bool was_interrupted(void);

/* ---- Cases --------------------------------------------------------------------------------------------- */

static inline void take_arguments(int argc, char **argv) {
  if (argc > 1) given_page_bytes = strtoul(argv[1], NULL, 10);
}

static inline int apart(int (*test)(unsigned), unsigned number) {
  int status;
  fflush(NULL);
  pid_t child = fork();
  CHECK(child >= 0);
  if (child == 0) exit(test(number));
  CHECK(waitpid(child, &status, 0) == child);
  CHECK(WIFEXITED(status));
  return WEXITSTATUS(status);
}

enum { REACHED = 0, NOT_REACHED = 42 };

/* Runs a case for the points (interruptions or refused requests) 1, 2, 3, ..., each in a process of its own, until
 * the case returns NOT_REACHED. Returns the last point that was reached. If POINTS_APART is above 1, skips points to
 * save time. */
static inline unsigned at_each_point(int (*test)(unsigned)) {
  unsigned points = 0, step = POINTS_APART;
  for (;;) {
    int end = apart(test, points + step);
    if (end == NOT_REACHED && step == 1) return points;
    if (end == NOT_REACHED) {
      step = 1;
      continue;
    }
    CHECK_EQUAL(end, REACHED);
    points += step;
    CHECK(points < 10000);
  }
}

#define RUN(test) CHECK_EQUAL(apart(run_##test, 0), REACHED)

/* Defines a case that needs no number. RUN() runs it. */
#define CASE(test)                    \
  static void test(void);             \
  static int run_##test(unsigned n) { \
    (void)n;                          \
    test();                           \
    return REACHED;                   \
  }                                   \
  static void test(void)

#endif
