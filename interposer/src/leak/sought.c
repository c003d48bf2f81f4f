/* A sorted table of ranges behind a set of bits. See sought.h. */
#include "leak/sought.h"

#include <string.h>

#include "leak/slots.h"
#include "platform/kernel.h"
#include "platform/memory.h"
#include "sample/live_samples.h"

#define ADDRESS_MASK (((uintptr_t)1 << 48) - 1)
#define GRANULE_SHIFT 16
#define FILTER_BITS 17
#define FILTER_WORDS ((size_t)1 << (FILTER_BITS - 6))
#define WORDS_AT_ONCE 8u

struct sought {
  uintptr_t begin, end;
  const void *object;
  struct live_sample sample;
  uint32_t references;
  bool freed;
};

static struct memory {
  struct sought objects[MOST_SOUGHT]; /* by address */
  uint64_t filter[FILTER_WORDS];
  uint32_t of_site[MOST_SOUGHT_SITES];
} * memory;

static uint32_t chosen;
static uint64_t salt;

bool sought_start(void) {
  if (!memory) memory = memory_reserve(sizeof *memory);
  return memory != NULL;
}

size_t sought_footprint(void) { return memory ? memory_whole_pages(sizeof *memory) : 0; }

uint32_t sought_count(void) { return chosen; }

/* ---- Choosing ------------------------------------------------------------------------------------------ */

static size_t bit_of(uintptr_t address) {
  uintptr_t granule = address >> GRANULE_SHIFT;
  return (granule ^ granule >> FILTER_BITS) & (((size_t)1 << FILTER_BITS) - 1);
}

static void choose(const void *object, const struct live_sample *sample) {
  uintptr_t begin = (uintptr_t)object & ADDRESS_MASK, end = begin + (sample->bytes > 0 ? sample->bytes : 1);
  memory->objects[chosen++] = (struct sought){.begin = begin, .end = end, .object = object, .sample = *sample};
  for (uintptr_t at = begin >> GRANULE_SHIFT; at <= (end - 1) >> GRANULE_SHIFT; at++) {
    size_t bit = bit_of(at << GRANULE_SHIFT);
    memory->filter[bit / 64] |= (uint64_t)1 << bit % 64;
  }
}

/* False if the site is one of them and has no room left. */
static bool take(const void *object, const struct live_sample *sample, const uint32_t *sites, uint32_t count) {
  for (uint32_t i = 0; i < count; i++) {
    if (sample->site != sites[i]) continue;
    if (memory->of_site[i] == MOST_SOUGHT / count) return false;
    memory->of_site[i]++;
    choose(object, sample);
    return true;
  }
  return true;
}

/* Of Shell, with gaps of Knuth: it needs no memory. */
static void sort(void) {
  struct sought *objects = memory->objects;
  uint32_t gap = 1;
  while (gap < chosen / 3) gap = 3 * gap + 1;
  for (; gap > 0; gap /= 3) {
    for (uint32_t i = gap; i < chosen; i++) {
      struct sought moved = objects[i];
      uint32_t at = i;
      for (; at >= gap && objects[at - gap].begin > moved.begin; at -= gap) objects[at] = objects[at - gap];
      objects[at] = moved;
    }
  }
}

uint32_t sought_choose(const uint32_t *sites, uint32_t count) {
  uint32_t left_out = 0;
  const void *object;
  struct live_sample sample;
  struct slot_object slot;
  chosen = 0;
  memset(memory->filter, 0, sizeof memory->filter);
  memset(memory->of_site, 0, sizeof memory->of_site);
  if (salt == 0) random_bytes(&salt, sizeof salt);
  for (uint32_t i = 0; slots_reserved() > 0 && i < SLOTS; i++) {
    if (slot_look(i, &slot)) left_out += !take(slot.object, &slot.sample, sites, count);
  }
  for (size_t place = 0; live_samples_next(&place, &object, &sample);) {
    left_out += !take(object, &sample, sites, count);
  }
  sort();
  return left_out;
}

/* ---- Comparing ----------------------------------------------------------------------------------------- */

static struct sought *object_at(uintptr_t address) {
  uint32_t low = 0, high = chosen;
  while (low < high) {
    uint32_t middle = low + (high - low) / 2;
    if (memory->objects[middle].begin <= address) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  struct sought *object = low > 0 ? &memory->objects[low - 1] : NULL;
  return object && address < object->end ? object : NULL;
}

static void count_reference(uintptr_t to, uintptr_t from) {
  struct sought *object = object_at(to);
  bool is_in_itself = object && (from & ADDRESS_MASK) - object->begin < object->end - object->begin;
  if (object && !is_in_itself && object->references < UINT32_MAX) object->references++;
}

static void compare(uintptr_t word, uintptr_t from) {
  uintptr_t address = word & ADDRESS_MASK;
  size_t bit = bit_of(address);
  if (memory->filter[bit / 64] >> bit % 64 & 1) count_reference(address, from);
}

/* Much of memory is zero. */
void sought_compare(const uintptr_t *words, size_t count, uintptr_t address) {
  size_t i = 0;
  for (; i + WORDS_AT_ONCE <= count; i += WORDS_AT_ONCE) {
    uintptr_t any = 0;
    for (size_t j = 0; j < WORDS_AT_ONCE; j++) any |= words[i + j];
    for (size_t j = 0; any && j < WORDS_AT_ONCE; j++) compare(words[i + j], address + (i + j) * sizeof *words);
  }
  for (; i < count; i++) compare(words[i], address + i * sizeof *words);
}

/* ---- The end ------------------------------------------------------------------------------------------- */

static bool is_live(const struct sought *sought) {
  struct live_sample now;
  if (is_in_slots(sought->object)) {
    struct slot_object slot;
    if (!slot_look(slot_number(sought->object), &slot) || slot.object != sought->object) return false;
    now = slot.sample;
  } else {
    now = live_sample_look(sought->object);
  }
  return now.site == sought->sample.site && now.born == sought->sample.born && now.bytes == sought->sample.bytes;
}

void sought_mark_freed(void) {
  for (uint32_t i = 0; i < chosen; i++) memory->objects[i].freed = !is_live(&memory->objects[i]);
}

/* Tells objects apart without saying where they are (the finalizer of MurmurHash3, by Appleby). */
static uint64_t identity(const struct sought *sought) {
  uint64_t mixed = (uintptr_t)sought->object ^ (uint64_t)sought->sample.born << 32 ^ salt;
  mixed = (mixed ^ mixed >> 33) * 0xff51afd7ed558ccdu;
  mixed = (mixed ^ mixed >> 33) * 0xc4ceb9fe1a85ec53u;
  return mixed ^ mixed >> 33;
}

uint32_t sought_copy(const struct rows *rows) {
  uint32_t copied = 0;
  for (; copied < chosen && copied < rows->capacity; copied++) {
    const struct sought *sought = &memory->objects[copied];
    struct mallometer_object known = live_sample_row(&sought->sample);
    struct mallometer_sought row = {.id = identity(sought),
                                    .bytes = known.bytes,
                                    .probability = known.probability,
                                    .born_ns = known.born_ns,
                                    .site = known.site,
                                    .references = sought->references,
                                    .freed = sought->freed};
    rows_write(rows, copied, &row, sizeof row);
  }
  return copied;
}
