/* Blocks of ranges in address order, below one lock. See ranges.h. */
#include "account/ranges.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <string.h>

#include "platform/clock.h"
#include "platform/memory.h"

enum {
  BLOCKS = 1024,
  IN_BLOCK = 64,
  /* The ranges that stay when the smallest are forgotten. */
  KEPT = BLOCKS * IN_BLOCK / 4 * 3,
  /* A change needs at most two blocks more. */
  BLOCKS_OF_CHANGE = 2,
  SIZE_CLASSES = 64,
  ROWS_AT_ONCE = 64
};

#define LONGEST_WAIT_NS 20000000u
/* The missed changes after which the map is abandoned: a process that was killed may have had the lock. */
#define MOST_MISSED 64u
/* The birth of a range has units of 16.8 ms: 32 bits last for two years. */
#define BIRTH_SHIFT 24

struct range {
  uintptr_t begin, end;
  uint64_t number;
  uint32_t site;
  uint32_t born;
};

struct block {
  uint32_t count;
  struct range ranges[IN_BLOCK];
};

static struct map {
  uint32_t used; /* blocks in use, none of which is empty */
  uint32_t ranges;
  /* The blocks in use by address, then those that are free. */
  uint16_t order[BLOCKS];
  uintptr_t first[BLOCKS]; /* the first address of each block in use, in the same order */
  struct block blocks[BLOCKS];
} * map;

static void (*change_references)(uint32_t site, int32_t by);
static uint64_t latest_number, forgotten, missed;

/* The map is no longer used: the lock was not given back. */
static bool abandoned;

static struct map *known_map(void) { return __atomic_load_n(&map, __ATOMIC_ACQUIRE); }

bool ranges_start(void (*change)(uint32_t site, int32_t by)) {
  if (known_map()) return true;
  struct map *none = NULL, *fresh = memory_reserve(sizeof *fresh);
  if (!fresh) return false;
  for (uint16_t i = 0; i < BLOCKS; i++) fresh->order[i] = i;
  __atomic_store_n(&change_references, change, __ATOMIC_RELAXED);
  if (!__atomic_compare_exchange_n(&map, &none, fresh, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) {
    memory_give_back(fresh, sizeof *fresh); /* another thread was first */
  }
  return true;
}

bool ranges_on(void) { return known_map() != NULL && !__atomic_load_n(&abandoned, __ATOMIC_RELAXED); }

size_t ranges_footprint(void) { return known_map() ? memory_whole_pages(sizeof *map) : 0; }

/* ---- The lock ------------------------------------------------------------------------------------------ */

static bool locked;
/* The thread that forks, which has the lock; 0 for none. It may map memory in its own handlers of the fork. */
static uintptr_t forking;
static sigset_t signals_of_forking;

static bool take_lock(void) {
  uint64_t end = 0;
  for (uint32_t tries = 0; __atomic_exchange_n(&locked, true, __ATOMIC_ACQUIRE); tries++) {
    if (tries < 100) continue;
    if (end == 0) end = monotonic_ns() + LONGEST_WAIT_NS;
    if (monotonic_ns() > end) return false;
    sched_yield();
  }
  return true;
}

static bool this_thread_forks(void) {
  return __atomic_load_n(&forking, __ATOMIC_RELAXED) == (uintptr_t)pthread_self();
}

/* Takes the lock and blocks all signals. Returns false if the map must not be used. */
static bool begin(sigset_t *before) {
  sigset_t all;
  if (!ranges_on()) return false;
  sigfillset(&all);
  sigprocmask(SIG_SETMASK, &all, before);
  if (this_thread_forks() || take_lock()) return true;
  if (__atomic_add_fetch(&missed, 1, __ATOMIC_RELAXED) >= MOST_MISSED) {
    __atomic_store_n(&abandoned, true, __ATOMIC_RELAXED);
  }
  sigprocmask(SIG_SETMASK, before, NULL);
  return false;
}

static void end(const sigset_t *before) {
  if (!this_thread_forks()) __atomic_store_n(&locked, false, __ATOMIC_RELEASE);
  sigprocmask(SIG_SETMASK, before, NULL);
}

void ranges_before_fork(void) {
  sigset_t before;
  if (!begin(&before)) return;
  signals_of_forking = before;
  __atomic_store_n(&forking, (uintptr_t)pthread_self(), __ATOMIC_RELAXED);
}

void ranges_after_fork(void) {
  if (!this_thread_forks()) return;
  sigset_t before = signals_of_forking;
  __atomic_store_n(&forking, 0, __ATOMIC_RELAXED);
  end(&before);
}

void ranges_forked(void) {
  if (this_thread_forks()) {
    ranges_after_fork();
  } else if (locked) { /* another thread may have been in the middle of a change */
    abandoned = true;
  }
}

/* ---- Places ------------------------------------------------------------------------------------------- */

/* A range's place: the number of its block in the order, and its own in the block. */
struct place {
  uint32_t block, range;
};

static struct block *block_at(uint32_t place) { return &map->blocks[map->order[place]]; }

static struct range *range_at(struct place place) { return &block_at(place.block)->ranges[place.range]; }

static bool is_end(struct place place) { return place.block >= map->used; }

/* Returns the place, or the next one if it is behind the last of its block. */
static struct place settled(struct place place) {
  if (!is_end(place) && place.range >= block_at(place.block)->count) return (struct place){place.block + 1, 0};
  return place;
}

static struct place following(struct place place) { return settled((struct place){place.block, place.range + 1}); }

/* Returns the number of the last block that begins at or below an address; 0 if none does. */
static uint32_t block_of(uintptr_t address) {
  uint32_t low = 0, high = map->used;
  while (high - low > 1) {
    uint32_t middle = low + (high - low) / 2;
    if (map->first[middle] <= address) {
      low = middle;
    } else {
      high = middle;
    }
  }
  return low;
}

/* Returns the first range that ends behind an address. */
static struct place place_of(uintptr_t address) {
  if (map->used == 0) return (struct place){0, 0};
  uint32_t number = block_of(address), low = 0;
  const struct block *block = block_at(number);
  for (uint32_t high = block->count; low < high;) {
    uint32_t middle = low + (high - low) / 2;
    if (block->ranges[middle].end <= address) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return settled((struct place){number, low});
}

static void note_first(uint32_t number) { map->first[number] = block_at(number)->ranges[0].begin; }

/* ---- Changes of places --------------------------------------------------------------------------------- */

static void add_block(uint32_t number) {
  uint16_t fresh = map->order[map->used];
  uint32_t behind = map->used - number;
  memmove(&map->order[number + 1], &map->order[number], behind * sizeof *map->order);
  memmove(&map->first[number + 1], &map->first[number], behind * sizeof *map->first);
  map->order[number] = fresh;
  map->blocks[fresh].count = 0;
  map->used++;
}

static void remove_block(uint32_t number) {
  uint16_t empty = map->order[number];
  uint32_t behind = --map->used - number;
  memmove(&map->order[number], &map->order[number + 1], behind * sizeof *map->order);
  memmove(&map->first[number], &map->first[number + 1], behind * sizeof *map->first);
  map->order[map->used] = empty;
}

/* Moves the upper half of a full block into a block behind it. */
static void split_block(uint32_t number) {
  add_block(number + 1);
  struct block *lower = block_at(number), *upper = block_at(number + 1);
  memcpy(upper->ranges, lower->ranges + IN_BLOCK / 2, IN_BLOCK / 2 * sizeof *upper->ranges);
  lower->count = upper->count = IN_BLOCK / 2;
  note_first(number + 1);
}

/* Inserts a range before a place, in the block of the range before if there is one. */
static void insert_at(struct place place, struct range range) {
  if (map->used == 0) add_block(0);
  if (place.range == 0 && place.block > 0) place = (struct place){place.block - 1, block_at(place.block - 1)->count};
  if (block_at(place.block)->count == IN_BLOCK) {
    split_block(place.block);
    if (place.range > IN_BLOCK / 2) place = (struct place){place.block + 1, place.range - IN_BLOCK / 2};
  }
  struct block *block = block_at(place.block);
  struct range *at = &block->ranges[place.range];
  memmove(at + 1, at, (block->count - place.range) * sizeof *at);
  *at = range;
  block->count++;
  map->ranges++;
  note_first(place.block);
}

/* Removes a range. Returns the place of the next. */
static struct place remove_at(struct place place) {
  struct block *block = block_at(place.block);
  struct range *at = &block->ranges[place.range];
  change_references(at->site, -1);
  memmove(at, at + 1, (block->count - place.range - 1) * sizeof *at);
  map->ranges--;
  if (--block->count == 0) {
    remove_block(place.block);
  } else {
    note_first(place.block);
  }
  return settled(place);
}

/* ---- Room ---------------------------------------------------------------------------------------------- */

static uint32_t size_class(const struct range *range) {
  return 63 - (uint32_t)__builtin_clzll((unsigned long long)(range->end - range->begin));
}

/* Sets the numbers of ranges of each class of sizes that are to be forgotten: the smallest. */
static void choose_smallest(uint32_t excess, uint32_t chosen[SIZE_CLASSES]) {
  memset(chosen, 0, SIZE_CLASSES * sizeof *chosen);
  for (struct place place = {0, 0}; !is_end(place); place = following(place)) chosen[size_class(range_at(place))]++;
  for (uint32_t class = 0; class < SIZE_CLASSES; class ++) {
    if (chosen[class] > excess) chosen[class] = excess;
    excess -= chosen[class];
  }
}

/* Moves all ranges into full blocks, but the chosen ones. A block is not written before all of it was read. */
static void pack(uint32_t chosen[SIZE_CLASSES]) {
  uint32_t used = map->used, filled = 0, kept = 0, total = 0;
  for (uint32_t number = 0; number < used; number++) {
    const struct block *block = block_at(number);
    for (uint32_t i = 0, count = block->count; i < count; i++) {
      struct range range = block->ranges[i];
      uint32_t class = size_class(&range);
      if (chosen[class] > 0) {
        chosen[class]--;
        change_references(range.site, -1);
        __atomic_fetch_add(&forgotten, 1, __ATOMIC_RELAXED);
        continue;
      }
      block_at(filled)->ranges[kept] = range;
      total++;
      if (++kept == IN_BLOCK) {
        kept = 0;
        filled++;
      }
    }
  }
  map->used = filled + (kept > 0);
  map->ranges = total;
  for (uint32_t number = 0; number < map->used; number++) {
    block_at(number)->count = number < filled ? IN_BLOCK : kept;
    note_first(number);
  }
}

static void make_room(void) {
  uint32_t chosen[SIZE_CLASSES];
  if (map->used + BLOCKS_OF_CHANGE <= BLOCKS) return;
  choose_smallest(map->ranges > KEPT ? map->ranges - KEPT : 0, chosen);
  pack(chosen);
}

/* ---- Changes ------------------------------------------------------------------------------------------- */

/* Cuts addresses out of all ranges that are not younger than an insertion. */
static void cut_out(uintptr_t begin, uintptr_t end, uint64_t latest) {
  struct place place = place_of(begin);
  while (!is_end(place) && range_at(place)->begin < end) {
    struct range *range = range_at(place);
    if (range->number > latest) {
      place = following(place);
    } else if (range->begin < begin && range->end > end) {
      struct range upper = *range;
      upper.begin = end;
      range->end = begin;
      change_references(upper.site, 1);
      insert_at((struct place){place.block, place.range + 1}, upper);
      return;
    } else if (range->begin < begin) {
      range->end = begin;
      place = following(place);
    } else if (range->end > end) {
      range->begin = end;
      note_first(place.block);
      return;
    } else {
      place = remove_at(place);
    }
  }
}

uint64_t ranges_latest(void) { return __atomic_load_n(&latest_number, __ATOMIC_ACQUIRE); }

void ranges_insert(uintptr_t begin_address, uintptr_t end_address, uint32_t site) {
  sigset_t signals;
  if (begin_address >= end_address || !begin(&signals)) return;
  make_room();
  cut_out(begin_address, end_address, UINT64_MAX);
  struct range range = {begin_address, end_address, latest_number + 1, site,
                        (uint32_t)(coarse_monotonic_ns() >> BIRTH_SHIFT)};
  __atomic_store_n(&latest_number, range.number, __ATOMIC_RELEASE);
  insert_at(place_of(begin_address), range);
  end(&signals);
}

void ranges_remove(uintptr_t begin_address, uintptr_t end_address, uint64_t latest) {
  sigset_t signals;
  if (begin_address >= end_address || !begin(&signals)) return;
  make_room();
  cut_out(begin_address, end_address, latest);
  end(&signals);
}

static bool find(uintptr_t begin_address, uintptr_t end_address, bool whole, uint32_t *site) {
  struct place place = place_of(begin_address);
  if (is_end(place) || range_at(place)->begin > begin_address) return false;
  *site = range_at(place)->site;
  for (uintptr_t known = begin_address; whole && known < end_address; place = following(place)) {
    if (is_end(place) || range_at(place)->begin > known || range_at(place)->site != *site) return false;
    known = range_at(place)->end;
  }
  change_references(*site, 1);
  return true;
}

bool ranges_find(uintptr_t begin_address, uintptr_t end_address, bool whole, uint32_t *site) {
  sigset_t signals;
  if (!begin(&signals)) return false;
  bool found = find(begin_address, end_address, whole, site);
  end(&signals);
  return found;
}

void ranges_forget(void) {
  sigset_t signals;
  if (!begin(&signals)) return;
  for (struct place place = {0, 0}; !is_end(place); place = following(place)) {
    change_references(range_at(place)->site, -1);
  }
  map->used = map->ranges = 0;
  end(&signals);
}

/* ---- Reading ------------------------------------------------------------------------------------------- */

static struct mallometer_range row_of(const struct range *range) {
  struct mallometer_range row = {range->begin, range->end - range->begin, (uint64_t)range->born << BIRTH_SHIFT,
                                 range->site, MALLOMETER_RANGE_OF_PROGRAM};
  if (range->site == RANGE_OF_ALLOCATOR) {
    row.site = RANGE_WITHOUT_SITE;
    row.owner = MALLOMETER_RANGE_OF_ALLOCATOR;
  }
  return row;
}

static uint32_t copy_slice(struct mallometer_range *rows, uint32_t capacity, uintptr_t from) {
  uint32_t copied = 0;
  sigset_t signals;
  if (!begin(&signals)) return 0;
  for (struct place place = place_of(from); copied < capacity && !is_end(place); place = following(place)) {
    rows[copied++] = row_of(range_at(place));
  }
  end(&signals);
  return copied;
}

uint32_t ranges_copy(struct mallometer_range *rows, uint32_t capacity, uint64_t from) {
  uint32_t copied = 0;
  for (uint32_t slice = 1; slice > 0 && copied < capacity; copied += slice) {
    uint32_t left = capacity - copied;
    slice = copy_slice(rows + copied, left < ROWS_AT_ONCE ? left : ROWS_AT_ONCE, from);
    if (slice > 0) from = rows[copied + slice - 1].address + rows[copied + slice - 1].length;
  }
  return copied;
}

struct ranges_totals ranges_totals(void) {
  return (struct ranges_totals){known_map() ? __atomic_load_n(&map->ranges, __ATOMIC_RELAXED) : 0,
                                __atomic_load_n(&forgotten, __ATOMIC_RELAXED),
                                __atomic_load_n(&missed, __ATOMIC_RELAXED)};
}
