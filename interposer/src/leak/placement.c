/* Decides at random whether a sampled object gets a slot (pages of its own, slots.h), and moves it there. See
 * placement.h. */
#include "leak/placement.h"

#include <string.h>

#include "allocator/glibc.h"
#include "allocator/next.h"
#include "leak/evidence.h"
#include "platform/arch.h"
#include "platform/keep_errno.h"
#include "platform/memory.h"
#include "sample/call_sites.h"
#include "sample/sampler.h"

struct share {
  uint32_t first; /* the first epoch with a sample; 0 if there was none */
  uint32_t epoch;
  uint32_t samples; /* the site's samples in `epoch` */
  uint32_t before;  /* the site's samples in the epoch before `epoch` */
  uint32_t live;    /* the site's live objects in slots (slots.h) */
  uint32_t kept;    /* the number of the site's earlier samples that were live at its first sample in `epoch` */
};

static struct share *shares;
static uint32_t epoch = 1;
static size_t limit;
static struct placement_totals totals;

size_t placement_footprint(void) { return shares ? memory_whole_pages(MOST_SITES * sizeof *shares) : 0; }

void placement_limit(size_t bytes) { __atomic_store_n(&limit, bytes, __ATOMIC_RELAXED); }

size_t placement_limited_to(void) { return __atomic_load_n(&limit, __ATOMIC_RELAXED); }

void placement_next_epoch(void) { __atomic_fetch_add(&epoch, 1, __ATOMIC_RELAXED); }

/* ---- The probability ----------------------------------------------------------------------------------- */

/* The counts need no lock. A lost update changes the probability a little, and each object stores the probability
 * that was really used. */
static uint32_t load(const uint32_t *word) { return __atomic_load_n(word, __ATOMIC_RELAXED); }

static void store(uint32_t *word, uint32_t value) { __atomic_store_n(word, value, __ATOMIC_RELAXED); }

static bool is_recurring(struct share *share) {
  uint32_t now = load(&epoch), first = load(&share->first);
  if (first == 0) store(&share->first, now);
  return first != 0 && now - first >= EPOCHS_BEFORE_SLOTS;
}

/* Counts a sample. Returns the site's samples in this epoch or in the epoch before, whichever are more. */
static uint32_t samples_of(struct share *share, uint32_t site) {
  uint32_t now = load(&epoch), since = now - load(&share->epoch);
  if (since > 0) {
    store(&share->kept, call_sites_live_samples(site) - 1); /* excludes this sample */
    store(&share->before, since == 1 ? load(&share->samples) : 0);
    store(&share->samples, 0);
    store(&share->epoch, now);
  }
  uint32_t samples = load(&share->samples) + 1, before = load(&share->before);
  store(&share->samples, samples);
  return samples > before ? samples : before;
}

static double at_most_1(double value) { return value < 1 ? value : 1; }

static double left_for(uint32_t class, size_t excess) {
  double of_memory = 1 - (double)(slots_excess() + excess) / (double)placement_limited_to();
  double of_slots = slots_left(class);
  return of_memory < of_slots ? of_memory : of_slots;
}

static double squared(double value) { return value * value; }

struct chances {
  double if_there_were_room;
  double as_it_is;
};

/* Returns how many of a site's samples to move into slots (pages of their own) in an epoch. The number is higher if
 * many of the site's samples stay live but few of its objects are in slots. */
static double wanted_of(struct share *share) {
  double by_kept = PLACED_IN_AN_EPOCH * (1.0 + load(&share->kept)), missing = LIVE_BEFORE_FEWER - load(&share->live);
  double more = by_kept < missing ? by_kept : missing;
  return more > PLACED_IN_AN_EPOCH ? more : PLACED_IN_AN_EPOCH;
}

static struct chances chances_of(struct share *share, uint32_t site, uint32_t class, size_t excess) {
  uint32_t samples = samples_of(share, site), live = load(&share->live);
  double by_number = at_most_1(wanted_of(share) / samples);
  double share_of_site = LIVE_BEFORE_FEWER / (live > 1 ? live : 1);
  double left = left_for(class, excess) - (live > 0 ? LEFT_FOR_NEW_SITES : 0);
  double room = left > 0 ? at_most_1(2 * left) : 0;
  return (struct chances){by_number * squared(at_most_1(share_of_site)),
                          by_number * squared(at_most_1(room * share_of_site))};
}

/* ---- Moving -------------------------------------------------------------------------------------------- */

static void increment(uint64_t *number) { __atomic_fetch_add(number, 1, __ATOMIC_RELAXED); }

static void *place(const struct sample *sample, const struct live_sample *live, double placement, uint32_t random) {
  struct slot_request request = {.size = sample->requested,
                                 .alignment = sample->move.alignment,
                                 .usable = next.usable_size((void *)(uintptr_t)sample->object),
                                 .placement = placement,
                                 .random = random,
                                 .sample = *live};
  void *object = slot_take(&request);
  if (!object) return NULL;
  memcpy(object, sample->object, sample->move.contents);
  glibc_free_unnoticed((void *)(uintptr_t)sample->object);
  return object;
}

static void tell_of_placed(const void *object) {
  struct slot_object placed;
  if (slot_read(slot_number(object), &placed)) evidence_of_placed(&placed);
}

static void *move(const struct sample *sample, const struct live_sample *live) {
  if (!slots_are_accepted()) return NULL;
  uint32_t class = slot_class(sample->requested, sample->move.alignment);
  if (class == MALLOMETER_SLOT_CLASSES || sample->move.contents > SLOT_CONTENTS) {
    increment(&totals.too_large);
    return NULL;
  }
  struct share *share = &shares[live->site % MOST_SITES];
  if (!is_recurring(share)) return NULL;
  struct chances chances = chances_of(share, live->site, class, slot_excess(sample->requested, sample->move.alignment));
  uint64_t random = sampler_random(sample->block);
  double drawn = (double)(random >> 11) * 0x1p-53;
  if (drawn >= chances.if_there_were_room) return NULL;
  KEEP_ERRNO;
  bool drawn_for_slot = drawn < chances.as_it_is && evidence_has_room(live->site);
  void *object = drawn_for_slot ? place(sample, live, chances.as_it_is, (uint32_t)random) : NULL;
  increment(object ? &totals.placed : &totals.not_placed);
  if (!object) return NULL;
  __atomic_fetch_add(&share->live, 1, __ATOMIC_RELAXED);
  tell_of_placed(object);
  return object;
}

bool placement_start(void) {
  if (shares) return true;
  if (!evidence_start()) return false;
  shares = memory_reserve(MOST_SITES * sizeof *shares);
  if (shares) call_sites_set_mover(move);
  return shares != NULL;
}

void placement_removed(uint32_t site) { __atomic_fetch_sub(&shares[site % MOST_SITES].live, 1, __ATOMIC_RELAXED); }

__attribute__((noinline)) static void tell_of_freed(const struct slot_object *object) { evidence_of_freed(object); }

bool placement_take_out(const void *object, struct slot_object *removed) {
  if (!slot_remove(object, removed)) return false;
  if (removed->sample.site == NO_SITE) return true;
  floating_point of_program = floating_point_enter();
  tell_of_freed(removed);
  floating_point_leave(of_program);
  placement_removed(removed->sample.site);
  return true;
}

struct placement_totals placement_totals(void) {
  return (struct placement_totals){__atomic_load_n(&totals.placed, __ATOMIC_RELAXED),
                                   __atomic_load_n(&totals.not_placed, __ATOMIC_RELAXED),
                                   __atomic_load_n(&totals.too_large, __ATOMIC_RELAXED)};
}
