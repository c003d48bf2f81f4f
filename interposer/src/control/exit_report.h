/*
 * The report on the program's memory, written to standard error when the program ends (MALLOMETER_MONITOR). It serves
 * programs that cannot be queried, and forked children.
 *
 * Only the part `usable-sizes` costs time while the program runs. The other numbers come from counters that exist
 * anyway.
 */
#ifndef MALLOMETER_CONTROL_EXIT_REPORT_H
#define MALLOMETER_CONTROL_EXIT_REPORT_H

#include <stdbool.h>

/* The parts of the report; no report if all are false. */
struct exit_report {
  /* A line with the peak of the live bytes and the totals. */
  bool maximum;
  /* The allocations of each size class. */
  bool histogram;
  /* Whether to report the allocations of each class of usable sizes. Counting them slows down every event. */
  bool returned;
  /* Whether to list the latest requests above MALLOMETER_HUGE, with their stacks. */
  bool threshold;
};

/* Makes the process write the report when it calls exit() or returns from main, unless standard error is another file
 * by then. A second call has no effect. Allocates. May change errno. */
void exit_report_start(struct exit_report wanted);

#endif
