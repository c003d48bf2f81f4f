/*
 * Call sites: one record for each call stack that was sampled, with estimates of its allocated and its live objects and
 * bytes.
 *
 * A sample taken with probability p stands for 1/p allocations of its size s. For each call site the library adds up
 * 1/p, s/p and, for intervals, the estimated variances (1/p)(1/p - 1) and (1/p)(1/p - 1) s^2 (Horvitz and Thompson,
 * 1952; allocations are sampled independently of each other given p). When a sampled object is freed, the same amounts
 * go into a second set; live is the difference. At an interval of 1 all p are 1, the estimates are exact and the
 * variances 0.
 *
 * Records, the tree of stacks and modules lie in memory that src/control reserves when call sites will be read. Its
 * pages become resident when they are used. There are no locks. A record is filled before it is published and never
 * moves; a compare-and-exchange adds to its sums, which are doubles. Samples that find no room are counted.
 *
 * A program that generates code (each Groovy script is a class) has ever new stacks. When half of the room is taken, a
 * reader forgets the sites whose latest sample is oldest: at most a quarter of all at once, none with a live sample,
 * none with a sample in the last ten seconds. When a record gets another site, its number rises by 16,384, so that no
 * two sites ever have the same number.
 */
#ifndef MALLOMETER_SAMPLE_CALL_SITES_H
#define MALLOMETER_SAMPLE_CALL_SITES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "mallometer.h"
#include "sample/live_sample.h"
#include "sample/modules.h"
#include "sample/move.h"
#include "sample/native_stack.h"
#include "sample/origin.h"

/*
 * Reserves the memory, once. NULL, or why there is none for it now. From any thread, in signal handlers too; may change
 * errno.
 */
const char *call_sites_start(void);

/* Whether it is there: then frees have to look for samples. */
bool call_sites_on(void);

/* Samples are recorded from now on; before, every free must look for them. */
void call_sites_open(void);

/* Bytes reserved. */
size_t call_sites_footprint(void);

/* An allocation that is taken with a probability. `block` is the calling thread's, or NULL. */
struct sample {
  struct thread_block *block;
  void *object;
  size_t requested;
  size_t bytes;
  struct move move;
  struct origin origin;
  double probability;
  /* Whether nearly every allocation is sampled. */
  bool closely;
  /* What was done with it (sample/work.h). */
  uint32_t work;
};

/*
 * The stack of the calling thread from given registers on, native and Java frames as in call sites. Returns how many.
 * In signal handlers, too. Keeps errno.
 */
uint32_t call_sites_stack_at(struct registers here, uint64_t *frames, uint32_t capacity);

/* Bytes of stack that a handler needs for that, with room for the frames. */
size_t call_sites_stack_use(void);

/* Whether the thread is on its own stack and has room there to follow it. */
bool call_sites_may_follow(struct origin origin);

/* Returns where the object is now. Keeps errno. */
void *call_sites_take(struct sample *sample);

/*
 * Moves the object of a sample to where its use can be observed, or not: returns where it is now, NULL if it stays. Who
 * moves it keeps what the table of live samples would, until the object is freed. Runs inside of malloc: allocates
 * nothing, locks nothing, keeps errno.
 */
typedef void *sample_mover(const struct sample *sample, const struct live_sample *live);

/* Sets the function that moves samples; NULL, as at the start: none is moved. */
void call_sites_move_by(sample_mover *mover);

/*
 * What becomes of a sample that was taken from the live ones (live_samples.h): it is put back if its object stays after
 * all (a realloc that fails), otherwise counted as freed. Nothing happens with NO_LIVE_SAMPLE.
 */
void call_sites_put_back(const void *object, struct live_sample sample);
void call_sites_count_free(struct live_sample sample);

/* Counts all samples as freed that are live: of what comes nobody is told. */
void call_sites_forget(void);

/* Resets the sections in a forked child: the threads that were in them do not exist there. */
void call_sites_forked(void);

/* NULL if call sites are not recorded. */
const struct modules *call_sites_modules(void);

/* Forgets sites if room gets scarce. Must not be called inside of malloc's family. */
void call_sites_make_room(void);

/* Copies rows, in no order; some rows have no site. Calls call_sites_make_room() before row 0. */
uint32_t call_sites_copy(struct mallometer_site *sites, uint32_t capacity, uint32_t first);
int call_site_stack(uint32_t site, uint64_t *frames, uint32_t capacity);

struct call_sites_totals {
  uint32_t sites;
  /* Samples whose stack found no room, and those that could not be followed until they are freed. */
  uint64_t without_site;
  uint64_t without_place;
  /* Samples at a site whose stack had more frames than are kept. */
  uint64_t truncated;
  uint64_t without_java;
  /* Samples on another stack than the thread's own, and those with too little of it left. */
  uint64_t without_stack;
};

struct call_sites_totals call_sites_totals(void);

#endif
