/*
 * Monitors: functions of the program that are called at each counted allocation and free.
 *
 * While a monitor is registered, the hooked functions take the complete route (hooks/route.h), whose functions call the
 * monitors (hooks/complete.c). Otherwise they take the counted route, which does not test for monitors.
 *
 * A bit of `monitors` says whether a monitor is to be called. A thread that is about to call a monitor first raises the
 * monitor's number of running calls, and then reads the bit again. A thread that unregisters the monitor first clears
 * the bit, and then waits until no call is running. Either the calling thread sees the cleared bit, or the
 * unregistering thread waits for the call. A thread sets a mark while it calls monitors, so that allocations of a
 * callback call no monitor.
 */
#ifndef MALLOMETER_ACCOUNT_MONITORS_H
#define MALLOMETER_ACCOUNT_MONITORS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "mallometer.h"
#include "platform/visibility.h"

#define MOST_MONITORS 8u

/* A bit for each monitor that is to be called. */
extern HIDDEN uint32_t monitors;

static inline bool monitors_listen(void) { return __atomic_load_n(&monitors, __ATOMIC_RELAXED) != 0; }

/* Call all monitors. Do nothing if the calling thread is in a callback. May change errno. */
void monitors_allocated(void *object, size_t requested, size_t actual);
void monitors_freed(const void *object, size_t actual);

/* Is a callback for monitors: adds 1 to the count of the size class of `actual`, in an array of MALLOMETER_SIZE_CLASSES
 * counts at `context`. */
void monitors_count_actual(void *context, void *object, size_t requested, size_t actual);

/* Adds a monitor. Returns its number, or -EAGAIN if MOST_MONITORS are registered. */
int monitor_add(const struct mallometer_monitor *monitor);

/* Removes a monitor and waits for its callbacks in other threads. -EINVAL: there is no such monitor. -EBUSY: a callback
 * still runs after a second, or this thread is in a callback, or another thread is removing the monitor. The caller may
 * try again after -EBUSY. */
int monitor_remove(uint32_t number);

/* Resets the number of running calls of each monitor in the child of a fork, where no other thread is in a callback. */
void monitors_forked(void);

#endif
