/*
 * The platform for tests of the logic: implements the headers of src/platform by variables and arrays. The test sets
 * the clock, refuses memory, chooses the size and use of pages, runs the library's thread step by step, and lets
 * another thread act at each point where a real one could act.
 *
 * Each case runs in a process of its own, so that it begins with empty tables.
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
#include "platform/loaded_objects.h"
#include "platform/own_stack.h"
#include "platform/thread.h"

/* ---- The clock ----------------------------------------------------------------------------------------- */

extern uint64_t given_monotonic_ns, given_realtime_ns, given_cpu_ns;
/* Lets coarse_clock_advance() advance the clock, as without a vDSO: by the time that samples are charged. Otherwise
 * only the test changes the clock. */
extern bool given_clock_passes;

/* ---- Memory -------------------------------------------------------------------------------------------- */

/* The page size: 4096, unless the test is called with another one. */
extern size_t given_page_bytes;
/* The results of memory_limit(), memory_shortage() and memory_is_locked(). */
extern const char *given_limit, *given_shortage;
extern bool given_lock_of_all;
/* The resident bytes of process_memory(). */
extern uint64_t given_resident_bytes;

/* Refuses one request for memory or for a change of pages. Numbers count from the next request, 1; 0 refuses none. */
void refuse_memory_request(unsigned number);

/* Returns whether a request was refused. */
bool memory_was_refused(void);

/* Returns the bytes of all arrays that are in use. */
size_t memory_taken(void);

/* The rows of mappings_read(); NULL makes it fail. Only memory in these mappings can be copied. */
struct mapping;
extern const struct mapping *given_rows;
extern size_t given_row_count;
/* Returns an enum page_state for a page; PAGE_UNKNOWN stands for a kernel that does not report it. NULL: all pages are
 * in memory. */
extern uint8_t (*given_page_state)(uintptr_t address);
/* Is called before each copy of memory. */
extern void (*given_while_copying)(void);
/* The results of safety_test_copying() for both ways, and of safety_test_mincore(). */
extern const char *given_trials_of_copying[2], *given_trial_of_mincore;
/* The way in which memory was last copied. */
extern int given_copying;
/* Whether there is no pagemap, so that it is unknown which pages are swapped; and the number of swapped bytes. */
extern bool given_no_pagemap;
extern uint64_t given_swapped_bytes;

/* ---- The range of pages, and their use ----------------------------------------------------------------- */

/* The most that page_range_reserve() reserves. The default is enough for all slots with pages of 4 and 16 KiB. */
extern size_t given_range_bytes;
extern char *const given_range;

/* Access the pages of these bytes, lock or unlock them as mlock(2) does, and unmap them. */
void given_use(const void *begin, size_t bytes);
void given_lock(const void *begin, size_t bytes, bool locked);
void given_unmap(const void *begin, size_t bytes);

/* A function of the test that is called at the beginning of each reading. It calls given_use() for what the program
 * would have accessed since the previous reading. */
extern void (*given_uses)(void);
/* The number of readings that succeed, the number that fail after them, and their error. */
extern unsigned given_readings_before, given_failing_readings;
extern int given_error;
/* The CPU time of a reading. */
extern uint64_t given_reading_ns;
/* Makes page_use_clear() fail, but not page_use_clear_all(). */
extern bool given_clearing_refused;
/* The results of mappings_count() and mappings_most(). */
extern size_t given_mappings, given_most_mappings;

/* ---- Threads ------------------------------------------------------------------------------------------- */

/* Makes each start of a thread fail. */
extern bool given_threads_refused;

/*
 * Lets the logic's thread run until it waits for a change or ends; the test waits meanwhile. Between these calls the
 * thread does nothing. The logic may start at most one thread.
 */
void thread_goes_on(void);

/* A thread other than the calling one. The thread counts as having stored its registers if the word at its stack
 * pointer is the address of the instruction at which it waits. */
struct given_thread {
  bool waits;
  struct waiting_thread waiting;
};
extern struct given_thread given_threads[2];
extern size_t given_thread_count;

/* Advances the clock. The logic's thread runs if the word that it waits for has changed, or if its waiting time is
 * over. */
void time_passes(uint64_t ns);

/* Is called in each wait_until() when the clock has reached the given moment. */
extern void (*given_while_waiting)(void);

/* ---- Trials and watchpoints ---------------------------------------------------------------------------- */

/* The results of safety_test_slots() and safety_test_watchpoints(). No watchpoint is ever set. */
extern const char *given_trial_of_slots, *given_trial_of_watch;

/* ---- Probes -------------------------------------------------------------------------------------------- */

/* The numbers of calls of the probes of allocations and of frees, and the arguments of the latest call for an
 * allocation. */
extern unsigned given_announced, given_announced_free;
extern const void *given_announced_object;
extern uint64_t given_announced_size, given_announced_weight;

/* ---- Stacks and objects -------------------------------------------------------------------------------- */

/* The calling thread's stack; empty if unknown. */
extern struct own_stack given_stack;
/* The loaded objects. NULL makes look-ups fail. */
extern const struct loaded_object *given_objects;
extern size_t given_object_count;
extern uintptr_t given_frame_pointer;

/* ---- Interruptions ------------------------------------------------------------------------------------- */

/*
 * Calls `meanwhile`, which acts as another thread or a signal handler, at the point of this number, counted from now.
 * Points are in the middle of each addition of platform/arch.h, before each atomic load, compare-and-exchange and
 * change of bits, and in reading the thread's name. `meanwhile` has no points.
 */
void interrupt_at(unsigned point, void (*meanwhile)(void));

/* Returns whether `meanwhile` was called. If not, it will not be. */
bool was_interrupted(void);

/* ---- Cases --------------------------------------------------------------------------------------------- */

static inline void take_arguments(int argc, char **argv) {
  if (argc > 1) given_page_bytes = strtoul(argv[1], NULL, 10);
}

/* Runs a case in a process of its own, and returns the case's result. */
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

/*
 * Runs a case with the numbers 1, 2, 3, ... until the case returns NOT_REACHED, each in a process of its own.
 * POINTS_APART makes it run only each POINTS_APART-th number and the numbers around the last. Returns the number of
 * points.
 */
enum { REACHED = 0, NOT_REACHED = 42 };

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

/* Defines a case without a number, for RUN. */
#define CASE(test)                    \
  static void test(void);             \
  static int run_##test(unsigned n) { \
    (void)n;                          \
    test();                           \
    return REACHED;                   \
  }                                   \
  static void test(void)

#endif
