/*
 * Monitors: functions of the program that hear of every counted event.
 *
 * While one is registered the hook takes the complete route, which passes each event through one place for allocations
 * and one for frees (hooks/complete.c), whatever called what: there the monitors are called. While none is registered
 * the counted route is open as ever and knows nothing of them.
 *
 * A bit of `monitors` says whether a monitor is to be called. A thread that calls one raises the number of its running
 * calls first and reads the bit again; whoever unregisters clears the bit first and then waits until no call is
 * running. Either the thread sees the cleared bit, or it is waited for. A thread in a callback has a mark of its own,
 * so that what the callback allocates calls nobody.
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

/* A monitor's function that adds 1 to the class of the actual size among the MALLOMETER_SIZE_CLASSES at `context`. */
void monitors_count_actual(void *context, void *object, size_t requested, size_t actual);

/* Returns the monitor's number, or -EAGAIN if MOST_MONITORS are registered. */
int monitor_add(const struct mallometer_monitor *monitor);

/* Waits for callbacks that run in other threads. -EINVAL: there is no such monitor; -EBUSY: one still runs after a
 * second, or this thread is in a callback, or another removes it; it must be removed again unless the other does. */
int monitor_remove(uint32_t number);

/* In the child of a fork, where no other thread is in a callback. */
void monitors_forked(void);

#endif
