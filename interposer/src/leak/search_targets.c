/* A set of hashes excludes most words; the others are looked up in a sorted table of ranges. See search_targets.h. */
#include "leak/search_targets.h"

#include <string.h>

#include "leak/live_objects.h"
#include "platform/kernel.h"
#include "platform/memory.h"
#include "platform/sorted.h"

#define ADDRESS_MASK (((uintptr_t)1 << 48) - 1)
#define FILTER_BITS 15 /* the filter's 32 KiB fit into the processor's first-level cache */
#define FILTER_BYTES ((size_t)1 << FILTER_BITS)
#define SMALLEST_GRANULE_BITS 16u
#define LARGEST_GRANULE_BITS 30u
#define WORDS_AT_ONCE 8u
/* The maximum number of address ranges that cover the sought objects. One range would be too large, because slots
 * (pages of single sampled objects), the brk heap and mappings lie far apart. */
#define MOST_SPANS 4u
#define GAP_BETWEEN_SPANS ((uintptr_t)1 << 40)

struct search_target {
  uintptr_t begin, end;
  const void *object;
  struct live_sample sample;
  uint32_t references, free_references;
  bool freed;
};

/* The search leaves this memory out, because it contains the addresses of all sought objects. */
static struct memory {
  struct search_target objects[MOST_SEARCH_TARGETS];
  uint8_t filter[FILTER_BYTES];
  struct span {
    uintptr_t begin, end;
  } spans[MOST_SPANS];
  uint32_t of_site[MOST_SEARCHED_SITES];
} * memory;

static uint32_t chosen, span_count, granule_bits;
static uint64_t salt;

bool targets_start(void) {
  if (!memory) memory = memory_reserve(sizeof *memory);
  return memory != NULL;
}

size_t targets_footprint(void) { return memory ? memory_whole_pages(sizeof *memory) : 0; }

uint32_t targets_count(void) { return chosen; }

/* ---- Choosing ------------------------------------------------------------------------------------------ */

static void choose(const void *object, const struct live_sample *sample) {
  uintptr_t begin = (uintptr_t)object & ADDRESS_MASK, end = begin + (sample->bytes > 0 ? sample->bytes : 1);
  memory->objects[chosen++] = (struct search_target){.begin = begin, .end = end, .object = object, .sample = *sample};
}

static bool take(const void *object, const struct live_sample *sample, const uint32_t *sites, uint32_t count) {
  for (uint32_t i = 0; i < count; i++) {
    if (sample->site != sites[i]) continue;
    if (memory->of_site[i] == MOST_SEARCH_TARGETS / count) return false;
    memory->of_site[i]++;
    choose(object, sample);
    return true;
  }
  return true;
}

static bool is_before(const void *one, const void *other) {
  return ((const struct search_target *)one)->begin < ((const struct search_target *)other)->begin;
}

static size_t hash_of(uintptr_t word) {
  uint32_t granule = (uint32_t)((word & ADDRESS_MASK) >> granule_bits);
  return (granule ^ granule >> FILTER_BITS) & (FILTER_BYTES - 1);
}

/* Returns false if the set of hashes is too full to exclude most words. */
static bool fill_filter(void) {
  size_t set = 0;
  memset(memory->filter, 0, sizeof memory->filter);
  for (uint32_t i = 0; i < chosen; i++) {
    const struct search_target *object = &memory->objects[i];
    for (uintptr_t at = object->begin >> granule_bits; at <= (object->end - 1) >> granule_bits; at++) {
      uint8_t *place = &memory->filter[hash_of(at << granule_bits)];
      set += !*place;
      *place = 1;
    }
  }
  return set < FILTER_BYTES / 32;
}

static void choose_granules(void) {
  granule_bits = SMALLEST_GRANULE_BITS;
  while (!fill_filter() && granule_bits < LARGEST_GRANULE_BITS) granule_bits += 2;
}

static void find_spans(void) {
  span_count = 0;
  for (uint32_t i = 0; i < chosen; i++) {
    const struct search_target *object = &memory->objects[i];
    uintptr_t before = span_count > 0 ? memory->spans[span_count - 1].end : 0;
    bool is_far = span_count == 0 || (object->begin > before && object->begin - before > GAP_BETWEEN_SPANS);
    if (is_far && span_count < MOST_SPANS) memory->spans[span_count++] = (struct span){object->begin, 0};
    struct span *span = &memory->spans[span_count - 1];
    if (object->end > span->end) span->end = object->end;
  }
}

uint32_t targets_choose(const uint32_t *sites, uint32_t count) {
  uint32_t left_out = 0;
  struct live_objects walk = {0};
  const void *object;
  struct live_sample sample;
  struct search_target row;
  chosen = 0;
  memset(memory->of_site, 0, sizeof memory->of_site);
  if (salt == 0) random_bytes(&salt, sizeof salt);
  while (live_objects_next(&walk, &object, &sample)) left_out += !take(object, &sample, sites, count);
  sort_rows(memory->objects, chosen, sizeof row, &row, is_before);
  choose_granules();
  find_spans();
  return left_out;
}

/* ---- Comparing ----------------------------------------------------------------------------------------- */

static bool is_near(uintptr_t address) {
  for (uint32_t i = 0; i < span_count; i++) {
    const struct span *span = &memory->spans[i];
    if (address - span->begin < span->end - span->begin) return true;
  }
  return false;
}

static struct search_target *object_at(uintptr_t address) {
  size_t behind = rows_up_to(memory->objects, chosen, sizeof *memory->objects, address);
  return behind > 0 && address < memory->objects[behind - 1].end ? &memory->objects[behind - 1] : NULL;
}

static void count_reference(uintptr_t to, uintptr_t from, bool is_free) {
  struct search_target *object = object_at(to);
  if (!object || (from & ADDRESS_MASK) - object->begin < object->end - object->begin)
    return; /* no object is there, or the word itself is in the object */
  uint32_t *count = is_free ? &object->free_references : &object->references;
  if (*count < UINT32_MAX) ++*count;
}

static void compare(uintptr_t word, uintptr_t from, bool is_free) {
  uintptr_t address = word & ADDRESS_MASK;
  if (memory->filter[hash_of(word)] && is_near(address)) count_reference(address, from, is_free);
}

static void compare_words(const uintptr_t *words, size_t count, uintptr_t address, bool is_free) {
  size_t i = 0;
  for (; i + WORDS_AT_ONCE <= count; i += WORDS_AT_ONCE) {
    unsigned any = 0;
    for (size_t j = 0; j < WORDS_AT_ONCE; j++) any |= memory->filter[hash_of(words[i + j])];
    for (size_t j = 0; any && j < WORDS_AT_ONCE; j++) compare(words[i + j], address + (i + j) * sizeof *words, is_free);
  }
  for (; i < count; i++) compare(words[i], address + i * sizeof *words, is_free);
}

void targets_compare(const uintptr_t *words, size_t count, uintptr_t address) {
  compare_words(words, count, address, false);
}

void targets_compare_free(const uintptr_t *words, size_t count, uintptr_t address) {
  compare_words(words, count, address, true);
}

void targets_add_free_parts(void) {
  for (uint32_t i = 0; i < chosen; i++) {
    struct search_target *object = &memory->objects[i];
    bool fits = object->free_references < UINT32_MAX - object->references;
    object->references = fits ? object->references + object->free_references : UINT32_MAX;
  }
}

/* ---- The result ---------------------------------------------------------------------------------------- */

void targets_mark_freed(void) {
  for (uint32_t i = 0; i < chosen; i++) {
    struct search_target *object = &memory->objects[i];
    object->freed = !live_object_is(object->object, &object->sample);
  }
}

/* Returns a number that identifies an object without its address. The mixing is the finalizer of MurmurHash3, by
 * Appleby. */
static uint64_t identity(const struct search_target *target) {
  uint64_t mixed = (uintptr_t)target->object ^ (uint64_t)target->sample.born << 32 ^ salt;
  mixed = (mixed ^ mixed >> 33) * 0xff51afd7ed558ccdu;
  mixed = (mixed ^ mixed >> 33) * 0xc4ceb9fe1a85ec53u;
  return mixed ^ mixed >> 33;
}

uint32_t targets_copy(struct mallometer_sought *rows, uint32_t capacity) {
  uint32_t copied = 0;
  for (; copied < chosen && copied < capacity; copied++) {
    const struct search_target *target = &memory->objects[copied];
    struct mallometer_object known = live_sample_row(target->object, &target->sample);
    rows[copied] = (struct mallometer_sought){.id = identity(target),
                                              .bytes = known.bytes,
                                              .probability = known.probability,
                                              .born_ns = known.born_ns,
                                              .site = known.site,
                                              .references = target->references,
                                              .freed = target->freed};
  }
  return copied;
}
