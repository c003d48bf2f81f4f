/*
 * Who allocates: one record for each call stack that was sampled, with estimates of what it allocated and of what is
 * still live.
 *
 * A sample taken with probability p stands for 1/p allocations of its size s. For each call site the library adds up
 * 1/p, s/p and, for intervals, the estimated variances (1/p)(1/p - 1) and (1/p)(1/p - 1) s^2 (Horvitz and Thompson,
 * 1952; allocations are sampled independently of each other given p). When a sampled object is freed, the same amounts
 * go into a second set; live is the difference. At an interval of 1 all p are 1, the estimates are exact and the
 * variances 0.
 *
 * All lies in memory that is reserved when somebody will ask for it (src/control), and becomes resident as it is used:
 * records, stacks as a tree, modules, and a table of the live samples by address. Nothing is locked. A record is filled
 * before it is published and never moves; sums are doubles that a compare-and-exchange adds to. What finds no room is
 * counted.
 */
#ifndef MALLOMETER_SAMPLE_CALL_SITES_H
#define MALLOMETER_SAMPLE_CALL_SITES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "mallometer.h"
#include "platform/rows.h"
#include "platform/visibility.h"
#include "sample/modules.h"
#include "sample/native_stack.h"
#include "sample/sampler.h"

/*
 * Reserves the memory, once. NULL, or why there is none for it now. From any thread, in signal handlers too; may change
 * errno.
 */
const char *call_sites_start(void);

/* Whether it is there: then frees have to look for samples. */
bool call_sites_on(void);

/* Samples are recorded from now on; before, every free must look for them. */
void call_sites_open(void);

/*
 * Where Java frames come from; src/jvm registers itself. Both run inside of malloc: they allocate nothing, lock
 * nothing, keep errno.
 */
struct java_stacks {
  /* What the calling thread is to the JVM; NULL if it is none of its threads, or is in no state to be asked. */
  void *(*thread)(void);
  /*
   * Writes the Java frames of the calling thread, innermost first, as in stack_tree.h. `caller` is what called native
   * code, as in native_stack.h. Returns how many, at most `capacity`; below 0 if the JVM does not tell.
   */
  int (*walk)(void *thread, const struct registers *caller, uint64_t *frames, uint32_t capacity);
};

#define MOST_JAVA_FRAMES 512u

/* NULL: no Java frames from now on. `stacks` stays valid for good. */
void call_sites_use_java(const struct java_stacks *stacks);

/*
 * No Java frames from now on, and nobody is asking for any when this returns: threads that were are waited for, a tenth
 * of a second at most.
 */
void call_sites_leave_java(void);

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
 * Whether an object may be a live sample: false for nearly all that are none. One byte for each of 65,536 hashes of
 * addresses says how many live samples have it; 255 stays.
 */
extern HIDDEN uint8_t live_filter[65536];

static inline bool may_be_sampled(const void *object) {
  return __builtin_expect(live_filter[(uint16_t)((uintptr_t)object >> 4)] != 0, 0);
}

/* Whether it is one. The object is being freed: nobody else frees it meanwhile. */
bool is_live_sample(const void *object);

/* A sample that is taken out of the table of live ones. */
struct live_sample {
  uint32_t site;
  uint32_t born;
  double probability;
  size_t bytes;
};

#define NO_SITE UINT32_MAX
#define MOST_SITES 16384u
/* What an object that is none yields. The functions below do nothing with it. */
#define NO_LIVE_SAMPLE ((struct live_sample){.site = NO_SITE})

/*
 * Before the object is given back or moved, since its address may be another's the moment after. Put back if it then
 * stays after all (a realloc that fails), otherwise counted as freed.
 */
struct live_sample live_sample_remove(const void *object);
void live_sample_put_back(const void *object, struct live_sample sample);
void live_sample_freed(struct live_sample sample);

/* NULL if call sites are not recorded. */
const struct modules *call_sites_modules(void);

uint32_t live_samples_copy(const struct rows *objects);

uint32_t call_sites_copy(const struct rows *sites, uint32_t first);
int call_site_stack(uint32_t site, uint64_t *frames, uint32_t capacity);

struct call_sites_totals {
  uint32_t sites;
  uint32_t live_samples;
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
