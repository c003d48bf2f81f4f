/*
 * Observes whether sampled objects are used. Some of them are in slots, on pages of their own (slots.h). Once an epoch,
 * a thread reads the accessed bits of these pages.
 *
 * An epoch lasts 5 s, or a thousand times the CPU time of a reading if that is longer, so observation takes at most a
 * thousandth of one processor. If epochs would be longer than a minute, no more objects are moved into slots.
 *
 * If a slot was accessed in an epoch, the end of the epoch is stored as the time of its last access, and its accessed
 * bit is cleared (the slot is "cooled"). In a void epoch (scan.h), a set bit still shows an access, but a clear bit
 * shows nothing.
 *
 * When no caller wants observation any more, the thread rests: it reads nothing, and no object is moved into a slot.
 * The thread does not end, so that mallometer_leaks_stop() need not wait for it. After a rest, the objects in slots
 * count as just accessed.
 */
#ifndef MALLOMETER_LEAK_OBSERVATION_H
#define MALLOMETER_LEAK_OBSERVATION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "mallometer.h"

#define DEFAULT_ARENA_BYTES ((size_t)16 << 20)
#define DEFAULT_SHORTEST_EPOCH_MS 5000u

enum leaks_wanted { LEAKS_UNWANTED, LEAKS_WANTED, LEAKS_WANTED_BY_CLEAR_REFS };

void observation_configure(enum leaks_wanted wanted, size_t arena_bytes);

/* Implements mallometer_leaks_start(). `unable` says why nothing can be observed in this process; NULL if objects can
 * be observed. */
int observation_start(const char *unable);

int observation_stop(void);

/* Must be called after a time in which the library did not see the frees of the program. Objects in slots lose their
 * call sites, and slots whose pages are unmapped are retired. May change errno. */
void observation_forget(void);

/* Sets the shortest epoch. Returns false if the value is not between 10 ms and a minute. May be called from any thread.
 */
bool observation_shorten(uint64_t shortest_epoch_ms);

void observation_describe(struct mallometer_observation *out);

/* Sets the shortest length of an epoch, as a multiple of the CPU time that one reading of the accessed bits takes.
 * Returns false if the multiple is not between 10 and 1,000,000. May be called from any thread. */
bool observation_spend(uint64_t looks_in_an_epoch);

/* Implements mallometer_watch() for checked site numbers. */
int observation_watch(const uint32_t *sites, uint32_t count);

/*
 * Makes the observing thread call `read` once, right after it has read the accessed bits. `read` may access slots,
 * because their bits are cleared afterwards. A `read` that takes long makes the epoch void. Only one thread may use
 * this function at a time.
 */
void observation_read_slots(void (*read)(void));

/* Returns whether the observing thread runs or is about to run. If not, no thread reads the accessed bits, so any
 * thread may read objects in slots. */
bool observation_looks(void);

/* Cancels the request of observation_read_slots(). Returns false if `read` has been called already or is running. */
bool observation_does_not_read_slots(void);

bool observation_has_evidence(void);

/* Ends observation in the child of a fork, which has no observing thread. */
void observation_forked(void);

/* observation_footprint() returns the bytes mapped for observation, plus the bytes that slots take beyond their
 * objects. observation_overhead_ns() returns the observing thread's CPU time. */
size_t observation_footprint(void);
uint64_t observation_overhead_ns(void);

#endif
