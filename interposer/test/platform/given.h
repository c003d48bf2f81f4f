/*
 * The platform made for tests: what the headers of src/platform promise, kept by variables and arrays. The clock stands
 * until the test sets it, memory is refused when the test says so, pages are as large as it likes, and between the
 * halves of whatever another thread may come between, it can come.
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
/* What memory_limit() and memory_shortage() answer. */
extern const char *given_limit, *given_shortage;
/* How often memory or a change of it was asked for. */
extern unsigned memory_requests;

/* The request of that number, from now on, is refused: 1 is the next. 0: none. */
void refuse_memory_request(unsigned number);

/* Whether it was. */
bool memory_was_refused(void);

/* What page_range_reserve() has to give. */
extern char *const low_memory;
extern const size_t low_memory_bytes;
/* Bytes of arrays that were taken, and those of them that were given back and are holes since. */
size_t memory_taken(void);
size_t memory_given_back(void);

/* ---- Stacks and objects -------------------------------------------------------------------------------- */

/* The calling thread's; empty if it is not known. */
extern struct own_stack given_stack;
/* What is loaded. NULL: nobody can tell. */
extern const struct loaded_object *given_objects;
extern size_t given_object_count;
extern uintptr_t given_frame_pointer;

/* ---- The library's own thread, and what it looks at --------------------------------------------------- */

/* What was to be started; the test runs it. */
extern void *(*given_thread)(void *);
/* What happens while it waits; the clock has gone on by then. */
extern void (*given_wait)(void);

/* The mappings of the process that matter, and whether each was used; false, with errno, if that cannot be read. */
extern bool (*given_page_uses)(bool (*mapping)(uintptr_t begin, bool used));
/* Takes the use of the page that begins there back. */
extern bool (*given_page_clear)(uintptr_t begin);
extern bool (*given_page_unmapped)(uintptr_t begin);
extern size_t given_mappings;

void point_of_interruption(void);

/* ---- Interruptions ------------------------------------------------------------------------------------- */

/*
 * At the point of that number, from now on, `meanwhile` is called, as another thread or a signal handler would act.
 * Points are in the middle of each addition of the processor, before each atomic load and before each
 * compare-and-exchange; what happens in `meanwhile` has none.
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
