/* Stores ranges of addresses in blocks, in address order, under one lock. See ranges.h. */
#include "account/ranges.h"

#include <errno.h>
#include <string.h>

#include "platform/clock.h"
#include "platform/memory.h"
#include "platform/sorted.h"
#include "platform/system_calls.h"

enum {
  BLOCKS = 1024,
  IN_BLOCK = 64,
  /* Packing (see make_room()) fills at most three quarters of each block, and uses at most three quarters of the
   * blocks. The rest is room for changes. */
  PACKED_IN_BLOCK = IN_BLOCK / 4 * 3,
  PACKED_BLOCKS = BLOCKS / 4 * 3,
  KEPT = PACKED_BLOCKS * PACKED_IN_BLOCK,
  BLOCKS_OF_SLICE = 16,
  /* A change adds at most two blocks. */
  BLOCKS_OF_CHANGE = 2,
  SIZE_CLASSES = 64,
  ROWS_AT_ONCE = 64
};

/* A thread tests the lock TESTS times and then at most SLEEPS times more, with a sleep before each test. */
#define TESTS 100u
#define SLEEPS 10u
#define SLEEP_NS 100000u
/*
 * A change of the map is skipped, and counted as missed, if the lock is not free. The map is abandoned after
 * MOST_MISSED missed changes in a row, over at least LONGEST_MISSING_NS, because the lock will then probably never be
 * released.
 */
#define MOST_MISSED 64u
#define LONGEST_MISSING_NS 1000000000u
/* A range's birth is stored in units of 2^24 ns (16.8 ms), so that 32 bits last for two years. */
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
  uint32_t generation;
  uint32_t used; /* blocks that contain ranges */
  uint32_t most_used;
  uint32_t ranges;
  /* The indices of the blocks in use, in address order, and then the indices of the free blocks. */
  uint16_t order[BLOCKS];
  uint16_t removed[BLOCKS];
  uintptr_t first[BLOCKS]; /* the first address of each block in use, in the order of `order` */
  /* The state of packing, which moves ranges into fewer blocks. `passes` is the number of passes left to do, `next`
   * is the block where the current pass continues, and `enough` is the number of used blocks above which the next
   * packing begins. */
  uint32_t passes, next, enough;
  uint32_t counted[SIZE_CLASSES], chosen[SIZE_CLASSES];
  struct block blocks[BLOCKS];
  struct range slice[BLOCKS_OF_SLICE * IN_BLOCK];
} * map;

static const struct ranges_sites *sites;
static uint64_t latest_number, forgotten, missed;
static uint32_t generation;
/* The number of threads between ranges_before_unmapping() and ranges_after_unmapping(). */
static uint32_t unmapping;

/* True if the map is not used because a thread did not release the map's lock. */
static bool abandoned;

static struct map *known_map(void) { return __atomic_load_n(&map, __ATOMIC_ACQUIRE); }

bool ranges_on(void) { return known_map() != NULL && !__atomic_load_n(&abandoned, __ATOMIC_RELAXED); }

const char *ranges_missing(void) {
  if (ranges_on()) return NULL;
  return known_map() ? "the lock of the map of ranges was not given back" : "no memory for the map of ranges";
}

/* Counts only the parts of the map that may be resident. */
size_t ranges_footprint(void) {
  if (!known_map()) return 0;
  uint32_t most_used = __atomic_load_n(&map->most_used, __ATOMIC_RELAXED);
  return memory_whole_pages(offsetof(struct map, blocks) + most_used * sizeof(struct block) +
                            (most_used > PACKED_BLOCKS ? sizeof map->slice : 0));
}

/* ---- The lock of the map ------------------------------------------------------------------------------- */

static bool locked;
static uint32_t missed_in_row;
static uint64_t first_missed_ns;

static bool try_lock(void) { return !__atomic_exchange_n(&locked, true, __ATOMIC_ACQUIRE); }

/* Waits at most about a millisecond. Does not wait if MOST_MISSED changes in a row were missed. */
static bool take_lock(void) {
  for (unsigned i = 0; i < TESTS; i++) {
    if (try_lock()) return true;
  }
  for (unsigned i = 0; i < SLEEPS && __atomic_load_n(&missed_in_row, __ATOMIC_RELAXED) < MOST_MISSED; i++) {
    call_sleep(SLEEP_NS);
    if (try_lock()) return true;
  }
  return try_lock();
}

static void release_all(void);

/* Takes the lock, blocks all signals, and empties the map if ranges_forget() was called. Returns false if the map must
 * not be used. */
static bool begin(uint64_t *signals) {
  if (!ranges_on()) return false;
  *signals = call_block_signals();
  if (take_lock()) {
    if (__atomic_load_n(&missed_in_row, __ATOMIC_RELAXED)) __atomic_store_n(&missed_in_row, 0, __ATOMIC_RELAXED);
    if (map->generation != __atomic_load_n(&generation, __ATOMIC_RELAXED)) release_all();
    return true;
  }
  call_restore_signals(*signals);
  return false;
}

static void end(uint64_t signals) {
  __atomic_store_n(&locked, false, __ATOMIC_RELEASE);
  call_restore_signals(signals);
}

static void count_missed(void) {
  uint64_t now = coarse_monotonic_ns();
  __atomic_fetch_add(&missed, 1, __ATOMIC_RELAXED);
  if (!__atomic_load_n(&missed_in_row, __ATOMIC_RELAXED)) __atomic_store_n(&first_missed_ns, now, __ATOMIC_RELAXED);
  if (__atomic_add_fetch(&missed_in_row, 1, __ATOMIC_RELAXED) < MOST_MISSED) return;
  if (now - __atomic_load_n(&first_missed_ns, __ATOMIC_RELAXED) < LONGEST_MISSING_NS) return;
  if (!__atomic_exchange_n(&abandoned, true, __ATOMIC_RELAXED)) sites->release_all();
}

static bool begin_change(uint64_t *signals) {
  if (begin(signals)) return true;
  if (ranges_on()) count_missed();
  return false;
}

/* ---- Start and fork ------------------------------------------------------------------------------------ */

/* Empties the map, even if its state is inconsistent. */
static void renew(struct map *renewed) {
  for (uint16_t i = 0; i < BLOCKS; i++) renewed->order[i] = i;
  renewed->used = renewed->ranges = renewed->passes = 0;
  renewed->enough = PACKED_BLOCKS;
  renewed->generation = __atomic_load_n(&generation, __ATOMIC_RELAXED);
}

/* Uses an abandoned map again if its lock was released later. */
static bool start_again(void) {
  uint64_t signals = call_block_signals();
  if (try_lock()) {
    if (abandoned) {
      renew(map);
      sites->release_all();
      missed_in_row = 0;
      __atomic_store_n(&abandoned, false, __ATOMIC_RELAXED);
    }
    __atomic_store_n(&locked, false, __ATOMIC_RELEASE);
  }
  call_restore_signals(signals);
  return ranges_on();
}

bool ranges_start(const struct ranges_sites *of) {
  if (known_map()) return ranges_on() || start_again();
  struct map *none = NULL, *fresh = memory_reserve(sizeof *fresh);
  if (!fresh) return false;
  renew(fresh);
  __atomic_store_n(&sites, of, __ATOMIC_RELAXED);
  if (!__atomic_compare_exchange_n(&map, &none, fresh, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) {
    memory_give_back(fresh, sizeof *fresh); /* another thread has stored its map first */
  }
  return true;
}

void ranges_forked(void) {
  unmapping = missed_in_row = 0;
  if (!locked) return;
  /* Another thread of the parent held the lock at the fork, and may have been changing the map. */
  if (known_map()) {
    renew(map);
    sites->release_all();
    missed++;
  }
  locked = false;
}

/* ---- Places in the map -------------------------------------------------------------------------------- */

struct place {
  uint32_t block, range;
};

static struct block *block_at(uint32_t place) { return &map->blocks[map->order[place]]; }

static struct range *range_at(struct place place) { return &block_at(place.block)->ranges[place.range]; }

static bool is_end(struct place place) { return place.block >= map->used; }

static struct place settled(struct place place) {
  if (!is_end(place) && place.range >= block_at(place.block)->count) return (struct place){place.block + 1, 0};
  return place;
}

static struct place following(struct place place) { return settled((struct place){place.block, place.range + 1}); }

static uint32_t block_of(uintptr_t address) {
  size_t behind = rows_up_to(map->first, map->used, sizeof *map->first, address);
  return behind > 0 ? (uint32_t)behind - 1 : 0;
}

/* Returns the place of the first range that ends after an address. */
static struct place place_of(uintptr_t address) {
  if (map->used == 0) return (struct place){0, 0};
  uint32_t number = block_of(address);
  const struct block *block = block_at(number);
  size_t behind = rows_up_to(block->ranges, block->count, sizeof *block->ranges, address);
  if (behind > 0 && block->ranges[behind - 1].end > address) behind--;
  return settled((struct place){number, (uint32_t)behind});
}

static void note_first(uint32_t number) { map->first[number] = block_at(number)->ranges[0].begin; }

/* ---- Insertion and removal at a place ------------------------------------------------------------------ */

static void add_block(uint32_t number) {
  uint16_t fresh = map->order[map->used];
  uint32_t behind = map->used - number;
  memmove(&map->order[number + 1], &map->order[number], behind * sizeof *map->order);
  memmove(&map->first[number + 1], &map->first[number], behind * sizeof *map->first);
  map->order[number] = fresh;
  map->blocks[fresh].count = 0;
  if (++map->used > map->most_used) __atomic_store_n(&map->most_used, map->used, __ATOMIC_RELAXED);
}

static void remove_blocks(uint32_t number, uint32_t count) {
  uint32_t behind = map->used - number - count;
  memcpy(map->removed, &map->order[number], count * sizeof *map->order);
  memmove(&map->order[number], &map->order[number + count], behind * sizeof *map->order);
  memmove(&map->first[number], &map->first[number + count], behind * sizeof *map->first);
  map->used -= count;
  memcpy(&map->order[map->used], map->removed, count * sizeof *map->order);
}

static void split_block(uint32_t number) {
  add_block(number + 1);
  struct block *lower = block_at(number), *upper = block_at(number + 1);
  memcpy(upper->ranges, lower->ranges + IN_BLOCK / 2, IN_BLOCK / 2 * sizeof *upper->ranges);
  lower->count = upper->count = IN_BLOCK / 2;
  note_first(number + 1);
}

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

struct references {
  uint32_t site;
  int32_t count;
};

static void give_back(struct references *references) {
  if (references->count > 0) sites->refer(references->site, -references->count);
  references->count = 0;
}

static void release(struct references *references, uint32_t site) {
  if (references->site != site) give_back(references);
  references->site = site;
  references->count++;
}

/* Removes `count` ranges of one block, and returns the place of the next range. The caller must have released the
 * ranges' references to sites. */
static struct place remove_run(struct place place, uint32_t count) {
  struct block *block = block_at(place.block);
  struct range *at = &block->ranges[place.range];
  memmove(at, at + count, (block->count - place.range - count) * sizeof *at);
  map->ranges -= count;
  block->count -= count;
  if (block->count == 0) {
    remove_blocks(place.block, 1);
  } else {
    note_first(place.block);
  }
  return settled(place);
}

static void release_all(void) {
  struct references references = {0};
  for (struct place place = {0, 0}; !is_end(place); place = following(place)) {
    release(&references, range_at(place)->site);
  }
  give_back(&references);
  renew(map);
}

/* ---- Making room in the map ---------------------------------------------------------------------------- */

static uint32_t size_class(const struct range *range) {
  return 63 - (uint32_t)__builtin_clzll((unsigned long long)(range->end - range->begin));
}

/* Begins two passes over the map: the first counts the ranges of each size class, the second forgets ranges of the
 * smallest classes. */
static void begin_passes(void) {
  map->passes = 2;
  map->next = 0;
  memset(map->counted, 0, sizeof map->counted);
  memset(map->chosen, 0, sizeof map->chosen);
}

/* Called at the end of a pass over the map. Chooses how many ranges of each size class the next pass forgets,
 * beginning with the smallest ranges. */
static void end_pass(void) {
  uint32_t excess = map->ranges > KEPT ? map->ranges - KEPT : 0;
  for (uint32_t class = 0; class < SIZE_CLASSES; class ++) {
    map->chosen[class] = map->counted[class] < excess ? map->counted[class] : excess;
    excess -= map->chosen[class];
  }
  map->next = 0;
  if (--map->passes == 0) map->enough = map->used < PACKED_BLOCKS ? PACKED_BLOCKS : map->used + BLOCKS_OF_SLICE;
}

/* Copies the ranges of the next `blocks` blocks to map->slice. Ranges that the current pass over the map forgets are
 * not copied. Returns the number of copied ranges. */
static uint32_t read_slice(uint32_t blocks) {
  uint32_t total = 0;
  struct references references = {0};
  for (uint32_t number = map->next; number < map->next + blocks; number++) {
    const struct block *block = block_at(number);
    for (uint32_t i = 0; i < block->count; i++) {
      uint32_t class = size_class(&block->ranges[i]);
      if (map->chosen[class] > 0) {
        map->chosen[class]--;
        map->ranges--;
        release(&references, block->ranges[i].site);
        __atomic_fetch_add(&forgotten, 1, __ATOMIC_RELAXED);
      } else {
        map->counted[class]++;
        map->slice[total++] = block->ranges[i];
      }
    }
  }
  give_back(&references);
  return total;
}

static void pack_slice(void) {
  if (map->next >= map->used) {
    end_pass(); /* changes since the previous call have removed all remaining blocks */
    return;
  }
  uint32_t blocks = map->used - map->next < BLOCKS_OF_SLICE ? map->used - map->next : BLOCKS_OF_SLICE;
  uint32_t total = read_slice(blocks), needed = (total + PACKED_IN_BLOCK - 1) / PACKED_IN_BLOCK, at = 0;
  if (needed > blocks) needed = blocks;
  for (uint32_t i = 0; i < needed; i++) {
    struct block *block = block_at(map->next + i);
    block->count = (total - at) / (needed - i);
    memcpy(block->ranges, map->slice + at, block->count * sizeof *block->ranges);
    note_first(map->next + i);
    at += block->count;
  }
  remove_blocks(map->next + needed, blocks - needed);
  map->next += needed;
  if (map->next >= map->used) end_pass();
}

/* Packs the next BLOCKS_OF_SLICE blocks (moves their ranges into fewer blocks) if a pass is in progress or few
 * blocks are free. Repeats until BLOCKS_OF_CHANGE blocks are free, the most that a change adds. */
static void make_room(void) {
  bool none_left = map->used + BLOCKS_OF_CHANGE > BLOCKS;
  if (map->passes == 0 && (map->used > map->enough || none_left)) begin_passes();
  if (map->passes > 0) pack_slice();
  while (map->used + BLOCKS_OF_CHANGE > BLOCKS) {
    if (map->passes == 0) begin_passes();
    pack_slice();
  }
}

/* ---- Changes of the map -------------------------------------------------------------------------------- */

static uint32_t run_inside(struct place place, uintptr_t end, uint64_t latest) {
  const struct block *block = block_at(place.block);
  uint32_t last = place.range;
  while (last < block->count && block->ranges[last].end <= end && block->ranges[last].number <= latest) last++;
  return last - place.range;
}

/* Removes ranges from a place on, until one ends above `end` or has an insertion number above `latest`. Returns the
 * place after the removed ranges. */
static struct place remove_inside(struct place place, uintptr_t end, uint64_t latest, struct references *references) {
  uint32_t whole = 0, run;
  for (;; whole++) {
    struct place now = {place.block + whole, place.range};
    if (is_end(now)) break;
    run = run_inside(now, end, latest);
    for (uint32_t i = 0; i < run; i++) release(references, block_at(now.block)->ranges[now.range + i].site);
    if (place.range == 0 && run == block_at(now.block)->count) {
      map->ranges -= run;
      continue;
    }
    if (run > 0) now = remove_run(now, run);
    if (whole > 0) remove_blocks(place.block, whole);
    now.block -= whole;
    return now;
  }
  if (whole > 0) remove_blocks(place.block, whole);
  return (struct place){place.block, 0};
}

static void cut_out(uintptr_t begin, uintptr_t end, uint64_t latest) {
  struct references references = {0};
  struct place place = place_of(begin);
  while (!is_end(place) && range_at(place)->begin < end) {
    struct range *range = range_at(place);
    if (range->number > latest) {
      place = following(place);
    } else if (range->begin < begin && range->end > end) {
      struct range upper = *range;
      upper.begin = end;
      range->end = begin;
      sites->refer(upper.site, 1);
      insert_at((struct place){place.block, place.range + 1}, upper);
      break;
    } else if (range->begin < begin) {
      range->end = begin;
      place = following(place);
    } else if (range->end > end) {
      range->begin = end;
      note_first(place.block);
      break;
    } else {
      place = remove_inside(place, end, latest, &references);
    }
  }
  give_back(&references);
}

static bool has_previous(struct place place) { return place.range > 0 || place.block > 0; }

static struct place previous(struct place place) {
  if (place.range > 0) return (struct place){place.block, place.range - 1};
  return (struct place){place.block - 1, block_at(place.block - 1)->count - 1};
}

/*
 * Joins a new range with adjacent older ranges of its call site. Returns false if nothing was joined.
 *
 * The joined range gets the new range's insertion number. A thread that unmaps memory removes only ranges whose number
 * is at most the `latest_number` that it read before. An older range that such a thread is unmapping must not be
 * joined: its number would become too high, and the range would stay in the map. So nothing is joined while another
 * thread unmaps memory. A thread that begins to unmap after the test of `unmapping` can remove the joined range,
 * because the caller has already stored the new number in `latest_number`.
 */
static bool join(struct place behind, struct range range) {
  if (__atomic_load_n(&unmapping, __ATOMIC_SEQ_CST) > 0) return false;
  struct range *before = has_previous(behind) ? range_at(previous(behind)) : NULL;
  struct range *after = is_end(behind) ? NULL : range_at(behind);
  if (before && (before->end != range.begin || before->site != range.site)) before = NULL;
  if (after && (after->begin != range.end || after->site != range.site)) after = NULL;
  if (!before && !after) return false;
  sites->refer(range.site, -1);
  if (before) {
    before->end = after ? after->end : range.end;
    before->number = range.number;
    if (!after) return true;
    sites->refer(range.site, -1);
    remove_run(behind, 1);
  } else {
    after->begin = range.begin;
    after->number = range.number;
    note_first(behind.block);
  }
  return true;
}

uint32_t ranges_generation(void) { return __atomic_load_n(&generation, __ATOMIC_SEQ_CST); }

uint64_t ranges_before_unmapping(void) {
  __atomic_fetch_add(&unmapping, 1, __ATOMIC_SEQ_CST);
  return __atomic_load_n(&latest_number, __ATOMIC_SEQ_CST);
}

void ranges_after_unmapping(void) { __atomic_fetch_sub(&unmapping, 1, __ATOMIC_SEQ_CST); }

/* The caller must hold the lock. */
static void insert(uintptr_t begin_address, uintptr_t end_address, uint32_t site) {
  struct range range = {begin_address, end_address, latest_number + 1, site,
                        (uint32_t)(coarse_monotonic_ns() >> BIRTH_SHIFT)};
  __atomic_store_n(&latest_number, range.number, __ATOMIC_SEQ_CST);
  struct place behind = place_of(begin_address);
  if (!join(behind, range)) insert_at(behind, range);
}

void ranges_insert(uintptr_t begin_address, uintptr_t end_address, uint32_t site, uint32_t of_generation) {
  uint64_t signals;
  bool inserted = false;
  if (begin_address < end_address && begin_change(&signals)) {
    inserted = map->generation == of_generation;
    if (inserted) {
      make_room();
      cut_out(begin_address, end_address, UINT64_MAX);
      insert(begin_address, end_address, site);
    }
    end(signals);
  }
  if (!inserted && sites) sites->refer(site, -1);
}

void ranges_fill(uintptr_t begin_address, uintptr_t end_address, uint32_t site) {
  uint64_t signals;
  if (begin_address >= end_address || !begin_change(&signals)) return;
  make_room();
  struct place place = place_of(begin_address);
  if (is_end(place) || range_at(place)->begin >= end_address) insert(begin_address, end_address, site);
  end(signals);
}

void ranges_remove(uintptr_t begin_address, uintptr_t end_address, uint64_t latest) {
  uint64_t signals;
  if (begin_address >= end_address || !begin_change(&signals)) return;
  make_room();
  cut_out(begin_address, end_address, latest);
  end(signals);
}

static bool find(uintptr_t begin_address, uintptr_t end_address, bool whole, uint32_t *site) {
  struct place place = place_of(begin_address);
  if (is_end(place) || range_at(place)->begin > begin_address) return false;
  *site = range_at(place)->site;
  for (uintptr_t known = begin_address; whole && known < end_address; place = following(place)) {
    if (is_end(place) || range_at(place)->begin > known || range_at(place)->site != *site) return false;
    known = range_at(place)->end;
  }
  sites->refer(*site, 1);
  return true;
}

bool ranges_find(uintptr_t begin_address, uintptr_t end_address, bool whole, uint32_t *site) {
  uint64_t signals;
  if (!begin(&signals)) return false;
  bool found = find(begin_address, end_address, whole, site);
  end(signals);
  return found;
}

/* Empties the map at once if the calling thread gets its lock. Otherwise the next thread that gets the lock empties
 * it. */
void ranges_forget(void) {
  uint64_t signals;
  __atomic_fetch_add(&generation, 1, __ATOMIC_SEQ_CST);
  if (begin(&signals)) end(signals);
}

/* ---- Reading the map ----------------------------------------------------------------------------------- */

static struct mallometer_range row_of(const struct range *range) {
  struct mallometer_range row = {range->begin, range->end - range->begin, (uint64_t)range->born << BIRTH_SHIFT,
                                 range->site, MALLOMETER_RANGE_OF_PROGRAM};
  if (range->site == RANGE_OF_ALLOCATOR) {
    row.site = RANGE_WITHOUT_SITE;
    row.owner = MALLOMETER_RANGE_OF_ALLOCATOR;
  }
  return row;
}

/*
 * Writes `rows` after the lock is released, because a page fault under the lock would make other threads wait longer.
 */
static int copy_slice(struct mallometer_range *rows, uint32_t capacity, uint64_t *from) {
  struct range slice[ROWS_AT_ONCE];
  uint32_t count = 0, copied = 0;
  uint64_t signals;
  if (capacity > ROWS_AT_ONCE) capacity = ROWS_AT_ONCE;
  if (!begin(&signals)) return -EAGAIN;
  for (struct place place = place_of(*from); count < capacity && !is_end(place); place = following(place)) {
    slice[count++] = *range_at(place);
  }
  end(signals);
  for (uint32_t i = 0; i < count; i++) {
    *from = slice[i].end;
    if (slice[i].site != RANGE_FROM_BEFORE) rows[copied++] = row_of(&slice[i]);
  }
  if (count < capacity) *from = UINTPTR_MAX;
  return (int)copied;
}

int ranges_copy(struct mallometer_range *rows, uint32_t capacity, uint64_t from) {
  uint32_t copied = 0;
  while (copied < capacity && from < UINTPTR_MAX) {
    int slice = copy_slice(rows + copied, capacity - copied, &from);
    if (slice < 0) return copied > 0 ? (int)copied : slice;
    copied += (uint32_t)slice;
  }
  return (int)copied;
}

struct ranges_totals ranges_totals(void) {
  return (struct ranges_totals){known_map() ? __atomic_load_n(&map->ranges, __ATOMIC_RELAXED) : 0,
                                __atomic_load_n(&forgotten, __ATOMIC_RELAXED),
                                __atomic_load_n(&missed, __ATOMIC_RELAXED)};
}
