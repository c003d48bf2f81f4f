/*
 * The platform made for tests: what the headers of src/platform promise, kept by variables and arrays. The clock stands
 * until the test sets it, memory is refused when the test says so, pages are as large as it likes and used when it says
 * so, the library's thread goes step by step, and between the halves of whatever another thread may come between, it
 * can come.
 *
 * A case runs in a process of its own, so that it begins with empty tables.
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

/* ---- The clock ----------------------------------------------------------------------------------------- */

extern uint64_t given_monotonic_ns, given_realtime_ns, given_cpu_ns;
/* As where there is no vDSO: the clock that is read inside of malloc goes on by what samples are billed. */
extern bool given_clock_passes;

/* ---- Memory -------------------------------------------------------------------------------------------- */

/* 4096, unless the test is called with another size. */
extern size_t given_page_bytes;
/* What memory_limit(), memory_shortage() and memory_is_locked() answer. */
extern const char *given_limit, *given_shortage;
extern bool given_lock_of_all;
/* What is resident, by process_memory(). */
extern uint64_t given_resident_bytes;

/* The request for memory, or for a change of pages, of that number from now on is refused: 1 is the next. 0: none. */
void refuse_memory_request(unsigned number);

/* Whether it was. */
bool memory_was_refused(void);

/* Bytes of all arrays that are in use. */
size_t memory_taken(void);

/* What mappings_read() tells; NULL: nothing. Only what lies in them can be copied. */
struct mapping;
extern const struct mapping *given_rows;
extern size_t given_row_count;
/* Called for each page that is asked for, to say in which enum page_state it is, or that the kernel does not
 * tell; NULL: all are in memory. */
extern uint8_t (*given_page_state)(uintptr_t address);
/* Called before each copy. */
extern void (*given_while_copying)(void);
/* What trial_of_copying() answers for either way, and trial_of_mincore(). */
extern const char *given_trials_of_copying[2], *given_trial_of_mincore;
/* The way in which memory was last copied. */
extern int given_copying;
/* Where there is none, the states do not tell of swapped pages; so many bytes are. */
extern bool given_no_pagemap;
extern uint64_t given_swapped_bytes;

/* ---- The range of pages, and their use ----------------------------------------------------------------- */

/* The most that page_range_reserve() gives: at first enough for all slots with pages of 4 and 16 KiB. */
extern size_t given_range_bytes;
extern char *const given_range;

/* The pages that hold these bytes are used now, are locked as by mlock(2) or no longer, are unmapped from now on. */
void given_use(const void *begin, size_t bytes);
void given_lock(const void *begin, size_t bytes, bool locked);
void given_unmap(const void *begin, size_t bytes);

/* Called at the begin of each reading, to say by given_use() what was used since the one before. */
extern void (*given_uses)(void);
/* After so many readings that work, so many fail, with this error. */
extern unsigned given_readings_before, given_failing_readings;
extern int given_error;
/* Processor time of a reading. */
extern uint64_t given_reading_ns;
/* page_use_clear() fails, page_use_clear_all() does not. */
extern bool given_clearing_refused;
/* What mappings_count() and mappings_most() answer. */
extern size_t given_mappings, given_most_mappings;

/* ---- Threads ------------------------------------------------------------------------------------------- */

/* No thread can be started. */
extern bool given_threads_refused;

/*
 * The thread that the logic has started runs until it waits for a change or ends, while the test waits for it. There is
 * one at most, and it does nothing between these calls.
 */
void thread_goes_on(void);

/* The clock moves on by so much. The thread runs when what it waits for has changed, and when its time has come. */
void time_passes(uint64_t ns);

/* Called in each wait_until(), when the clock has reached the moment. */
extern void (*given_while_waiting)(void);

/* ---- What is tried out, and watchpoints ---------------------------------------------------------------- */

/* What trial_of_slots() and trial_of_watch() answer. Nothing is ever watched. */
extern const char *given_trial_of_slots, *given_trial_of_watch;

/* ---- Probes -------------------------------------------------------------------------------------------- */

/* Of those called so far, and what the last one of an allocation said. */
extern unsigned given_announced, given_announced_free;
extern const void *given_announced_object;
extern uint64_t given_announced_size, given_announced_weight;

/* ---- Stacks and objects -------------------------------------------------------------------------------- */

/* The calling thread's; empty if it is not known. */
extern struct own_stack given_stack;
/* What is loaded. NULL: nobody can tell. */
extern const struct loaded_object *given_objects;
extern size_t given_object_count;
extern uintptr_t given_frame_pointer;

/* ---- Interruptions ------------------------------------------------------------------------------------- */

/*
 * At the point of that number, from now on, `meanwhile` is called, as another thread or a signal handler would act.
 * Points are in the middle of each addition of the processor, before each atomic load and each compare-and-exchange,
 * and where the thread's name is asked for; what happens in `meanwhile` has none.
 */
void interrupt_at(unsigned point, void (*meanwhile)(void));

/* Whether it was. If not, it is not any more. */
bool was_interrupted(void);

/* ---- Cases --------------------------------------------------------------------------------------------- */

static inline void take_arguments(int argc, char **argv) {
  if (argc > 1) given_page_bytes = strtoul(argv[1], NULL, 10);
}

/* Runs a case in a process of its own, which ends with what it returns. Returns that. */
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
 * Runs a case with 1, 2, 3, ..., each time apart, until it answers NOT_REACHED: there is no such point any more.
 * Returns the number of points.
 */
enum { REACHED = 0, NOT_REACHED = 42 };

static inline unsigned at_each_point(int (*test)(unsigned)) {
  unsigned points = 0;
  for (;;) {
    int end = apart(test, points + 1);
    if (end == NOT_REACHED) return points;
    CHECK_EQUAL(end, REACHED);
    CHECK(++points < 10000);
  }
}

#define RUN(test) CHECK_EQUAL(apart(run_##test, 0), REACHED)

/* Defines a case without number, to be given to RUN. */
#define CASE(test)                    \
  static void test(void);             \
  static int run_##test(unsigned n) { \
    (void)n;                          \
    test();                           \
    return REACHED;                   \
  }                                   \
  static void test(void)

#endif
