/*
 * Finds the last accesses to objects of suspect call sites with the processor's debug registers.
 *
 * A register stops the thread that accesses the first 8 bytes of an object, and a signal handler stores the thread's
 * stack. Each access overwrites the stored stack, so the stack of the last access remains. Objects that are already
 * idle would show no access. Young objects of the same site are watched instead, from the moment when they are moved
 * into a slot (slots.h), and only in the thread that allocated them.
 *
 * The kernel lends the registers (perf_event_open with a synchronous SIGTRAP, since 5.13). They are few, so two objects
 * at a time are watched, each for writes and for accesses of any kind. The kernel disarms a register after 8 accesses.
 * Accesses by the kernel and by other threads are not seen.
 *
 * Nothing is watched if the kernel refuses, if a debugger is attached, or if the program handles SIGTRAP itself;
 * mallometer_observation.watch_reason says why. Objects of threads whose alternate stack has no room for the handler
 * are not watched either.
 */
#ifndef MALLOMETER_LEAK_WATCH_H
#define MALLOMETER_LEAK_WATCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "leak/slots.h"
#include "mallometer.h"

#define MOST_WATCHED_SITES 4u

enum watch_trial {
  WATCH_WORKS,
  WATCH_FORBIDDEN,
  WATCH_NOT_IN_KERNEL,
  WATCH_KERNEL_IS_OLD,
  WATCH_NO_REGISTERS,
  WATCH_COMES_LATE,
  WATCH_REPEATS
};

/* Tests whether watching works, on memory of its own. Call this only in a process that may die and has no handler of
 * SIGTRAP: kernels before 5.18 end the process when the test accesses the memory while SIGTRAP is blocked. */
enum watch_trial watch_self_test(void);

const char *watch_trial_means(enum watch_trial trial);

/* Watches these sites (at most MOST_WATCHED_SITES) from this call on, and no others. Returns NULL, or why that is
 * impossible. */
const char *watch_sites(const uint32_t *sites, uint32_t count);

/*
 * Ends all watching if this library's handler of SIGTRAP was replaced, because a watched access could then end the
 * program. Must be called a few times a second while sites are watched. Returns the reason if it has ended watching,
 * otherwise NULL.
 */
const char *watch_look_after_signal(void);

bool watch_is_on(void);

/*
 * Watches a new object if its site is watched and a debug register is free. A register also becomes free when its
 * object was freed or has been watched for a second. Must be called in the allocating thread, within the allocation.
 * Does not allocate; preserves errno.
 */
void watch_new_object(const struct slot_object *object);

void watch_forked(void);

/* Copies the stored accesses to objects of sites that are or were watched: for each site, the last write and the last
 * access of any kind. Returns their number. */
uint32_t watch_accesses(struct mallometer_access *accesses, uint32_t capacity);

#endif
