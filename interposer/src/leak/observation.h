/*
 * Whether sampled objects are used: a thread of the library looks at the page slots once an epoch.
 *
 * An epoch lasts 5 s, or longer where looking takes longer: a thousand times the processor time that a look takes, so
 * that this costs no more than a thousandth of one processor. Where that would make epochs longer than a minute, no
 * more objects are placed until it no longer does.
 *
 * At its end each slot that was touched gets the time of that end as its last access, and is cooled for the next epoch.
 * In a void epoch (scan.h) what reads as touched was touched; nothing is known of the rest, and the epoch does not
 * count.
 *
 * When nobody wants to know any more, the thread rests: it looks at nothing, and nothing more comes into slots. It
 * stays, so that nobody has to wait for it in the middle of a look. When it goes on, all begins anew, with what is
 * still in slots as if it had just been used.
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

/* When the process starts: MALLOMETER_LEAKS and MALLOMETER_ARENA_BYTES. */
void observation_configure(enum leaks_wanted wanted, size_t arena_bytes);

/* As mallometer_leaks_start(). `unable` says why nothing can be observed in this process; NULL if it can. */
int observation_start(const char *unable);

/* As mallometer_leaks_stop(). */
int observation_stop(void);

/*
 * Calls were not seen for a time: what came into slots before belongs to no site any more, and slots whose pages the
 * allocator has unmapped are retired. May change errno.
 */
void observation_forget(void);

/* False if it cannot be that short. From any thread. */
bool observation_shorten(uint64_t shortest_epoch_ms);

/* Fills all fields. */
void observation_describe(struct mallometer_observation *out);

/* How many times as long as its processor time an epoch is. False if it cannot be that. From any thread. */
bool observation_spend(uint64_t looks_in_an_epoch);

/* As mallometer_watch(), for numbers that were checked. */
int observation_watch(const uint32_t *sites, uint32_t count);

/*
 * Has the thread that looks at slots call this once, right after a look, while slots may be read: they are cooled again
 * after it, and the epoch is void. While the thread rests it calls at once. One user at a time.
 */
void observation_read_slots(void (*read)(void));

/* Whether there is such a thread, or about to be. If not, slots may be read at any time. */
bool observation_looks(void);

/* Takes that back. False if it has been called, or is. */
bool observation_does_not_read_slots(void);

/* Whether there is evidence to read. */
bool observation_has_evidence(void);

/* In the child of a fork, which has no such thread: objects stay in their slots, no more come. */
void observation_forked(void);

/* Bytes mapped, and what slots take beyond their objects; time of the thread. */
size_t observation_footprint(void);
uint64_t observation_overhead_ns(void);

#endif
