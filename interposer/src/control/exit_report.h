/*
 * What a program did with its memory, said on standard error when it ends (MALLOMETER_MONITOR).
 *
 * For programs that nobody can ask: every preloaded program has it, and so have its forked children, which inherit the
 * function that is called at exit. All figures but those of `usable-sizes` are of counters
 * that exist anyway, so they cost nothing before.
 */
#ifndef MALLOMETER_CONTROL_EXIT_REPORT_H
#define MALLOMETER_CONTROL_EXIT_REPORT_H

#include <stdbool.h>

/* What is said; nothing if all are false. */
struct exit_report {
  /* One line: the peak, and the sums. */
  bool maximum;
  /* How many allocations there were of each size class. */
  bool histogram;
  /* The same by the sizes that the allocator handed out, by a monitor: every event takes the longer route. */
  bool returned;
  /* The latest requests above MALLOMETER_HUGE, with their stacks. */
  bool threshold;
};

/* Has it said when the process calls exit() or returns from main. Not for signals or _exit(), and not
 * if standard error is another file by then. Allocates; no effect the second time. May change errno. */
void exit_report_start(struct exit_report wanted);

#endif
