/* The records of the call sites that have had an object in a slot (pages of a single object, slots.h), and a table
 * that leads from a site's number to its record. See evidence.h. */
#include "leak/evidence.h"

#include <stddef.h>
#include <string.h>

#include "leak/watch.h"
#include "platform/clock.h"
#include "platform/memory.h"
#include "platform/shared_words.h"

#define NO_NUMBER 0u

static struct memory {
  uint16_t numbers[MOST_SITES]; /* 1 + the index of a site in `sites`; 0 if it is not there */
  struct mallometer_site_evidence sites[MOST_SITES_WITH_EVIDENCE];
} * memory;

static uint32_t numbers_taken;

/* ---- Durations ----------------------------------------------------------------------------------------- */

/* Returns 2 log2(d), rounded down, where d is the duration in units of 2^-6 s. The result is read from the exponent
 * of d squared, a binary floating-point number. */
uint32_t duration_bucket(uint64_t ns) {
  double units = (double)ns * (64 / 1e9), squared = units * units;
  if (units < 1) return 0;
  uint64_t bits;
  memcpy(&bits, &squared, sizeof bits);
  uint32_t bucket = (uint32_t)(bits >> 52) - 1023;
  return bucket < MALLOMETER_DURATION_BUCKETS ? bucket : MALLOMETER_DURATION_BUCKETS - 1;
}

static void add_to(float *sum, float amount) {
  uint32_t before = __atomic_load_n((uint32_t *)sum, __ATOMIC_RELAXED), after;
  float value;
  do {
    memcpy(&value, &before, sizeof value);
    value += amount;
    memcpy(&after, &value, sizeof after);
  } while (!__atomic_compare_exchange_n((uint32_t *)sum, &before, after, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED));
}

static void note_duration(struct mallometer_durations *durations, uint64_t ns, const struct slot_object *object) {
  add_to(&durations->weight[duration_bucket(ns)], (float)(1 / (object->sample.probability * object->placement)));
  __atomic_fetch_add(&durations->count, 1, __ATOMIC_RELAXED);
}

/* ---- Sites --------------------------------------------------------------------------------------------- */

/* Makes `evidence` the record of `site`, and returns it. Clears it first if it belongs to an earlier site, which
 * `site` has replaced (sample/call_sites.h). Returns NULL if another thread is clearing the record, or if it belongs
 * to a later site. */
static struct mallometer_site_evidence *taken_over(struct mallometer_site_evidence *evidence, uint32_t site) {
  uint32_t before = __atomic_load_n(&evidence->site, __ATOMIC_ACQUIRE);
  if (before == site) return evidence;
  if (before == NO_SITE || before > site) return NULL;
  if (!__atomic_compare_exchange_n(&evidence->site, &before, NO_SITE, false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
    return NULL;
  size_t behind = offsetof(struct mallometer_site_evidence, site) + sizeof evidence->site;
  memset((char *)evidence + behind, 0, sizeof *evidence - behind);
  __atomic_store_n(&evidence->site, site, __ATOMIC_RELEASE);
  return evidence;
}

/* Returns a site's record, and creates it for a new site; NULL if there is no room. Stores the record's index in the
 * table last, so that other threads find only complete records. */
static struct mallometer_site_evidence *evidence_of(uint32_t site) {
  if (site == NO_SITE) return NULL;
  uint16_t *number = &memory->numbers[site % MOST_SITES], known = __atomic_load_n(number, __ATOMIC_ACQUIRE);
  if (known != NO_NUMBER) return taken_over(&memory->sites[known - 1], site);
  uint32_t fresh = reserve_numbers(&numbers_taken, 1, MOST_SITES_WITH_EVIDENCE);
  if (fresh == MOST_SITES_WITH_EVIDENCE) return NULL;
  memory->sites[fresh].site = site;
  /* If two threads find the same new site at the same time, one of their two records stays unused. */
  if (__atomic_compare_exchange_n(number, &known, (uint16_t)(fresh + 1), false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) {
    return &memory->sites[fresh];
  }
  return taken_over(&memory->sites[known - 1], site);
}

bool evidence_has_room(uint32_t site) { return evidence_of(site) != NULL; }

void evidence_of_placed(const struct slot_object *object) {
  struct mallometer_site_evidence *evidence = evidence_of(object->sample.site);
  if (evidence) __atomic_fetch_add(&evidence->placed, 1, __ATOMIC_RELAXED);
  watch_new_object(object);
}

static uint64_t since(uint64_t moment, uint64_t now) { return now > moment ? now - moment : 0; }

void evidence_of_freed(const struct slot_object *object) {
  struct mallometer_site_evidence *evidence = evidence_of(object->sample.site);
  if (!evidence) return;
  uint64_t now = coarse_monotonic_ns();
  __atomic_fetch_add(&evidence->freed, 1, __ATOMIC_RELAXED);
  note_duration(&evidence->lifetimes, since(object->born << SLOT_TIME_SHIFT, now), object);
  if (object->last_access == object->born || object->unseen || !slots_are_accepted()) return;
  note_duration(&evidence->idle_before_free, since(object->last_access << SLOT_TIME_SHIFT, now), object);
}

void evidence_of_gap(const struct slot_object *object, uint64_t gap_ns) {
  struct mallometer_site_evidence *evidence = evidence_of(object->sample.site);
  if (evidence) note_duration(&evidence->gaps, gap_ns, object);
}

bool evidence_start(void) {
  if (memory) return true;
  struct memory *reserved = memory_reserve(sizeof *reserved);
  if (!reserved) return false;
  __atomic_store_n(&memory, reserved, __ATOMIC_RELEASE);
  return true;
}

size_t evidence_footprint(void) { return memory ? memory_whole_pages(sizeof *memory) : 0; }

/* ---- Reading ------------------------------------------------------------------------------------------ */

uint32_t evidence_copy(struct mallometer_site_evidence *to, uint32_t capacity, uint32_t first) {
  uint32_t count = __atomic_load_n(&numbers_taken, __ATOMIC_ACQUIRE), copied = 0;
  for (uint32_t i = first; i < count && copied < capacity; i++) to[copied++] = memory->sites[i];
  return copied;
}
