/* The slots: their lock-free lists, their pages, and a word with state and generation for each slot. See slots.h. */
#include "leak/slots.h"

#include <string.h>

#include "allocator/bootstrap.h"
#include "allocator/glibc.h"
#include "platform/clock.h"
#include "platform/keep_errno.h"
#include "platform/memory.h"
#include "platform/memory_probes.h"
#include "platform/page_range.h"
#include "platform/shared_words.h"

/* The number of pages after the slots; each is a mapping of its own. A read of smaps goes a few mappings beyond the
 * slots. These pages keep the read from reaching large mappings of the program. */
#define PAGES_BEHIND_SLOTS 24u
/* The readable bytes after an object. Some programs read a few bytes past the end of an object, as glibc's chunks
 * allow. */
#define SLACK 32u
#define SMALLEST_OFFSET 16u
#define NONE UINT32_MAX

/* The bytes of a slot of each class. Class 0 has one page, class 1 at least 4 pages; both are set when the slots are
 * reserved. */
static size_t bytes_of[MALLOMETER_SLOT_CLASSES] = {0, (size_t)64 << 10, (size_t)1 << 20, (size_t)16 << 20};
#define LARGEST_PAGE ((size_t)64 << 10)

/* The numbers of slots of each class, in two layouts of 676 MiB and 269 MiB (with pages of 4 KiB). */
static const uint32_t layouts[][MALLOMETER_SLOT_CLASSES] = {{3072, 768, 232, 24}, {3472, 512, 96, 8}};
#define LAYOUTS (sizeof layouts / sizeof *layouts)

static struct {
  uint32_t first;
  uint32_t slots;
  uintptr_t begin;
} classes[MALLOMETER_SLOT_CLASSES];

enum { FREE, IN_USE, LEAVING, RETIRED };
#define STATES 4u

/* The generation of a slot's object and the time of its last access share one word. slot_touched() compares and
 * exchanges the whole word, so it cannot store a time for another object that has taken the slot meanwhile. */
#define GENERATION_SHIFT 44
#define TIME_MASK (((uint64_t)1 << GENERATION_SHIFT) - 1)

struct slot {
  uint64_t state; /* generation (the object's number in this slot) * STATES + state */
  uint64_t access;
  uintptr_t object;
  double placement;
  struct live_sample sample;
  uint32_t opened; /* the accessible bytes from the slot's beginning */
  uint32_t taken;  /* the bytes of the object's whole pages */
  uint32_t excess; /* the bytes of `taken` beyond the object's size */
  uint32_t usable;
  uint32_t next_free;
  uint32_t unseen;   /* an object whose accesses cannot be seen: the lowest 32 bits of its number in this slot */
  uint32_t disowned; /* the last object that stopped being a sample: the lowest 32 bits of its number in this slot */
  bool apart;        /* whether the slot is a mapping of its own */
  bool to_merge;
  uint64_t born; /* the time of the allocation, in the unit of `access` */
};

uintptr_t slots_begin;
size_t slots_bytes;

static struct slot *slots;
static bool open_for_objects;
static uint32_t most_apart;
static uint32_t slots_apart;
static uint64_t taken_bytes, excess_bytes, retired, retired_bytes;

static struct {
  free_list free;
  free_list merged; /* the free slots without a mapping of their own */
  uint32_t fresh;   /* the number of slots of the class that were ever taken */
  uint32_t in_use;
} lists[MALLOMETER_SLOT_CLASSES];

static size_t whole_pages(size_t bytes) { return (bytes + bytes_of[0] - 1) & ~(bytes_of[0] - 1); }

/* ---- The range of addresses ---------------------------------------------------------------------------- */

static size_t reserved;

static size_t bytes_for(const uint32_t layout[]) {
  size_t sum = 0;
  for (uint32_t class = 0; class < MALLOMETER_SLOT_CLASSES; class ++) sum += layout[class] * bytes_of[class];
  return sum;
}

static void lay_out(const uint32_t layout[], uintptr_t begin) {
  uint32_t first = 0;
  for (uint32_t class = 0; class < MALLOMETER_SLOT_CLASSES; class ++) {
    classes[class].first = first;
    classes[class].slots = layout[class];
    classes[class].begin = begin;
    first += layout[class];
    begin += layout[class] * bytes_of[class];
  }
}

static uintptr_t reserve(const uint32_t **layout, const char **why) {
  for (*layout = layouts[0]; *layout < layouts[0] + LAYOUTS * MALLOMETER_SLOT_CLASSES;
       *layout += MALLOMETER_SLOT_CLASSES) {
    reserved = bytes_for(*layout) + (PAGES_BEFORE_SLOTS + PAGES_BEHIND_SLOTS) * bytes_of[0];
    uintptr_t range = page_range_reserve(reserved, why);
    if (range) return range;
  }
  reserved = 0;
  return 0;
}

const char *slots_start(void) {
  if (slots) return NULL;
  if (memory_page_bytes() > LARGEST_PAGE) return "pages are larger than 64 KiB";
  bytes_of[0] = memory_page_bytes();
  if (bytes_of[1] < 4 * bytes_of[0]) bytes_of[1] = 4 * bytes_of[0];
  struct slot *records = memory_reserve(SLOTS * sizeof *records);
  if (!records) return "no memory for the table of observed objects";
  const uint32_t *layout;
  const char *why;
  uintptr_t range = reserve(&layout, &why);
  if (!range) {
    memory_give_back(records, SLOTS * sizeof *records);
    return why;
  }
  pages_separate(range + reserved - PAGES_BEHIND_SLOTS * bytes_of[0], PAGES_BEHIND_SLOTS * bytes_of[0]);
  lay_out(layout, range + PAGES_BEFORE_SLOTS * bytes_of[0]);
  __atomic_store_n(&slots, records, __ATOMIC_RELEASE);
  __atomic_store_n(&slots_begin, classes[0].begin, __ATOMIC_RELEASE);
  __atomic_store_n(&slots_bytes, bytes_for(layout), __ATOMIC_RELEASE);
  low_range_extend(range + reserved);
  return NULL;
}

void slots_bound(uint32_t most) { __atomic_store_n(&most_apart, most, __ATOMIC_RELAXED); }

char *slots_pages_before(void) { return slots ? (char *)slots_begin - PAGES_BEFORE_SLOTS * bytes_of[0] : NULL; }

size_t slots_footprint(void) { return slots ? whole_pages(SLOTS * sizeof(struct slot)) : 0; }

size_t slots_reserved(void) { return __atomic_load_n(&slots, __ATOMIC_ACQUIRE) ? reserved : 0; }

static uint32_t class_of_number(uint32_t number) {
  uint32_t class = MALLOMETER_SLOT_CLASSES - 1;
  while (number < classes[class].first) class --;
  return class;
}

uintptr_t slot_address(uint32_t number) {
  uint32_t class = class_of_number(number);
  return classes[class].begin + (number - classes[class].first) * bytes_of[class];
}

static uint32_t number_of(uintptr_t address) {
  uint32_t class = MALLOMETER_SLOT_CLASSES - 1;
  while (address < classes[class].begin) class --;
  return classes[class].first + (uint32_t)((address - classes[class].begin) / bytes_of[class]);
}

uint32_t slot_number(const void *object) { return number_of((uintptr_t)object); }

size_t slot_opened(uint32_t number) { return __atomic_load_n(&slots[number].opened, __ATOMIC_ACQUIRE); }

/* ---- Free slots ---------------------------------------------------------------------------------------- */

static uint32_t *next_free(uint32_t number) { return &slots[number].next_free; }

static void push(free_list *list, uint32_t number) { free_list_push(list, number, next_free(number)); }

static uint32_t pop(free_list *list) { return free_list_pop(list, next_free); }

static uint32_t fresh(uint32_t class) {
  uint32_t most = __atomic_load_n(&most_apart, __ATOMIC_RELAXED);
  if (reserve_numbers(&slots_apart, 1, most) >= most) return NONE;
  uint32_t number = pop(&lists[class].merged);
  if (number != NONE) return number;
  number = reserve_numbers(&lists[class].fresh, 1, classes[class].slots);
  if (number < classes[class].slots) return classes[class].first + number;
  __atomic_fetch_sub(&slots_apart, 1, __ATOMIC_RELAXED);
  return NONE;
}

/* Gives the pages of a slot a mark that the neighbouring slots do not have (pages_mark()), so that the kernel keeps
 * the slot in a mapping of its own. An even slot that was never accessible needs no call, because its pages have the
 * mark PAGES_EVEN already. */
static bool comes_apart(uint32_t number, uintptr_t begin, size_t bytes) {
  enum pages_mark mark = number % 2 == 1 ? PAGES_ODD : PAGES_EVEN;
  bool is_usual = mark == PAGES_EVEN && slots[number].opened == 0;
  slots[number].apart = is_usual || pages_mark(begin, bytes, mark);
  return slots[number].apart;
}

/* Makes the pages of a slot usable; returns false if that fails. The caller has taken the slot from a list, so no
 * other thread uses it. */
static bool open_slot(uint32_t class, uint32_t number, size_t bytes) {
  struct slot *slot = &slots[number];
  uintptr_t begin = slot_address(number);
  if (!slot->apart && !comes_apart(number, begin, bytes_of[class])) return false;
  if (slot->opened >= bytes) return true;
  if (!pages_open(begin, bytes)) return false;
  __atomic_store_n(&slot->opened, (uint32_t)bytes, __ATOMIC_RELEASE);
  return true;
}

/* ---- Taking slots and giving them back ----------------------------------------------------------------- */

static size_t taken_by(size_t size, size_t offset) { return whole_pages(offset + size + SLACK); }

static size_t smallest_offset(size_t alignment) { return alignment > SMALLEST_OFFSET ? alignment : SMALLEST_OFFSET; }

uint32_t slot_class(size_t size, size_t alignment) {
  uint32_t class = 0;
  if (alignment > SLOT_ALIGNMENT) return MALLOMETER_SLOT_CLASSES;
  size_t needed = size < PTRDIFF_MAX ? taken_by(size, smallest_offset(alignment)) : SIZE_MAX;
  while (class < MALLOMETER_SLOT_CLASSES && needed > bytes_of[class]) class ++;
  return class;
}

size_t slot_excess(size_t size, size_t alignment) { return taken_by(size, smallest_offset(alignment)) - size; }

static bool has_slot(uint32_t class) {
  if ((uint32_t)__atomic_load_n(&lists[class].free, __ATOMIC_RELAXED) != 0) return true;
  return __atomic_load_n(&slots_apart, __ATOMIC_RELAXED) < __atomic_load_n(&most_apart, __ATOMIC_RELAXED);
}

double slots_left(uint32_t class) {
  uint32_t in_use = __atomic_load_n(&lists[class].in_use, __ATOMIC_RELAXED);
  if (!has_slot(class)) return 0;
  return 1 - (double)in_use / classes[class].slots;
}

size_t slots_excess(void) { return __atomic_load_n(&excess_bytes, __ATOMIC_RELAXED); }

/* Returns a random offset of the object in its slot. Objects at equal offsets would compete for the same cache
 * lines. The offset is a power of two, because glibc's free() accepts no other. */
static size_t offset_for(const struct slot_request *request) {
  size_t offset = smallest_offset(request->alignment), taken = taken_by(request->size, offset);
  for (uint32_t bits = request->random; (bits & 3) && offset < SLOT_ALIGNMENT; bits >>= 2) {
    if (taken_by(request->size, offset * 2) != taken) break;
    offset *= 2;
  }
  return offset;
}

static uint64_t time_now(void) { return coarse_monotonic_ns() >> SLOT_TIME_SHIFT; }

/* Returns false if glibc has resized the object in place, or if the program has overwritten its header. */
static bool chunk_is_whole(const struct slot *slot, uintptr_t begin) {
  return glibc_mapped_bytes((const void *)slot->object, slot->object - begin) == slot->taken;
}

static void *fill(uint32_t class, uint32_t number, const struct slot_request *request) {
  struct slot *slot = &slots[number];
  uintptr_t begin = slot_address(number);
  size_t offset = offset_for(request), taken = taken_by(request->size, offset), room = taken - offset - sizeof(size_t);
  uint64_t generation = slot->state / STATES + 1;
  slot->object = begin + offset;
  slot->placement = request->placement;
  slot->sample = request->sample;
  slot->taken = (uint32_t)taken;
  slot->excess = (uint32_t)(taken - request->size);
  slot->usable = (uint32_t)(request->usable < room ? request->usable : room);
  slot->born = time_now();
  glibc_write_mapped_chunk(begin, offset, taken);
  /* Relaxed order is enough, because the release store of the state below publishes this store too. */
  __atomic_store_n(&slot->access, generation << GENERATION_SHIFT | slot->born, __ATOMIC_RELAXED);
  __atomic_fetch_add(&lists[class].in_use, 1, __ATOMIC_RELAXED);
  __atomic_fetch_add(&taken_bytes, taken, __ATOMIC_RELAXED);
  __atomic_fetch_add(&excess_bytes, taken - request->size, __ATOMIC_RELAXED);
  __atomic_store_n(&slot->state, generation * STATES + IN_USE, __ATOMIC_RELEASE);
  return (void *)slot->object;
}

void *slot_take(const struct slot_request *request) {
  uint32_t class = slot_class(request->size, request->alignment);
  if (class == MALLOMETER_SLOT_CLASSES) return NULL;
  uint32_t number = pop(&lists[class].free);
  if (number == NONE) number = fresh(class);
  if (number == NONE) return NULL;
  KEEP_ERRNO;
  if (open_slot(class, number, taken_by(request->size, offset_for(request)))) return fill(class, number, request);
  push(&lists[class].free, number);
  return NULL;
}

static struct slot *slot_of(const void *object, uint64_t *state) {
  if (!is_in_slots(object)) return NULL;
  struct slot *slot = &slots[number_of((uintptr_t)object)];
  *state = __atomic_load_n(&slot->state, __ATOMIC_ACQUIRE);
  return *state % STATES == IN_USE && slot->object == (uintptr_t)object ? slot : NULL;
}

bool slot_disown(const struct slot_object *object) {
  uint32_t *disowned = &slots[object->number].disowned, generation = (uint32_t)object->generation;
  uint32_t before = __atomic_load_n(disowned, __ATOMIC_RELAXED);
  if (before == generation ||
      !__atomic_compare_exchange_n(disowned, &before, generation, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
    return false;
  }
  probe_free(object->object);
  return true;
}

/* Copies an object that is in use. The copy is valid only if the state word is the same afterwards. */
static void copy(const struct slot *slot, uint64_t generation, struct slot_object *to) {
  uint64_t last = __atomic_load_n(&slot->access, __ATOMIC_RELAXED) & TIME_MASK;
  *to = (struct slot_object){(const void *)slot->object,
                             (uint32_t)(slot - slots),
                             generation,
                             slot->sample,
                             slot->placement,
                             last,
                             slot->born,
                             __atomic_load_n(&slot->unseen, __ATOMIC_RELAXED) == (uint32_t)generation};
  if (__atomic_load_n(&slot->disowned, __ATOMIC_RELAXED) == (uint32_t)generation) to->sample.site = NO_SITE;
}

/* The exchange succeeds only if the slot still has the same object: each new object raises the generation in the
 * state word. */
bool slot_remove(const void *object, struct slot_object *removed) {
  uint64_t state;
  struct slot *slot = slot_of(object, &state);
  if (!slot || !__atomic_compare_exchange_n(&slot->state, &state, state / STATES * STATES + LEAVING, false,
                                            __ATOMIC_ACQ_REL, __ATOMIC_RELAXED)) {
    return false;
  }
  copy(slot, state / STATES, removed);
  if (!slot_disown(removed)) removed->sample.site = NO_SITE;
  return true;
}

static size_t offset_of(const struct slot *slot) { return slot->object - slot_address((uint32_t)(slot - slots)); }

/* Returns the bytes of an object's pages according to glibc's header. They differ from `taken` if glibc has unmapped
 * some of the pages, or has added pages after the slot. Implausible values in the header are ignored. */
static size_t pages_of(const struct slot *slot) {
  size_t offset = offset_of(slot), bytes = glibc_mapped_bytes((const void *)slot->object, offset);
  bool by_glibc = bytes % bytes_of[0] == 0 && bytes > offset && bytes < SIZE_MAX / 2;
  return by_glibc ? bytes : slot->taken;
}

static size_t room_of(const struct slot *slot) { return pages_of(slot) - offset_of(slot); }

size_t slot_capacity(const void *object) {
  uint64_t state;
  const struct slot *slot = slot_of(object, &state);
  return slot ? room_of(slot) : 0;
}

size_t slot_usable(const void *object) {
  uint64_t state;
  const struct slot *slot = slot_of(object, &state);
  if (!slot) return 0;
  return pages_of(slot) == slot->taken ? slot->usable : room_of(slot);
}

/*
 * Clears an object's pages. Locked pages are unlocked first, as munmap of a freed object would do. Locked pages may
 * mean that the program has locked all its memory (mlockall): no object is then moved into a slot until
 * slot_limits_check() finds that memory is not locked.
 */
static void clear(const struct slot *slot, uintptr_t begin) {
  if (pages_clear(begin, slot->taken)) return;
  slots_accept(false);
  pages_unlock(begin, slot->taken);
  if (!pages_clear(begin, slot->taken)) memset((void *)begin, 0, slot->taken);
}

static void uncount(const struct slot *slot, uint32_t class) {
  __atomic_fetch_sub(&lists[class].in_use, 1, __ATOMIC_RELAXED);
  __atomic_fetch_sub(&taken_bytes, slot->taken, __ATOMIC_RELAXED);
  __atomic_fetch_sub(&excess_bytes, slot->excess, __ATOMIC_RELAXED);
}

static void count_retired(uint64_t bytes) {
  __atomic_fetch_add(&retired, 1, __ATOMIC_RELAXED);
  __atomic_fetch_add(&retired_bytes, bytes, __ATOMIC_RELAXED);
}

void slot_give_back(const struct slot_object *removed) {
  struct slot *slot = &slots[removed->number];
  uint32_t class = class_of_number(removed->number);
  uintptr_t begin = slot_address(removed->number);
  bool whole = chunk_is_whole(slot, begin);
  KEEP_ERRNO;
  if (whole) {
    clear(slot, begin);
  } else {
    size_t bytes = pages_of(slot);
    count_retired(slot->taken - bytes); /* negative, modulo 2^64, if glibc has added pages */
    pages_clear(begin, bytes);
  }
  uncount(slot, class);
  __atomic_store_n(&slot->state, removed->generation * STATES + (whole ? FREE : RETIRED), __ATOMIC_RELEASE);
  if (whole) push(&lists[class].free, removed->number);
}

/* ---- Observation ------------------------------------------------------------------------------------------ */

bool slot_read(uint32_t number, struct slot_object *object) {
  const struct slot *slot = &slots[number];
  uint64_t state = __atomic_load_n(&slot->state, __ATOMIC_ACQUIRE);
  if (state % STATES != IN_USE) return false;
  copy(slot, state / STATES, object);
  /* The copy may contain words of a later object. The thread that wrote them took the slot with pop(), after
   * slot_give_back() had stored FREE and released the slot. The fence therefore makes the following load see FREE or
   * a later state, so the copy is rejected. */
  __atomic_thread_fence(__ATOMIC_ACQUIRE);
  return __atomic_load_n(&slot->state, __ATOMIC_RELAXED) == state;
}

/*
 * The exchange needs no order with other stores. It fails if the slot has a later object, because that object's
 * generation differs.
 */
void slot_touched(const struct slot_object *object, uint64_t time) {
  uint64_t of_generation = object->generation << GENERATION_SHIFT, expected = of_generation | object->last_access;
  __atomic_compare_exchange_n(&slots[object->number].access, &expected, of_generation | time, false, __ATOMIC_RELAXED,
                              __ATOMIC_RELAXED);
}

void slot_show(const struct slot_object *object, bool seen) {
  uint32_t generation = (uint32_t)object->generation;
  __atomic_store_n(&slots[object->number].unseen, seen ? generation - 1 : generation, __ATOMIC_RELAXED);
}

bool slot_retire(const struct slot_object *object) {
  struct slot *slot = &slots[object->number];
  uint64_t expected = object->generation * STATES + IN_USE;
  if (!__atomic_compare_exchange_n(&slot->state, &expected, object->generation * STATES + RETIRED, false,
                                   __ATOMIC_ACQ_REL, __ATOMIC_RELAXED)) {
    return false;
  }
  count_retired(slot->taken);
  uncount(slot, class_of_number(object->number));
  return true;
}

/* ---- Merging the mappings of free slots ---------------------------------------------------------------- */

/* slots_merge() merges only slots of classes 0 and 1, which have the most slots. A merge makes the whole slot
 * accessible, which would be 1 or 16 MiB in the other classes. */
#define CLASSES_TO_MERGE 2u

/* Replaces the pages of adjacent slots by one accessible mapping of new pages. If that fails, these slots are never
 * used again. */
static void merge_run(uint32_t class, uint32_t first, uint32_t count) {
  bool merged = pages_renew(slot_address(first), count * bytes_of[class]);
  for (uint32_t number = first; number < first + count; number++) {
    slots[number].to_merge = false;
    if (!merged) continue;
    slots[number].apart = false;
    __atomic_store_n(&slots[number].opened, (uint32_t)bytes_of[class], __ATOMIC_RELEASE);
    push(&lists[class].merged, number);
  }
  if (merged) __atomic_fetch_sub(&slots_apart, count, __ATOMIC_RELAXED);
}

void slots_merge(void) {
  for (uint32_t class = 0; class < CLASSES_TO_MERGE; class ++) {
    uint32_t number, end = classes[class].first + classes[class].slots, run = 0;
    while ((number = pop(&lists[class].free)) != NONE) slots[number].to_merge = true;
    for (number = classes[class].first; number < end; number++) {
      run += slots[number].to_merge;
      if (run > 0 && (number + 1 == end || !slots[number + 1].to_merge)) {
        merge_run(class, number + 1 - run, run);
        run = 0;
      }
    }
  }
}

/* ---- Totals and rows of all slots ------------------------------------------------------------------------- */

void slots_accept(bool open) { __atomic_store_n(&open_for_objects, open, __ATOMIC_RELEASE); }

bool slots_are_accepted(void) { return __atomic_load_n(&open_for_objects, __ATOMIC_ACQUIRE); }

struct slots_totals slots_totals(void) {
  struct slots_totals totals = {.apart = __atomic_load_n(&slots_apart, __ATOMIC_RELAXED),
                                .taken_bytes = __atomic_load_n(&taken_bytes, __ATOMIC_RELAXED),
                                .retired = __atomic_load_n(&retired, __ATOMIC_RELAXED),
                                .retired_bytes = __atomic_load_n(&retired_bytes, __ATOMIC_RELAXED)};
  for (uint32_t class = 0; slots && class < MALLOMETER_SLOT_CLASSES; class ++) {
    totals.in_use[class] = __atomic_load_n(&lists[class].in_use, __ATOMIC_RELAXED);
    totals.slots[class] = classes[class].slots;
  }
  return totals;
}

uint64_t slots_counted_bytes(uint64_t *objects) {
  uint64_t bytes = 0;
  *objects = 0;
  for (uint32_t i = 0; slots_reserved() > 0 && i < SLOTS; i++) {
    struct slot_object slot;
    if (!slot_read(i, &slot)) continue;
    bytes += slot.sample.bytes;
    *objects += 1;
  }
  return bytes;
}

static bool row_of(uint32_t number, struct slot_object *slot, struct mallometer_object *row) {
  if (!slot_read(number, slot) || slot->sample.site == NO_SITE) return false;
  *row = live_sample_row(slot->object, &slot->sample);
  row->placement = slot->unseen ? 0 : slot->placement;
  row->last_access_ns = slot->unseen ? 0 : slot->last_access << SLOT_TIME_SHIFT;
  return true;
}

uint32_t slots_copy(struct mallometer_object *objects, uint32_t capacity, const struct object_filter *filter) {
  uint32_t copied = 0;
  struct slot_object slot;
  struct mallometer_object row;
  for (uint32_t i = 0; slots_reserved() > 0 && i < SLOTS && copied < capacity; i++) {
    if (row_of(i, &slot, &row) && filter_wants(filter, slot.object)) objects[copied++] = row;
  }
  return copied;
}
