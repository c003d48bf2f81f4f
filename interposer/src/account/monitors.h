/*
 * Monitors: functions of the program that are called at each counted allocation and free.
 *
 * A route is a set of functions that serve the program's calls of malloc and its family (hooks/route.h). While a
 * monitor is registered, calls take ROUTE_COMPLETE, whose functions call the monitors (hooks/complete.c). The functions
 * of the faster ROUTE_COUNTED do not test for monitors.
 *
 * A bit of `monitors` is set while a monitor is to be called. A caller first raises the number of running calls, and
 * then reads the bit again. A thread that unregisters a monitor first clears the bit, and then waits until no call is
 * running. So either the caller sees the cleared bit, or the other thread waits for the call. Allocations of a callback
 * call no monitor.
 */
#ifndef MALLOMETER_ACCOUNT_MONITORS_H
#define MALLOMETER_ACCOUNT_MONITORS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "mallometer.h"
#include "platform/visibility.h"

#define MOST_MONITORS 8u

extern HIDDEN uint32_t monitors;

static inline bool monitors_listen(void) { return __atomic_load_n(&monitors, __ATOMIC_RELAXED) != 0; }

/* Call all monitors. Do nothing if the calling thread is in a callback. May change errno. */
void monitors_allocated(void *object, size_t requested, size_t actual);
void monitors_freed(const void *object, size_t actual);

/* A callback for monitors that adds 1 to the count of the size class of `actual`. `context` is an array of
 * MALLOMETER_SIZE_CLASSES counts. */
void monitors_count_actual(void *context, void *object, size_t requested, size_t actual);

/* Adds a monitor. Returns its number, or -EAGAIN if MOST_MONITORS are registered. */
int monitor_add(const struct mallometer_monitor *monitor);

/*
 * Removes a monitor and waits for its callbacks in other threads. Returns -EINVAL if there is no such monitor.
 * Returns -EBUSY if a callback still runs after a second, this thread is in a callback, or another thread is removing
 * the monitor. The caller may then try again.
 */
int monitor_remove(uint32_t number);

/* Must be called in the child of a fork. Sets the numbers of running callbacks to 0, because the child has no other
 * threads. */
void monitors_forked(void);

#endif
