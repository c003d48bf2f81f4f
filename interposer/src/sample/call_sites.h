/*
 * Call sites: one record for each call stack that was sampled, with estimates of its allocated and its live objects and
 * bytes.
 *
 * A sample taken with probability p stands for 1/p allocations of its size s. For each call site the library adds up
 * 1/p, s/p and, for confidence intervals, the estimated variances (1/p)(1/p - 1) and (1/p)(1/p - 1) s^2 (Horvitz and
 * Thompson, 1952; given their p, allocations are sampled independently of each other). When a sampled object is freed,
 * the same amounts are added to a second set of sums; the live objects and bytes are the differences. At a sampling
 * interval of 1 byte all p are 1, the estimates are exact and the variances 0.
 *
 * src/control reserves the memory when the process begins to record call sites. There are no locks. A record is filled
 * before it is published and never moves; a compare-and-exchange adds to its sums, which are doubles. Samples that find
 * no room are counted.
 *
 * A program that generates code has new stacks all the time. When half of the room for sites or for stacks is taken,
 * the thread that reads call sites forgets the sites whose latest sample is oldest, at most a quarter of the records at
 * once. It keeps sites with a live sample, with memory from mmap that is still mapped, or with a sample in the last ten
 * seconds. When a record gets another site, its number rises by 16,384, so numbers stay unique.
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

/* Reserves the memory, once. Returns NULL, or the reason why there is none. May be called from any thread and in
 * signal handlers. May change errno. */
const char *call_sites_start(void);

/* Returns whether the memory for call sites is reserved. Once it is, every free must check whether its object was
 * sampled. */
bool call_sites_on(void);

/* Lets call_sites_record() record samples. Before this call, every free must already check whether its object was
 * sampled. */
void call_sites_open(void);

size_t call_sites_footprint(void);

/* A sampled allocation. `probability` is the probability with which it was chosen. `block` belongs to the calling
 * thread, or is NULL. */
struct sample {
  struct thread_block *block;
  void *object;
  size_t requested;
  size_t bytes;
  struct move move;
  struct origin origin;
  double probability;
  /* Whether nearly every allocation is sampled. */
  bool samples_all;
  /* Whether the sample is a mapping of memory. If so, call_sites_record() does not add the sample to sums, and
   * returns the number of the sample's site instead of an address. */
  bool maps;
  /* The units of work that were done for the sample (sample/work.h). */
  uint32_t work;
};

/* Writes the calling thread's native and Java frames, from given registers on, in the encoding of call sites. Returns
 * their number. May be called in signal handlers. Preserves errno. */
uint32_t call_sites_stack_at(struct registers here, uint64_t *frames, uint32_t capacity);

/* Returns the bytes of stack that a signal handler needs for call_sites_stack_at(), including the array of frames. */
size_t call_sites_stack_use(void);

/* Returns whether the thread is on its own stack and has room there to walk the stack. */
bool call_sites_may_walk(struct origin origin);

/* Records a sample. Returns the object's address, which changes if the object is moved. Preserves errno. */
void *call_sites_record(struct sample *sample);

/*
 * Returns the number of a mapping's site; NO_SITE if there is none. Adds a reference, which keeps the site from being
 * forgotten. `block` belongs to the calling thread, or is NULL. Sets `work` to the work that was done
 * (sample/work.h). Preserves errno.
 */
uint32_t call_sites_of_mapping(struct thread_block *block, size_t bytes, struct origin origin, uint32_t *work);

/* Adds `by` to the number of mapped ranges that refer to a site. Does nothing for numbers that mean "no site"
 * (account/ranges.h). */
void call_sites_refer(uint32_t site, int32_t by);

/* Sets every site's number of mapped ranges to 0: no range refers to a site any more. */
void call_sites_release_all(void);

/*
 * Moves a sampled object to pages of its own (a slot, leak/slots.h), where its accesses can be observed. Also stores
 * `live`, the data of the sample, until the object is freed. Returns the new address; NULL if the object is not moved.
 * Called inside of malloc, so it must not allocate or lock, and must preserve errno.
 */
typedef void *sample_mover(const struct sample *sample, const struct live_sample *live);

/* Sets the function that moves sampled objects. With NULL, the initial value, no object is moved. */
void call_sites_set_mover(sample_mover *mover);

/* Handle a sample that was removed from the live samples (live_samples.h). call_sites_put_back() puts it back after a
 * realloc that failed. call_sites_count_free() counts it as freed. Both do nothing for NO_LIVE_SAMPLE. */
void call_sites_put_back(const void *object, struct live_sample sample);
void call_sites_count_free(struct live_sample sample);

uint32_t call_sites_live_samples(uint32_t site);

/* Counts all live samples as freed. Call this if the library has not seen the program's frees for a while. */
void call_sites_forget(void);

/* Resets the counts of threads that are taking a sample. Call this in a forked child: the parent's threads do not
 * exist there, and forgetting sites would wait for them. */
void call_sites_forked(void);

/* Returns NULL if call sites are not recorded. */
const struct modules *call_sites_modules(void);

/* Forgets sites if room is scarce. Must not be called inside of malloc's family. */
void call_sites_make_room(void);

/*
 * Copies call sites from index `first` of the library's table on, in no particular order. Returns the number of copied
 * rows. A row has no frames and no samples if its entry is unused, or if its site has only mappings. If `first` is 0,
 * calls call_sites_make_room() first.
 */
uint32_t call_sites_copy(struct mallometer_site *sites, uint32_t capacity, uint32_t first);

/* Writes a row for each site with objects that cleaners freed, and returns the number of rows. A row has sums for
 * two collections of the old generation: the collection with the number `collection`, and the one before. */
uint32_t call_sites_copy_cleaned(struct mallometer_cleaned *rows, uint32_t capacity, uint64_t collection);

/*
 * call_sites_places() returns the number of entries in the library's table of sites. call_site_live_bytes() returns the
 * estimated live bytes of the site at index `place` of the table, and sets `number` to the site's number. It reads only
 * two cache lines, so that a thread can compare all sites often.
 */
uint32_t call_sites_places(void);
double call_site_live_bytes(uint32_t place, uint32_t *number);

int call_site_stack(uint32_t site, uint64_t *frames, uint32_t capacity);

struct call_sites_totals {
  uint32_t sites;
  /* Samples that got no site, because the table of sites had no room. */
  uint64_t without_site;
  /* Samples whose object had no room in the table of live samples, or whose free was not seen. */
  uint64_t without_place;
  /* Samples of a site whose stack had more frames than are stored. */
  uint64_t truncated;
  uint64_t without_java;
  /* Samples for which the stack could not be walked: the thread used another stack than its own, or had too little
   * room left on its own stack. */
  uint64_t without_stack;
};

struct call_sites_totals call_sites_totals(void);

#endif
