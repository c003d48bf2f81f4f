/* See call_sites.h. */
#include "sample/call_sites.h"

#include <string.h>

#include "account/thread_block.h"
#include "platform/arch.h"
#include "platform/clock.h"
#include "platform/memory.h"
#include "sample/native_stack.h"
#include "sample/placement.h"
#include "sample/slots.h"
#include "sample/stack_tree.h"
#include "sample/work.h"

enum {
  SITES = MOST_SITES,
  SITE_SLOTS = 32768,
  MOST_NATIVE_FRAMES = 128,
  FRAMES_WHEN_CROWDED = 8,
  FRAMES_WHEN_FULL = 6,
  BYTES_WHEN_CROWDED = 4096,
  BYTES_WHEN_FULL = 65536,
  LIVE = 65536,
  PROBES = 64,
};

struct sums {
  double objects;
  double bytes;
  double objects_variance;
  double bytes_variance;
  uint64_t samples;
};

struct site {
  uint64_t hash;  /* of the stack; 0: being written */
  uint32_t stack; /* its innermost node */
  uint32_t frames;
  struct sums allocated;
  struct sums freed;
};

struct live {
  uintptr_t address; /* or one of the marks below */
  size_t bytes;
  double probability;
  uint32_t site;
  uint32_t born; /* in units of BIRTH_UNIT */
};

/* 16.8 ms: 32 bits last for two years. */
#define BIRTH_UNIT ((uint64_t)1 << 24)

/* Marks in place of an address. */
enum { EMPTY = 0, BEING_WRITTEN = 1, GONE = 2 };

static struct memory {
  struct site sites[SITES];
  uint32_t slots[SITE_SLOTS]; /* 1 + number of a site; 0: free */
  struct stack_tree stacks;
  struct modules modules;
  struct live live[LIVE];
  struct home {
    uint8_t objects; /* live samples that belong to this place; 255 stays */
    uint8_t reach;   /* how many places behind it one of them was ever put */
  } homes[LIVE];
} * memory;

uint8_t live_filter[65536];

static bool open_for_samples;
static uint32_t sites_taken;
static uint32_t live_samples;
static uint64_t without_site;
static uint64_t without_place;
static uint64_t truncated;
static uint64_t without_java;
static uint64_t without_stack;
static const struct java_stacks *java;

const char *call_sites_start(void) {
  const char *shortage = memory_shortage(sizeof *memory);
  if (shortage) return shortage;
  struct memory *none = NULL, *fresh = memory_reserve(sizeof *fresh);
  if (!fresh) return "there is no memory";
  if (!__atomic_compare_exchange_n(&memory, &none, fresh, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) {
    memory_give_back(fresh, sizeof *fresh); /* another thread was first */
  }
  return NULL;
}

bool call_sites_on(void) { return __atomic_load_n(&memory, __ATOMIC_ACQUIRE) != NULL; }

void call_sites_open(void) { __atomic_store_n(&open_for_samples, true, __ATOMIC_RELEASE); }

void call_sites_use_java(const struct java_stacks *stacks) { __atomic_store_n(&java, stacks, __ATOMIC_SEQ_CST); }

static bool somebody_walks_java(void) {
  for (uint32_t i = 0; i < thread_block_count(); i++) {
    const struct thread_block *block = thread_block_at(i);
    if (block && __atomic_load_n(&block->walks_java, __ATOMIC_SEQ_CST)) return true;
  }
  return false;
}

void call_sites_leave_java(void) {
  const struct timespec a_moment = {0, 100000};
  call_sites_use_java(NULL);
  for (unsigned moments = 0; moments < 1000 && somebody_walks_java(); moments++) nanosleep(&a_moment, NULL);
}

const struct modules *call_sites_modules(void) { return call_sites_on() ? &memory->modules : NULL; }

size_t call_sites_footprint(void) { return call_sites_on() ? memory_whole_pages(sizeof *memory) : 0; }

/* ---- Sums --------------------------------------------------------------------------------------------- */

static void add(double *sum, double amount) {
  if (amount == 0) return;
  uint64_t before = __atomic_load_n((uint64_t *)sum, __ATOMIC_RELAXED), after;
  double value;
  do {
    memcpy(&value, &before, sizeof value);
    value += amount;
    memcpy(&after, &value, sizeof after);
  } while (!__atomic_compare_exchange_n((uint64_t *)sum, &before, after, true, __ATOMIC_RELEASE, __ATOMIC_RELAXED));
}

static void add_sample(struct sums *sums, size_t bytes, double probability) {
  double weight = 1 / probability, size = (double)bytes;
  add(&sums->objects, weight);
  add(&sums->bytes, weight * size);
  add(&sums->objects_variance, weight * (weight - 1));
  add(&sums->bytes_variance, weight * (weight - 1) * size * size);
  __atomic_fetch_add(&sums->samples, 1, __ATOMIC_RELEASE);
}

/* ---- Sites -------------------------------------------------------------------------------------------- */

static uint64_t hash_of(const uint64_t *frames, uint32_t count) {
  uint64_t hash = count;
  for (uint32_t i = 0; i < count; i++) {
    hash = (hash ^ frames[i]) * 0x9e3779b97f4a7c15u;
    hash ^= hash >> 32;
  }
  return hash ? hash : 1;
}

/* Of two stacks in 16,384 all 64 bits agree by chance once in 10^11 programs. */
static bool is_site(const struct site *site, uint64_t hash, uint32_t count) {
  return __atomic_load_n(&site->hash, __ATOMIC_ACQUIRE) == hash && site->frames == count;
}

static uint32_t reserve_site(void) {
  uint32_t number = __atomic_load_n(&sites_taken, __ATOMIC_RELAXED);
  do {
    if (number == SITES) return NO_SITE;
  } while (!__atomic_compare_exchange_n(&sites_taken, &number, number + 1, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED));
  return number;
}

static uint32_t new_site(uint64_t hash, const uint64_t *frames, uint32_t count, uint32_t *work) {
  uint32_t stack;
  if (__atomic_load_n(&sites_taken, __ATOMIC_RELAXED) == SITES) return NO_SITE;
  if (!stack_tree_add(&memory->stacks, frames, count, &stack, work)) return NO_SITE;
  uint32_t number = reserve_site();
  if (number == NO_SITE) return NO_SITE;
  for (uint32_t i = 0; i < count && !is_java_frame(frames[i]); i++) module_note(&memory->modules, frames[i] - 1);
  struct site *site = &memory->sites[number];
  site->stack = stack;
  site->frames = count;
  __atomic_store_n(&site->hash, hash, __ATOMIC_RELEASE);
  return number;
}

/* Returns a record that no slot leads to, as one without frames, to be taken for none. */
static uint32_t instead_of(uint32_t fresh, uint32_t found) {
  if (fresh != NO_SITE) __atomic_store_n(&memory->sites[fresh].frames, 0, __ATOMIC_RELEASE);
  return found;
}

/* Two threads that meet the same new stack at once make two records of it, of which one stays without frames. */
static uint32_t site_of(const uint64_t *frames, uint32_t count, bool may_be_new, uint32_t *work) {
  uint64_t hash = hash_of(frames, count);
  uint32_t fresh = NO_SITE;
  for (uint64_t i = 0; i < PROBES; i++) {
    uint32_t *slot = &memory->slots[(hash + i) % SITE_SLOTS];
    uint32_t found = __atomic_load_n(slot, __ATOMIC_ACQUIRE);
    if (found == 0) {
      if (fresh == NO_SITE && may_be_new) fresh = new_site(hash, frames, count, work);
      if (fresh == NO_SITE) return NO_SITE;
      if (__atomic_compare_exchange_n(slot, &found, fresh + 1, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) return fresh;
    }
    if (is_site(&memory->sites[found - 1], hash, count)) return instead_of(fresh, found - 1);
  }
  return instead_of(fresh, NO_SITE);
}

/* ---- Live samples ------------------------------------------------------------------------------------- */

static size_t place_of(uintptr_t address, size_t probe) { return ((address >> 4) * 0x9e3779b97f4a7c15u >> 48) + probe; }

static struct home *home_of(uintptr_t address) { return &memory->homes[place_of(address, 0)]; }

static void change_count(uint8_t *count, int change) {
  uint8_t before = __atomic_load_n(count, __ATOMIC_RELAXED);
  do {
    if (before == UINT8_MAX) return;
  } while (!__atomic_compare_exchange_n(count, &before, (uint8_t)(before + change), true, __ATOMIC_RELEASE,
                                        __ATOMIC_RELAXED));
}

/* By two hashes that have nothing in common: of frees that the filter lets through, the second stops nearly all. */
static void count_live(uintptr_t address, int change) {
  change_count(&live_filter[(uint16_t)(address >> 4)], change);
  change_count(&home_of(address)->objects, change);
}

/* Places that were used once are never EMPTY again, so that only this keeps a look for an object from all PROBES. */
static void extend_reach(uintptr_t address, size_t probe) {
  uint8_t *reach = &home_of(address)->reach, before = __atomic_load_n(reach, __ATOMIC_RELAXED);
  while (before < probe &&
         !__atomic_compare_exchange_n(reach, &before, (uint8_t)probe, true, __ATOMIC_RELEASE, __ATOMIC_RELAXED)) {
  }
}

/* False if there is no room. */
static bool put(uintptr_t address, struct live_sample sample) {
  for (size_t probe = 0; probe < PROBES; probe++) {
    struct live *entry = &memory->live[place_of(address, probe) % LIVE];
    uintptr_t mark = __atomic_load_n(&entry->address, __ATOMIC_RELAXED);
    if (mark != EMPTY && mark != GONE) continue;
    if (!__atomic_compare_exchange_n(&entry->address, &mark, BEING_WRITTEN, false, __ATOMIC_ACQUIRE,
                                     __ATOMIC_RELAXED)) {
      continue;
    }
    entry->bytes = sample.bytes;
    entry->probability = sample.probability;
    entry->site = sample.site;
    entry->born = sample.born;
    extend_reach(address, probe);
    __atomic_store_n(&entry->address, address, __ATOMIC_RELEASE);
    count_live(address, 1);
    __atomic_fetch_add(&live_samples, 1, __ATOMIC_RELAXED);
    return true;
  }
  return false;
}

static struct live *find_live(uintptr_t address) {
  if (!call_sites_on()) return NULL;
  /* Whoever frees the object comes after who put it. */
  const struct home *home = home_of(address);
  if (!__atomic_load_n(&home->objects, __ATOMIC_RELAXED)) return NULL;
  size_t reach = __atomic_load_n(&home->reach, __ATOMIC_RELAXED);
  for (size_t probe = 0; probe <= reach; probe++) {
    struct live *entry = &memory->live[place_of(address, probe) % LIVE];
    uintptr_t found = __atomic_load_n(&entry->address, __ATOMIC_ACQUIRE);
    if (found == address) return entry;
    if (found == EMPTY) break;
  }
  return NULL;
}

bool is_live_sample(const void *object) { return find_live((uintptr_t)object) != NULL; }

struct live_sample live_sample_remove(const void *object) {
  struct live *entry = find_live((uintptr_t)object);
  if (!entry) return NO_LIVE_SAMPLE;
  struct live_sample sample = {entry->site, entry->born, entry->probability, entry->bytes};
  __atomic_store_n(&entry->address, (uintptr_t)GONE, __ATOMIC_RELEASE);
  count_live((uintptr_t)object, -1);
  __atomic_fetch_sub(&live_samples, 1, __ATOMIC_RELAXED);
  return sample;
}

void live_sample_put_back(const void *object, struct live_sample sample) {
  if (sample.site == NO_SITE || put((uintptr_t)object, sample)) return;
  __atomic_fetch_add(&without_place, 1, __ATOMIC_RELAXED);
  live_sample_freed(sample);
}

__attribute__((noinline)) static void add_freed(const struct live_sample *sample) {
  add_sample(&memory->sites[sample->site].freed, sample->bytes, sample->probability);
}

void live_sample_freed(struct live_sample sample) {
  if (sample.site == NO_SITE) return;
  floating_point of_program = floating_point_enter();
  add_freed(&sample);
  floating_point_leave(of_program);
}

static uint32_t time_of_birth(void) { return (uint32_t)(coarse_monotonic_ns() / BIRTH_UNIT); }

/* ---- Samples ------------------------------------------------------------------------------------------ */

/* In quarters, of sites or of the nodes of their stacks. */
static uint32_t room_taken(void) {
  uint32_t of_sites = __atomic_load_n(&sites_taken, __ATOMIC_RELAXED) / (SITES / 4);
  uint32_t of_nodes = __atomic_load_n(&memory->stacks.taken, __ATOMIC_RELAXED) / (STACK_NODES / 4);
  return of_sites > of_nodes ? of_sites : of_nodes;
}

/*
 * Compilers meet ever new stacks in their recursions. From when half of the room is taken, stacks without Java frames
 * are kept with their innermost frames only, and with fewer in the last quarter, so that the rest is for the program's.
 */
static uint32_t kept_frames(const uint64_t *frames, uint32_t count) {
  uint32_t taken = room_taken(), most = taken < 2 ? count : taken < 3 ? FRAMES_WHEN_CROWDED : FRAMES_WHEN_FULL;
  return count <= most || is_java_frame(frames[count - 1]) ? count : most;
}

/*
 * A JVM's start samples thousands of stacks once, for a few bytes each. They shall not take the place of what comes
 * later and is more, so in the second half of the room a new site's first sample must stand for so many bytes. Where
 * every allocation is sampled each counts.
 */
static bool deserves_site(const struct sample *sample) {
  uint32_t taken = room_taken();
  if (taken < 2 || sample->probability >= 1) return true;
  return (double)sample->bytes / sample->probability >= (taken < 3 ? BYTES_WHEN_CROWDED : BYTES_WHEN_FULL);
}

/*
 * What was sampled at this address before and is not any more was freed past us (by __libc_free, for example), nobody
 * knows when.
 */
static void forget_object_before(const void *object) {
  struct live_sample before = live_sample_remove(object);
  if (before.site == NO_SITE) return;
  __atomic_fetch_add(&without_place, 1, __ATOMIC_RELAXED);
  live_sample_freed(before);
}

/*
 * Adds it to a site, and to the live ones. One that cannot be followed counts as allocated and freed: it is missing
 * among them, and counted here.
 */
__attribute__((noinline)) static void *add_to_site(struct sample *sample, uint32_t site) {
  forget_object_before(sample->object);
  sample->work += WORK_SAMPLE;
  if (site == NO_SITE) {
    __atomic_fetch_add(&without_site, 1, __ATOMIC_RELAXED);
    return sample->object;
  }
  add_sample(&memory->sites[site].allocated, sample->bytes, sample->probability);
  struct live_sample live = {site, time_of_birth(), sample->probability, sample->bytes};
  void *moved = sample->move.alignment ? placement_move(sample, &live) : NULL;
  if (moved) {
    sample->work += WORK_SLOT;
    return moved; /* its slot knows what the table would */
  }
  live_sample_put_back(sample->object, live);
  return sample->object;
}

/* `cut` says that there were more frames than these. */
static void *add_with_stack(struct sample *sample, const uint64_t *frames, uint32_t count, bool cut) {
  uint32_t kept = kept_frames(frames, count), site = site_of(frames, kept, deserves_site(sample), &sample->work);
  if (site != NO_SITE && (cut || kept < count)) __atomic_fetch_add(&truncated, 1, __ATOMIC_RELAXED);
  return add_to_site(sample, site);
}

/* One frame more than is kept is asked for: whether it is there says whether any are lost. */
static uint32_t keep_at_most(uint32_t most, uint32_t found, bool *cut) {
  *cut |= found > most;
  return found > most ? most : found;
}

static uint32_t native_frames(struct sample *sample, uint64_t *frames, struct registers *caller, bool *cut) {
  uint32_t found = native_stack(sample->origin, frames, MOST_NATIVE_FRAMES + 1, caller, &sample->work);
  return keep_at_most(MOST_NATIVE_FRAMES, found, cut);
}

__attribute__((noinline)) static void *take_native(struct sample *sample) {
  uint64_t frames[MOST_NATIVE_FRAMES + 1];
  bool cut = false;
  uint32_t count = native_frames(sample, frames, NULL, &cut);
  return add_with_stack(sample, frames, count, cut);
}

/* Takes some 20 KiB of the stack with what it calls. */
__attribute__((noinline)) static void *take_with_java(struct sample *sample, const struct java_stacks *stacks,
                                                      void *thread) {
  uint64_t frames[MOST_NATIVE_FRAMES + MOST_JAVA_FRAMES + 1];
  struct registers caller;
  bool cut = false;
  uint32_t count = native_frames(sample, frames, &caller, &cut);
  int found = stacks->walk(thread, &caller, frames + count, MOST_JAVA_FRAMES + 1);
  sample->work += WORK_JAVA;
  if (found < 0) __atomic_fetch_add(&without_java, 1, __ATOMIC_RELAXED);
  if (found > 0) {
    sample->work += (uint32_t)found * WORK_JAVA_FRAME;
    count += keep_at_most(MOST_JAVA_FRAMES, (uint32_t)found, &cut);
  }
  return add_with_stack(sample, frames, count, cut);
}

/*
 * HotSpot's own guard pages are the last of a thread's stack, 16 KiB by default. Above them it keeps 80 KiB free for
 * native code that Java calls, of which walks take 20.
 */
#define GUARD_PAGES_OF_JVM ((size_t)32 << 10)
#define ROOM_FOR_JAVA_STACK (((size_t)24 << 10) + GUARD_PAGES_OF_JVM)

static bool is_beside_java(void) { return __atomic_load_n(&java, __ATOMIC_RELAXED) != NULL; }

bool call_sites_may_follow(struct origin origin) {
  return has_room(origin.stack, ROOM_FOR_NATIVE_STACK + (is_beside_java() ? GUARD_PAGES_OF_JVM : 0));
}

/* The object stays where it is: what moves it takes more of the stack. */
__attribute__((noinline)) static void *take_without_stack(struct sample *sample) {
  __atomic_fetch_add(&without_stack, 1, __ATOMIC_RELAXED);
  sample->move.alignment = 0;
  return add_to_site(sample, site_of(NULL, 0, deserves_site(sample), &sample->work));
}

static void *thread_to_walk(const struct java_stacks *stacks, const struct sample *sample) {
  void *thread = stacks ? stacks->thread() : NULL;
  if (!thread || has_room(sample->origin.stack, ROOM_FOR_JAVA_STACK)) return thread;
  __atomic_fetch_add(&without_java, 1, __ATOMIC_RELAXED);
  return NULL;
}

void *call_sites_take(struct sample *sample) {
  struct thread_block *block = sample->block;
  if (!__atomic_load_n(&open_for_samples, __ATOMIC_ACQUIRE)) return sample->object;
  if (!call_sites_may_follow(sample->origin)) return take_without_stack(sample);
  if (!is_beside_java() || !block || block->walks_java) return take_native(sample);
  /* What asks the JVM may allocate, or be interrupted by what does. The JVM's end waits for those whom it sees here, so
   * whether it has come is asked after. */
  __atomic_store_n(&block->walks_java, 1, __ATOMIC_SEQ_CST);
  const struct java_stacks *stacks = __atomic_load_n(&java, __ATOMIC_SEQ_CST);
  void *thread = thread_to_walk(stacks, sample);
  void *object = thread ? take_with_java(sample, stacks, thread) : take_native(sample);
  __atomic_store_n(&block->walks_java, 0, __ATOMIC_RELEASE);
  return object;
}

/* Whoever waits for the end of walks sees this one: see call_sites_take. */
static uint32_t add_java_frames(struct thread_block *block, const struct registers *caller, uint64_t *frames,
                                uint32_t capacity) {
  if (!__atomic_load_n(&java, __ATOMIC_RELAXED) || !block || block->walks_java) return 0;
  __atomic_store_n(&block->walks_java, 1, __ATOMIC_SEQ_CST);
  const struct java_stacks *stacks = __atomic_load_n(&java, __ATOMIC_SEQ_CST);
  void *thread = stacks ? stacks->thread() : NULL;
  int found = thread ? stacks->walk(thread, caller, frames, capacity) : 0;
  __atomic_store_n(&block->walks_java, 0, __ATOMIC_RELEASE);
  return found > 0 ? (uint32_t)found : 0;
}

uint32_t call_sites_stack_at(struct registers here, uint64_t *frames, uint32_t capacity) {
  if (!call_sites_on()) return 0;
  struct thread_block *block = own_block();
  struct registers caller;
  if (!is_thread_block(block)) block = NULL;
  uint32_t work = 0, count = native_stack_at(here, frames, capacity, &caller, &work);
  for (uint32_t i = 0; i < count && !is_java_frame(frames[i]); i++) module_note(&memory->modules, frames[i] - 1);
  return count + add_java_frames(block, &caller, frames + count, capacity - count);
}

/* What was measured is 1.7 KiB, with Java frames 16: AsyncGetCallTrace and room for its frames. */
size_t call_sites_stack_use(void) { return __atomic_load_n(&java, __ATOMIC_RELAXED) ? 24576 : 4096; }

/* ---- For readers -------------------------------------------------------------------------------------- */

static void copy_sums(struct mallometer_site_sums *to, const struct sums *from) {
  to->samples = __atomic_load_n(&from->samples, __ATOMIC_ACQUIRE);
  __atomic_load(&from->objects, &to->objects, __ATOMIC_ACQUIRE);
  __atomic_load(&from->bytes, &to->bytes, __ATOMIC_ACQUIRE);
  __atomic_load(&from->objects_variance, &to->objects_variance, __ATOMIC_ACQUIRE);
  __atomic_load(&from->bytes_variance, &to->bytes_variance, __ATOMIC_ACQUIRE);
}

static uint32_t site_count(void) { return call_sites_on() ? __atomic_load_n(&sites_taken, __ATOMIC_ACQUIRE) : 0; }

/* Freed first, so that no site shows more freed than allocated. */
uint32_t call_sites_copy(const struct rows *sites, uint32_t first) {
  uint32_t count = site_count(), copied = 0;
  for (uint32_t i = first; i < count && copied < sites->capacity; i++, copied++) {
    const struct site *site = &memory->sites[i];
    struct mallometer_site row = {.number = i};
    if (__atomic_load_n(&site->hash, __ATOMIC_ACQUIRE)) { /* else it is being written */
      row.frames = __atomic_load_n(&site->frames, __ATOMIC_RELAXED);
      copy_sums(&row.freed, &site->freed);
      copy_sums(&row.allocated, &site->allocated);
    }
    rows_write(sites, copied, &row, sizeof row);
  }
  return copied;
}

int call_site_stack(uint32_t site, uint64_t *frames, uint32_t capacity) {
  if (site >= site_count()) return -1;
  const struct site *known = &memory->sites[site];
  if (!__atomic_load_n(&known->hash, __ATOMIC_ACQUIRE)) return 0;
  if (!__atomic_load_n(&known->frames, __ATOMIC_RELAXED)) return 0;
  return (int)stack_tree_copy(&memory->stacks, known->stack, frames, capacity);
}

static uint32_t slots_in_use(void) {
  struct slots_totals slots = slots_totals();
  uint32_t sum = 0;
  for (uint32_t class = 0; class < MALLOMETER_SLOT_CLASSES; class ++) sum += slots.in_use[class];
  return sum;
}

struct call_sites_totals call_sites_totals(void) {
  return (struct call_sites_totals){site_count(),
                                    __atomic_load_n(&live_samples, __ATOMIC_RELAXED) + slots_in_use(),
                                    __atomic_load_n(&without_site, __ATOMIC_RELAXED),
                                    __atomic_load_n(&without_place, __ATOMIC_RELAXED),
                                    __atomic_load_n(&truncated, __ATOMIC_RELAXED),
                                    __atomic_load_n(&without_java, __ATOMIC_RELAXED),
                                    __atomic_load_n(&without_stack, __ATOMIC_RELAXED)};
}

static struct mallometer_object of_live_sample(const struct live_sample *sample) {
  return (struct mallometer_object){.bytes = sample->bytes,
                                    .probability = sample->probability,
                                    .born_ns = sample->born * BIRTH_UNIT,
                                    .site = sample->site};
}

static uint32_t copy_slots(const struct rows *objects) {
  uint32_t copied = 0;
  for (uint32_t i = 0; slots_reserved() > 0 && i < SLOTS && copied < objects->capacity; i++) {
    struct slot_object slot;
    if (!slot_look(i, &slot)) continue;
    struct mallometer_object row = of_live_sample(&slot.sample);
    row.placement = slot.unseen ? 0 : slot.placement;
    row.last_access_ns = slot.unseen ? 0 : slot.last_access << SLOT_TIME_SHIFT;
    rows_write(objects, copied++, &row, sizeof row);
  }
  return copied;
}

/* An entry that is the same object's before and after its copy was whole. Those in slots first: they tell most. */
uint32_t live_samples_copy(const struct rows *objects) {
  uint32_t copied = copy_slots(objects);
  for (size_t i = 0; call_sites_on() && i < LIVE && copied < objects->capacity; i++) {
    const struct live *entry = &memory->live[i];
    uintptr_t address = __atomic_load_n(&entry->address, __ATOMIC_ACQUIRE);
    if (address == EMPTY || address == BEING_WRITTEN || address == GONE) continue;
    struct mallometer_object row =
        of_live_sample(&(struct live_sample){entry->site, entry->born, entry->probability, entry->bytes});
    __atomic_thread_fence(__ATOMIC_ACQUIRE);
    if (__atomic_load_n(&entry->address, __ATOMIC_RELAXED) == address) rows_write(objects, copied++, &row, sizeof row);
  }
  return copied;
}
