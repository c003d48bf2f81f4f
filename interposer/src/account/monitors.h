/*
 * Monitors: functions of the program that are called at every counted event.
 *
 * While one is registered the hook takes the complete route, which passes each event through one place for allocations
 * and one for frees (hooks/complete.c), whichever function the program called: there the monitors are called. Without
 * monitors the counted route is open, which does not test for them.
 *
 * A bit of `monitors` says whether a monitor is to be called. A thread that calls one first raises the number of its
 * running calls and then reads the bit again; a thread that unregisters it first clears the bit and then waits until no
 * call is running. Either the caller sees the cleared bit, or the other thread waits for it. A thread in a callback has
 * a mark, so that allocations of the callback call no monitor.
 */
#ifndef MALLOMETER_ACCOUNT_MONITORS_H
#define MALLOMETER_ACCOUNT_MONITORS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "mallometer.h"
#include "platform/visibility.h"

#define MOST_MONITORS 8u

/* A bit for each monitor that is called. */
extern HIDDEN uint32_t monitors;

static inline bool monitors_listen(void) { return __atomic_load_n(&monitors, __ATOMIC_RELAXED) != 0; }

/* Call all monitors, unless the thread is in a callback. May change errno. */
void monitors_allocated(void *object, size_t requested, size_t actual);
void monitors_freed(const void *object, size_t actual);

/* Is a monitor's function: adds 1 to the class of the actual size among the MALLOMETER_SIZE_CLASSES at `context`. */
void monitors_count_actual(void *context, void *object, size_t requested, size_t actual);

/* Returns the monitor's number, or -EAGAIN if MOST_MONITORS are registered. */
int monitor_add(const struct mallometer_monitor *monitor);

/* Removes a monitor. Waits for callbacks in other threads. -EINVAL: there is no such monitor; -EBUSY: a callback runs
 * after a second, or this thread is in one, or another thread removes it; repeat unless that one succeeds. */
int monitor_remove(uint32_t number);

/* Ends all calls in the child of a fork, where no other thread is in a callback. */
void monitors_forked(void);

#endif
