/* The filter and the hash table of live samples. The table uses open addressing. See live_samples.h. */
#include "sample/live_samples.h"

#include <string.h>

#include "platform/clock.h"
#include "platform/memory.h"
#include "platform/memory_probes.h"

enum { PLACES = 65536, PROBES = 64 };

struct live {
  uintptr_t address; /* the object's address, or one of the marks below */
  struct live_sample sample;
};

#define BIRTH_UNIT ((uint64_t)1 << 24)

enum { EMPTY = 0, BEING_WRITTEN = 1, GONE = 2 };

static struct table {
  struct live entries[PLACES];
  struct home {
    uint8_t objects; /* the number of live samples whose first probe is this place; never changes after it is 255 */
    uint8_t reach;   /* the last probe that a search from this place makes; grows if a sample is stored farther away */
  } homes[PLACES];
} * table;

_Alignas(4096) uint8_t live_filter[LIVE_HASHES / 8];

/* The number of live samples for each hash. A count of MANY never changes, and its bit in live_filter stays set. */
static uint8_t counts[LIVE_HASHES];
enum { CLOSING = 254, MANY = 255 };

static uint32_t samples;

size_t live_samples_bytes(void) { return memory_whole_pages(sizeof *table); }

void *live_samples_use(void *fresh) {
  struct table *none = NULL;
  bool first = __atomic_compare_exchange_n(&table, &none, fresh, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);
  return first ? fresh : none;
}

uint32_t live_sample_birth(void) { return (uint32_t)(coarse_monotonic_ns() / BIRTH_UNIT); }

static size_t place_of(uintptr_t address, size_t probe) { return ((address >> 4) * 0x9e3779b97f4a7c15u >> 48) + probe; }

static struct home *home_of(uintptr_t address) { return &table->homes[place_of(address, 0)]; }

static void change_count(uint8_t *count, int change) {
  uint8_t before = __atomic_load_n(count, __ATOMIC_RELAXED);
  do {
    if (before == UINT8_MAX) return;
  } while (!__atomic_compare_exchange_n(count, &before, (uint8_t)(before + change), true, __ATOMIC_RELEASE,
                                        __ATOMIC_RELAXED));
}

/*
 * `counts` has the number of live samples with each hash, or CLOSING or MANY. A hash's bit in live_filter is set while
 * a live sample has that hash. The thread that removes the last sample of a hash sets the count to CLOSING, clears the
 * bit, and then sets the count to 0. Insertions fail while the count is CLOSING, so the removal cannot clear the bit of
 * a sample that is being inserted. An insertion must not wait, because a signal handler may have interrupted the thread
 * that set the count to CLOSING.
 */
static uint8_t *count_of(uintptr_t address) { return &counts[(uint16_t)(address >> 4)]; }

static uint8_t *byte_of(uintptr_t address) { return &live_filter[(uint16_t)(address >> 4 ^ FIRST_OF_65536) / 8]; }

static uint8_t bit_of(uintptr_t address) { return (uint8_t)(1u << (address >> 4) % 8); }

static bool filter_add(uintptr_t address) {
  uint8_t *count = count_of(address), before = __atomic_load_n(count, __ATOMIC_RELAXED), after;
  do {
    if (before == CLOSING) return false;
    if (before == MANY) return true;
    after = before + 1 < CLOSING ? (uint8_t)(before + 1) : MANY;
  } while (!__atomic_compare_exchange_n(count, &before, after, true, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED));
  __atomic_fetch_or(byte_of(address), bit_of(address), __ATOMIC_RELEASE);
  return true;
}

static void filter_remove(uintptr_t address) {
  uint8_t *count = count_of(address), before = __atomic_load_n(count, __ATOMIC_RELAXED), after;
  do {
    if (before == MANY) return;
    after = before > 1 ? (uint8_t)(before - 1) : CLOSING;
  } while (!__atomic_compare_exchange_n(count, &before, after, true, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED));
  if (after != CLOSING) return;
  __atomic_fetch_and(byte_of(address), (uint8_t)~bit_of(address), __ATOMIC_RELAXED);
  __atomic_store_n(count, 0, __ATOMIC_RELEASE);
}

/* Resets each count that has the value CLOSING, because the thread that would reset it does not exist in a forked
 * child. The count's bit in live_filter may stay set, which only makes some frees search the table in vain. */
void live_samples_forked(void) {
  if (!__atomic_load_n(&table, __ATOMIC_RELAXED)) return;
  for (uint8_t *closed = counts; (closed = memchr(closed, CLOSING, (size_t)(counts + LIVE_HASHES - closed)));)
    *closed = 0;
}

/* Counts a sample under two independent hashes: in `counts` and in `homes`. A search for another object with the
 * same first hash then nearly always ends at once, because the count of its second hash is 0. */
static bool count_sample(uintptr_t address) {
  if (!filter_add(address)) return false;
  change_count(&home_of(address)->objects, 1);
  return true;
}

static void uncount_sample(uintptr_t address) {
  change_count(&home_of(address)->objects, -1);
  filter_remove(address);
}

/* Raises `reach`, the last probe that a search for this address makes. Without `reach`, a search would soon make all
 * PROBES probes, because a used entry never becomes EMPTY again. */
static void extend_reach(uintptr_t address, size_t probe) {
  uint8_t *reach = &home_of(address)->reach, before = __atomic_load_n(reach, __ATOMIC_RELAXED);
  while (before < probe &&
         !__atomic_compare_exchange_n(reach, &before, (uint8_t)probe, true, __ATOMIC_RELEASE, __ATOMIC_RELAXED)) {
  }
}

bool live_sample_insert(const void *object, const struct live_sample *sample) {
  uintptr_t address = (uintptr_t)object;
  if (!count_sample(address)) return false;
  for (size_t probe = 0; probe < PROBES; probe++) {
    struct live *entry = &table->entries[place_of(address, probe) % PLACES];
    uintptr_t mark = __atomic_load_n(&entry->address, __ATOMIC_RELAXED);
    if (mark != EMPTY && mark != GONE) continue;
    if (!__atomic_compare_exchange_n(&entry->address, &mark, BEING_WRITTEN, false, __ATOMIC_ACQUIRE,
                                     __ATOMIC_RELAXED)) {
      continue;
    }
    entry->sample = *sample;
    extend_reach(address, probe);
    __atomic_store_n(&entry->address, address, __ATOMIC_RELEASE);
    __atomic_fetch_add(&samples, 1, __ATOMIC_RELAXED);
    return true;
  }
  uncount_sample(address);
  return false;
}

static struct live *find(uintptr_t address) {
  if (!__atomic_load_n(&table, __ATOMIC_ACQUIRE)) return NULL;
  /* Relaxed loads suffice for the thread that frees the object: it received the address after the insertion, and the
   * loads depend on the address. Any other search may read old values, which only make it miss the sample or take
   * longer. */
  const struct home *home = home_of(address);
  if (!__atomic_load_n(&home->objects, __ATOMIC_RELAXED)) return NULL;
  size_t reach = __atomic_load_n(&home->reach, __ATOMIC_RELAXED);
  for (size_t probe = 0; probe <= reach; probe++) {
    struct live *entry = &table->entries[place_of(address, probe) % PLACES];
    uintptr_t found = __atomic_load_n(&entry->address, __ATOMIC_ACQUIRE);
    if (found == address) return entry;
    if (found == EMPTY) break;
  }
  return NULL;
}

bool is_live_sample(const void *object) { return find((uintptr_t)object) != NULL; }

static struct live_sample take_out(struct live *entry, uintptr_t address) {
  uintptr_t mark = address;
  if (!__atomic_compare_exchange_n(&entry->address, &mark, BEING_WRITTEN, false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
    return NO_LIVE_SAMPLE;
  struct live_sample sample = entry->sample;
  __atomic_store_n(&entry->address, (uintptr_t)GONE, __ATOMIC_RELEASE);
  probe_free((const void *)address);
  uncount_sample(address);
  __atomic_fetch_sub(&samples, 1, __ATOMIC_RELAXED);
  return sample;
}

struct live_sample live_sample_remove(const void *object) {
  struct live *entry = find((uintptr_t)object);
  return entry ? take_out(entry, (uintptr_t)object) : NO_LIVE_SAMPLE;
}

void live_samples_remove_all(void (*removed)(struct live_sample sample)) {
  for (size_t i = 0; i < PLACES && live_samples_count() > 0; i++) {
    struct live *entry = &table->entries[i];
    uintptr_t address = __atomic_load_n(&entry->address, __ATOMIC_ACQUIRE);
    if (address != EMPTY && address != BEING_WRITTEN && address != GONE) removed(take_out(entry, address));
  }
}

/* ---- Readers ------------------------------------------------------------------------------------------ */

uint32_t live_samples_count(void) { return __atomic_load_n(&samples, __ATOMIC_RELAXED); }

struct mallometer_object live_sample_row(const void *object, const struct live_sample *sample) {
  return (struct mallometer_object){.inverted_address = ~(uint64_t)(uintptr_t)object,
                                    .bytes = sample->bytes,
                                    .probability = sample->probability,
                                    .born_ns = sample->born * BIRTH_UNIT,
                                    .site = sample->site,
                                    .old_collections = sample->before.old,
                                    .collections = sample->before.all};
}

/* Loads a sample word by word, because another thread may write it at the same time. The words may then be of two
 * samples. */
static struct live_sample load(const struct live_sample *sample) {
  typedef uint64_t __attribute__((may_alias)) word;
  struct live_sample loaded;
  _Static_assert(sizeof loaded % sizeof(word) == 0, "a sample consists of whole words");
  for (size_t i = 0; i < sizeof loaded / sizeof(word); i++)
    ((word *)&loaded)[i] = __atomic_load_n((const word *)sample + i, __ATOMIC_RELAXED);
  return loaded;
}

/*
 * Returns NO_LIVE_SAMPLE if the sample was replaced during the first load. A thread that writes a new sample has seen
 * GONE in the entry's address. If the first load has a word of the new sample, the load of the address behind the fence
 * therefore sees GONE or a later value. This may be the same address again, if a new object was sampled there. The
 * second load then has the new sample, which differs from the mixture. The mixture could pass only if a second
 * replacement during the copy made the same one again.
 */
static struct live_sample copy(const struct live *entry, uintptr_t address) {
  struct live_sample sample = load(&entry->sample);
  __atomic_thread_fence(__ATOMIC_ACQUIRE);
  if (__atomic_load_n(&entry->address, __ATOMIC_ACQUIRE) != address) return NO_LIVE_SAMPLE;
  struct live_sample again = load(&entry->sample);
  return memcmp(&sample, &again, sizeof sample) == 0 ? sample : NO_LIVE_SAMPLE;
}

struct live_sample live_sample_find(const void *object) {
  const struct live *entry = find((uintptr_t)object);
  return entry ? copy(entry, (uintptr_t)object) : NO_LIVE_SAMPLE;
}

bool live_samples_next(size_t *place, const void **object, struct live_sample *sample) {
  while (__atomic_load_n(&table, __ATOMIC_ACQUIRE) && *place < PLACES) {
    const struct live *entry = &table->entries[(*place)++];
    uintptr_t address = __atomic_load_n(&entry->address, __ATOMIC_ACQUIRE);
    if (address == EMPTY || address == BEING_WRITTEN || address == GONE) continue;
    *object = (const void *)address;
    *sample = copy(entry, address);
    if (sample->site != NO_SITE) return true;
  }
  return false;
}

uint32_t live_samples_copy(struct mallometer_object *objects, uint32_t capacity, uint32_t first,
                           const struct object_filter *filter) {
  uint32_t copied = first;
  const void *object;
  struct live_sample sample;
  for (size_t place = 0; copied < capacity && live_samples_next(&place, &object, &sample);) {
    if (filter_wants(filter, object)) objects[copied++] = live_sample_row(object, &sample);
  }
  return copied;
}
