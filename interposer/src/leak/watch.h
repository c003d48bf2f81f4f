/*
 * Where objects of suspect call sites are last used: the processor itself tells, by its debug registers.
 *
 * A register stops the thread that touches 8 bytes of an object, and the stack of that moment is kept; the next touch
 * overwrites it, so what remains is the last. An object that nobody touches any more would tell nothing if it were
 * watched now: the young ones of the same site are, from the moment they come into a slot, in the thread that made
 * them.
 *
 * The kernel lends the registers (perf_event_open with a synchronous SIGTRAP, since 5.13). They are few: two objects at
 * a time, each watched for writes and for accesses of any kind, in its first 8 bytes. Each is disarmed by the kernel
 * after a handful of touches, so that an object in use costs no more than they do. Touches by the kernel and by other
 * threads are not seen.
 *
 * Where the kernel refuses, where a debugger is attached, or where the program handles SIGTRAP itself, nothing is
 * watched, and the reason can be read. Nor are objects of threads whose alternate stack has no room for the handler.
 */
#ifndef MALLOMETER_LEAK_WATCH_H
#define MALLOMETER_LEAK_WATCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "leak/slots.h"
#include "mallometer.h"

#define MOST_WATCHED_SITES 4u

/* How a self-test ends. */
enum watch_trial {
  WATCH_WORKS,
  WATCH_FORBIDDEN,
  WATCH_NOT_IN_KERNEL,
  WATCH_KERNEL_IS_OLD,
  WATCH_NO_REGISTERS,
  WATCH_COMES_LATE,
  WATCH_REPEATS
};

/*
 * Tries all that watching needs, on memory of its own, also while SIGTRAP is blocked, which kernels before 5.18 end the
 * process for: to be called in a process that may die, with no handler of SIGTRAP.
 */
enum watch_trial watch_self_test(void);

/* In words. */
const char *watch_trial_means(enum watch_trial trial);

/* Watches these sites, and no others, from now on; at most MOST_WATCHED_SITES. NULL, or why that is impossible. */
const char *watch_sites(const uint32_t *sites, uint32_t count);

/*
 * Ends all watching if the program has taken SIGTRAP, or given it back its default, while something is watched: it
 * would be told of touches, or be ended by one. To be called a few times a second. NULL, or why it has ended.
 */
const char *watch_look_after_signal(void);

/* Whether any site is. */
bool watch_is_on(void);

/*
 * To be told of each object that comes into a slot, by the thread that allocates it, in the middle of that. Allocates
 * nothing; keeps errno.
 */
void watch_new_object(const struct slot_object *object);

/* In the child of a fork, where nothing is watched. */
void watch_forked(void);

/* Copies what was seen; returns how many. */
uint32_t watch_accesses(struct mallometer_access *accesses, uint32_t capacity);

#endif
