/* The records of call sites, found by hashes of their stacks. See call_sites.h. */
#include "sample/call_sites.h"

#include <string.h>

#include "account/thread_block.h"
#include "platform/arch.h"
#include "platform/memory.h"
#include "platform/memory_probes.h"
#include "platform/shared_words.h"
#include "sample/collections.h"
#include "sample/java_gate.h"
#include "sample/latest_samples.h"
#include "sample/live_samples.h"
#include "sample/native_stack.h"
#include "sample/stack_tree.h"
#include "sample/work.h"

enum {
  SITES = MOST_SITES,
  SITE_SLOTS = 32768,
  MOST_NATIVE_FRAMES = 128,
  FRAMES_OF_JVM = 5,
  FRAMES_WHEN_CROWDED = 8,
  /* New stacks are shortened to this many frames when three quarters of the room for sites are taken. Seven frames
   * still show which library makes a JNI global reference, because HotSpot allocates the reference through six
   * frames of its own. */
  FRAMES_WHEN_FULL = 7,
  BYTES_WHEN_CROWDED = 4096,
  BYTES_WHEN_FULL = 65536,
  BYTES_OF_MAPPING_WHEN_CROWDED = 1 << 20,
  PROBES = 64,
  /* The number of attempts to take a free slot, which another thread may take first. */
  ATTEMPTS = 4,
  FORGOTTEN_AT_ONCE = SITES / 4,
  /* A site without a sample for 10 s may be forgotten: 596 units of live_sample_birth(), 16.8 ms each. */
  YOUNGEST_FORGOTTEN = 596,
  /* Searches for stale sites are at least 1 s apart: 60 units of live_sample_birth(), 16.8 ms each. */
  BETWEEN_LOOKS = 60,
};

/* The value of site.latest in a new site, because the code that makes a site may have too little stack to read the
 * clock. A sample, or the next search for stale sites, stores the time. */
#define NO_SAMPLE_YET UINT32_MAX

/* The value in the hash table `slots` for a site that was forgotten. */
#define FORGOTTEN UINT16_MAX
_Static_assert(SITES < FORGOTTEN, "1 + the place of a site is below FORGOTTEN");

struct sums {
  double objects;
  double bytes;
  double objects_variance;
  double bytes_variance;
  uint64_t samples;
};

struct site {
  uint64_t hash;  /* The hash of the stack; 0 if this struct is being written or has no site. */
  uint32_t stack; /* The innermost node of the stack; in a record without a site, the link of the list sites_free. */
  uint16_t frames;
  uint16_t leaving; /* Set while the site is being forgotten: new samples do not find it. */
  uint32_t number;  /* The index of this record, plus SITES for each time that the record was reused. */
  uint32_t latest;  /* The live_sample_birth() of the latest sample. */
  int32_t mapped;   /* The number of ranges of mapped memory that refer to the site. */
  struct sums allocated;
  struct sums freed;
};

/*
 * A site has separate sums of freed samples for each of the latest FREED_AFTER collections of the old generation. A
 * freed sample belongs to the latest collection before its free. The sums of a collection are at the collection's
 * number modulo FREED_AFTER.
 */
enum { FREED_AFTER = 4 };
#define BEING_RESET UINT64_MAX

/*
 * Counts of freed samples of one site. `samples` counts those that cleaner threads (collections.h) freed.
 * `after_first_young` counts the part of `samples` that had survived one young collection and no old one. `old` counts
 * samples that any thread freed, for each of the latest collections of the old generation. The counts are not in struct
 * site, because cleaners free samples of few sites only.
 */
struct cleaned {
  uint32_t samples;
  uint32_t after_first_young;
  struct mallometer_outlived old[FREED_AFTER];
};

static struct memory {
  struct site sites[SITES];
  struct cleaned cleaned[SITES];
  uint16_t slots[SITE_SLOTS]; /* 1 + the index of a site's record; 0: never used. */
  struct stack_tree stacks;
  struct modules modules;
} * memory;

static bool open_for_samples;
static uint32_t sites_taken;  /* The number of records that were ever used. */
static uint32_t sites_unused; /* The number of records in sites_free. */
static free_list sites_free;
static uint64_t without_site;
static uint64_t without_place;
static uint64_t truncated;
static uint64_t without_java;
static uint64_t without_stack;
static sample_mover *move_elsewhere;

const char *call_sites_start(void) {
  size_t own = memory_whole_pages(sizeof *memory), bytes = own + live_samples_bytes();
  const char *shortage = memory_shortage(bytes);
  if (shortage || call_sites_on()) return shortage;
  char *fresh = memory_reserve(bytes);
  if (!fresh) return "no memory for the tables of call sites";
  char *used = (char *)live_samples_use(fresh + own) - own;
  if (used != fresh) memory_give_back(fresh, bytes); /* Another thread has stored its memory first. */
  __atomic_store_n(&memory, (struct memory *)(void *)used, __ATOMIC_RELEASE);
  return NULL;
}

bool call_sites_on(void) { return __atomic_load_n(&memory, __ATOMIC_ACQUIRE) != NULL; }

void call_sites_set_mover(sample_mover *mover) { __atomic_store_n(&move_elsewhere, mover, __ATOMIC_RELEASE); }

void call_sites_open(void) { __atomic_store_n(&open_for_samples, true, __ATOMIC_RELEASE); }

const struct modules *call_sites_modules(void) { return call_sites_on() ? &memory->modules : NULL; }

size_t call_sites_footprint(void) {
  return call_sites_on() ? memory_whole_pages(sizeof *memory) + live_samples_bytes() : 0;
}

/* ---- Sums --------------------------------------------------------------------------------------------- */

static void add_to(double *sum, double amount) {
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
  add_to(&sums->objects, weight);
  add_to(&sums->bytes, weight * size);
  add_to(&sums->objects_variance, weight * (weight - 1));
  add_to(&sums->bytes_variance, weight * (weight - 1) * size * size);
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

/* Returns the slot for a hash and a probe. The highest bits of a product depend on all bits of the hash, so hashes
 * spread over all slots. */
static uint16_t *slot_of(uint64_t hash, uint64_t probe) {
  return &memory->slots[((hash * 0xbf58476d1ce4e5b9u >> 49) + probe) % SITE_SLOTS];
}

static struct site *site_at(uint32_t number) { return &memory->sites[number % SITES]; }

static uint32_t sites_in_use(void) {
  return __atomic_load_n(&sites_taken, __ATOMIC_ACQUIRE) - __atomic_load_n(&sites_unused, __ATOMIC_RELAXED);
}

/* Compares hashes instead of frames: two of 16,384 stacks have the same hash in only one of 10^11 programs. */
static bool is_site(const struct site *site, uint64_t hash, uint32_t count) {
  return __atomic_load_n(&site->hash, __ATOMIC_ACQUIRE) == hash && site->frames == count &&
         !__atomic_load_n(&site->leaving, __ATOMIC_SEQ_CST);
}

static uint32_t *next_free(uint32_t place) { return &memory->sites[place].stack; }

static struct site *forgotten_site(void) {
  uint32_t place = free_list_pop(&sites_free, next_free);
  if (place == UINT32_MAX) return NULL;
  __atomic_fetch_sub(&sites_unused, 1, __ATOMIC_RELAXED);
  return &memory->sites[place];
}

static void make_free(struct site *site) {
  __atomic_fetch_add(&sites_unused, 1, __ATOMIC_RELAXED);
  free_list_push(&sites_free, (uint32_t)(site - memory->sites), &site->stack);
}

static struct site *reserve_site(void) {
  uint32_t place = reserve_numbers(&sites_taken, 1, SITES);
  if (place == SITES) return forgotten_site();
  memory->sites[place].number = place;
  return &memory->sites[place];
}

static struct site *new_site(uint64_t hash, const uint64_t *frames, uint32_t count, uint32_t *work) {
  uint32_t stack;
  struct site *site = reserve_site();
  if (!site) return NULL;
  if (!stack_tree_add(&memory->stacks, frames, count, &stack, work)) {
    make_free(site);
    return NULL;
  }
  for (uint32_t i = 0; i < count; i++) {
    if (!is_java_frame(frames[i])) module_note(&memory->modules, frames[i] - 1);
  }
  __atomic_store_n(&site->stack, stack, __ATOMIC_RELAXED);
  site->frames = (uint16_t)count;
  __atomic_store_n(&site->latest, NO_SAMPLE_YET, __ATOMIC_RELAXED);
  __atomic_store_n(&site->hash, hash, __ATOMIC_RELEASE);
  return site;
}

/* Empties a site to which no slot of the hash table refers. Readers ignore it, because it has no frames; it is later
 * reclaimed like a site without samples. */
static void discard(struct site *fresh) {
  if (fresh) __atomic_store_n(&fresh->frames, 0, __ATOMIC_RELEASE);
}

/* The first slot without a site in a hash's probe sequence, and the content of that slot. `slot` is NULL if all
 * slots of the sequence have sites. */
struct gap {
  uint16_t *slot;
  uint16_t content;
};

static struct site *find_site(uint64_t hash, uint32_t count, struct gap *gap) {
  gap->slot = NULL;
  for (uint64_t i = 0; i < PROBES; i++) {
    uint16_t *slot = slot_of(hash, i), found = __atomic_load_n(slot, __ATOMIC_ACQUIRE);
    bool empty = found == 0 || found == FORGOTTEN;
    if (empty && !gap->slot) *gap = (struct gap){slot, found};
    if (found == 0) return NULL;
    if (!empty && is_site(&memory->sites[found - 1], hash, count)) return &memory->sites[found - 1];
  }
  return NULL;
}

/* If two threads add a site for the same new stack, one site is discarded. */
static uint32_t site_of(const uint64_t *frames, uint32_t count, bool may_be_new, uint32_t *work) {
  uint64_t hash = hash_of(frames, count);
  struct site *fresh = NULL, *found = NULL;
  struct gap gap;
  for (unsigned attempt = 0; attempt < ATTEMPTS; attempt++) {
    found = find_site(hash, count, &gap);
    if (found || !gap.slot) break;
    if (!fresh && may_be_new) fresh = new_site(hash, frames, count, work);
    if (!fresh) return NO_SITE;
    uint16_t place = (uint16_t)(fresh - memory->sites + 1);
    if (__atomic_compare_exchange_n(gap.slot, &gap.content, place, false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED)) {
      return fresh->number;
    }
  }
  discard(fresh);
  return found ? found->number : NO_SITE;
}

/* ---- Forgetting sites --------------------------------------------------------------------------------- */

/*
 * A site must not be forgotten while a thread may add a sample to it. A thread therefore calls enter() before it takes
 * a sample, and leave() afterwards. The thread belongs to the turn (a number) in which it entered. One thread at a time
 * forgets sites, in three steps:
 *
 * 1. Mark sites as leaving, so that find_site() does not find them.
 * 2. Forget the marked sites without live samples and mappings, and release the stack nodes that only they used.
 * 3. Make these nodes free for reuse. Threads that found them before step 2 have left by then.
 *
 * Each step begins a new turn, and is taken only when all threads that entered in earlier turns have left. No thread
 * waits for them: a later call of call_sites_make_room() takes the step.
 */
static uint32_t turn;
static uint32_t inside[2]; /* The number of threads between enter() and leave(), indexed by `turn` % 2 at enter(). */
static bool forgetting;
static enum { IDLE, SITES_LEAVE, NODES_LEAVE } step;
static uint32_t latest_look; /* The time of the latest search for stale sites, in units of live_sample_birth(). */

static uint32_t enter(void) {
  for (;;) {
    uint32_t now = __atomic_load_n(&turn, __ATOMIC_SEQ_CST);
    __atomic_fetch_add(&inside[now % 2], 1, __ATOMIC_SEQ_CST);
    if (__atomic_load_n(&turn, __ATOMIC_SEQ_CST) == now) return now;
    __atomic_fetch_sub(&inside[now % 2], 1, __ATOMIC_SEQ_CST);
  }
}

static void leave(uint32_t entered) { __atomic_fetch_sub(&inside[entered % 2], 1, __ATOMIC_SEQ_CST); }

static bool earlier_sections_ended(void) {
  return __atomic_load_n(&inside[(__atomic_load_n(&turn, __ATOMIC_RELAXED) + 1) % 2], __ATOMIC_SEQ_CST) == 0;
}

/* Resets the counts of threads between enter() and leave(), because the parent's threads do not exist in the child.
 * If the parent was forgetting sites, the child never forgets any, because a site may be half forgotten. */
void call_sites_forked(void) { inside[0] = inside[1] = 0; }

/* Reads the freed samples before the allocated ones: each sample is first counted as allocated, so the difference is
 * never negative. */
static uint64_t live_samples(const struct site *site) {
  uint64_t freed = __atomic_load_n(&site->freed.samples, __ATOMIC_ACQUIRE);
  return __atomic_load_n(&site->allocated.samples, __ATOMIC_ACQUIRE) - freed;
}

uint32_t call_sites_live_samples(uint32_t site) { return (uint32_t)live_samples(site_at(site)); }

static bool is_referred_to(const struct site *site) {
  return live_samples(site) > 0 || __atomic_load_n(&site->mapped, __ATOMIC_SEQ_CST) > 0;
}

/* Returns 0 if the site must not be forgotten. Otherwise returns the binary logarithm of the time since the site's
 * latest sample. The unit of the time is 16.8 ms, as in live_sample_birth(). */
static unsigned staleness(const struct site *site, uint32_t now) {
  uint32_t latest = __atomic_load_n(&site->latest, __ATOMIC_RELAXED), idle = now - latest;
  bool last_number = site->number > INT32_MAX - SITES;
  /* A thread may add a sample after `now` was read. `idle` then wraps around to almost 2^32. The addition of
   * YOUNGEST_FORGOTTEN makes the value small again, so the site counts as young. */
  bool is_young = latest == NO_SAMPLE_YET || idle + YOUNGEST_FORGOTTEN < 2 * YOUNGEST_FORGOTTEN;
  if (!__atomic_load_n(&site->hash, __ATOMIC_ACQUIRE) || is_young || last_number) return 0;
  return is_referred_to(site) ? 0 : 31 - (unsigned)__builtin_clz(idle);
}

static void note_time(struct site *site, uint32_t now) {
  uint32_t none = NO_SAMPLE_YET;
  __atomic_compare_exchange_n(&site->latest, &none, now, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
}

/* Returns the highest level of staleness that at least FORGOTTEN_AT_ONCE sites reach; 1 if fewer sites are stale. */
static unsigned least_staleness(uint32_t now, uint32_t count) {
  uint32_t sites[32] = {0}, enough = 0;
  unsigned stale = 32;
  for (uint32_t i = 0; i < count; i++) {
    note_time(&memory->sites[i], now);
    sites[staleness(&memory->sites[i], now)]++;
  }
  while (stale > 1 && enough < FORGOTTEN_AT_ONCE) enough += sites[--stale];
  return stale;
}

/* Marks the stalest sites as leaving. Looks for them at most once a second, because that takes a millisecond. */
static bool mark_stalest_sites(void) {
  uint32_t now = live_sample_birth(), count = __atomic_load_n(&sites_taken, __ATOMIC_ACQUIRE), chosen = 0;
  if (now - latest_look < BETWEEN_LOOKS) return false;
  latest_look = now;
  unsigned least = least_staleness(now, count);
  for (unsigned stale = least + 1; stale >= least; stale--) {
    for (uint32_t i = 0; i < count && chosen < FORGOTTEN_AT_ONCE; i++) {
      struct site *site = &memory->sites[i];
      if (site->leaving || staleness(site, now) < stale) continue;
      __atomic_store_n(&site->leaving, true, __ATOMIC_SEQ_CST);
      chosen++;
    }
  }
  return chosen > 0;
}

static void forget(struct site *site) {
  uint64_t hash = site->hash;
  for (uint64_t i = 0; i < PROBES; i++) {
    uint16_t found = (uint16_t)(site - memory->sites + 1);
    if (__atomic_compare_exchange_n(slot_of(hash, i), &found, FORGOTTEN, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
      break;
    }
  }
  stack_tree_release(&memory->stacks, site->stack);
  __atomic_store_n(&site->hash, 0, __ATOMIC_RELAXED);
  __atomic_store_n(&site->number, site->number + SITES, __ATOMIC_RELAXED);
  __atomic_thread_fence(__ATOMIC_RELEASE);
  memset(&site->allocated, 0, sizeof site->allocated);
  memset(&site->freed, 0, sizeof site->freed);
  struct cleaned *cleaned = &memory->cleaned[site - memory->sites];
  if (cleaned->samples > 0) memset(cleaned, 0, sizeof *cleaned);
  __atomic_store_n(&site->leaving, false, __ATOMIC_RELAXED);
  make_free(site);
}

static void forget_marked_sites(void) {
  uint32_t count = __atomic_load_n(&sites_taken, __ATOMIC_ACQUIRE);
  for (uint32_t i = 0; i < count; i++) {
    struct site *site = &memory->sites[i];
    if (!site->leaving) continue;
    if (is_referred_to(site))
      __atomic_store_n(&site->leaving, false, __ATOMIC_SEQ_CST);
    else
      forget(site);
  }
}

static uint32_t room_taken(void);

/* Takes the next of the three steps that forget sites: mark sites, forget them, reuse their stack nodes. Returns
 * whether another step remains. Takes no step and returns false in two cases: there is nothing to do, or a thread is
 * still taking a sample that it began before the previous step. */
static bool take_step(void) {
  if (!earlier_sections_ended()) return false;
  if (step == IDLE && (room_taken() < 2 || !mark_stalest_sites())) return false;
  if (step == SITES_LEAVE) forget_marked_sites();
  if (step == NODES_LEAVE) stack_tree_reuse(&memory->stacks);
  step = (step + 1) % (NODES_LEAVE + 1);
  __atomic_fetch_add(&turn, 1, __ATOMIC_SEQ_CST);
  return step != IDLE;
}

void call_sites_make_room(void) {
  if (!call_sites_on() || __atomic_exchange_n(&forgetting, true, __ATOMIC_ACQUIRE)) return;
  while (take_step())
    ;
  __atomic_store_n(&forgetting, false, __ATOMIC_RELEASE);
}

/* ---- Adding and freeing live samples ------------------------------------------------------------------ */

/* Returns false if there is no room; the sample then counts as freed. */
static bool keep(const void *object, const struct live_sample *sample) {
  if (live_sample_insert(object, sample)) return true;
  __atomic_fetch_add(&without_place, 1, __ATOMIC_RELAXED);
  call_sites_count_free(*sample);
  return false;
}

/* Announces an object to profilers again after a failed realloc. Before the realloc, the object was announced as
 * freed, because another object might have its address afterwards. */
__attribute__((noinline)) static void announce_again(const void *object, const struct live_sample *sample) {
  probe_allocation(object, sample->bytes, (uint64_t)((double)sample->bytes / sample->probability + 0.5));
}

void call_sites_put_back(const void *object, struct live_sample sample) {
  if (sample.site == NO_SITE || !keep(object, &sample)) return;
  floating_point of_program = floating_point_enter();
  announce_again(object, &sample);
  floating_point_leave(of_program);
}

/* Returns a site's sums of samples freed after this collection of the old generation. Returns NULL while another
 * thread resets the sums, or if a later collection already uses their entry of cleaned->old. */
static struct mallometer_outlived *sums_after(struct cleaned *cleaned, uint64_t collection) {
  struct mallometer_outlived *sums = &cleaned->old[collection % FREED_AFTER];
  uint64_t before = __atomic_load_n(&sums->collection, __ATOMIC_ACQUIRE);
  if (before == collection) return sums;
  if (before > collection) return NULL; /* This includes BEING_RESET. */
  if (!__atomic_compare_exchange_n(&sums->collection, &before, BEING_RESET, false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
    return NULL;
  sums->at_once = sums->otherwise = sums->again = 0;
  sums->first_bytes = sums->again_bytes = sums->otherwise_bytes = 0;
  __atomic_store_n(&sums->collection, collection, __ATOMIC_RELEASE);
  return sums;
}

static void add_after_old(struct cleaned *cleaned, const struct live_sample *sample, struct collections now,
                          bool is_cleaner) {
  struct mallometer_outlived *sums = sums_after(cleaned, now.old);
  if (!sums) return;
  double bytes = (double)sample->bytes / sample->probability;
  bool is_at_once = is_cleaner && collection_just_began(now);
  uint32_t met = now.old - sample->before.old;
  bool is_met_surely = met == 1 && is_at_once;
  if (!is_met_surely && allocated_while_marking(live_sample_row(NULL, sample).born_ns, sample->before.old + 1)) met--;
  if (met == 0) return;
  bool is_first = met == 1;
  __atomic_fetch_add(is_at_once ? &sums->at_once : &sums->otherwise, 1, __ATOMIC_RELAXED);
  if (!is_first) __atomic_fetch_add(&sums->again, 1, __ATOMIC_RELAXED);
  if (is_at_once)
    add_to(is_first ? &sums->first_bytes : &sums->again_bytes, bytes);
  else if (is_first)
    add_to(&sums->otherwise_bytes, bytes);
}

static void add_freed_after_collections(struct cleaned *cleaned, const struct live_sample *sample) {
  bool is_cleaner = is_cleaner_thread();
  if (!is_cleaner && __atomic_load_n(&cleaned->samples, __ATOMIC_RELAXED) == 0) return;
  struct collections now = collections_now();
  if (is_cleaner) {
    bool is_after_first = now.all - sample->before.all == 1 && now.old == sample->before.old;
    __atomic_fetch_add(&cleaned->samples, 1, __ATOMIC_RELAXED);
    if (is_after_first) __atomic_fetch_add(&cleaned->after_first_young, 1, __ATOMIC_RELAXED);
  }
  if (now.old != sample->before.old) add_after_old(cleaned, sample, now, is_cleaner);
}

__attribute__((noinline)) static void add_freed(const struct live_sample *sample) {
  struct site *site = site_at(sample->site);
  add_sample(&site->freed, sample->bytes, sample->probability);
  add_freed_after_collections(&memory->cleaned[site - memory->sites], sample);
}

void call_sites_count_free(struct live_sample sample) {
  if (sample.site == NO_SITE) return;
  floating_point of_program = floating_point_enter();
  add_freed(&sample);
  floating_point_leave(of_program);
}

void call_sites_forget(void) { live_samples_remove_all(call_sites_count_free); }

/* ---- Samples ------------------------------------------------------------------------------------------ */

/* Returns how many quarters of the room are in use: the room for sites or for stack nodes, whichever is fuller. */
static uint32_t room_taken(void) {
  uint32_t of_sites = sites_in_use() / (SITES / 4);
  uint32_t of_nodes = stack_tree_in_use(&memory->stacks) / (STACK_NODES / 4);
  return of_sites > of_nodes ? of_sites : of_nodes;
}

/* Returns whether the JVM allocates for itself, for example when it defines a class. It then calls malloc through at
 * least five of its own frames; requests of Java code (Unsafe.allocateMemory) come through fewer. */
static bool is_of_jvm(const uint64_t *frames, uint32_t count) {
  for (uint32_t i = 0; i < FRAMES_OF_JVM; i++) {
    if (i == count || is_java_frame(frames[i]) || !is_code_of_jvm(frames[i] - 1)) return false;
  }
  return true;
}

/*
 * Returns the number of innermost frames to store. Compilers and class loading in the JVM always allocate from new
 * stacks. Stacks are therefore cut while room is scarce:
 *
 * - Stacks without Java frames: to FRAMES_WHEN_CROWDED when half of the room is taken, and to FRAMES_WHEN_FULL when
 *   three quarters are taken.
 * - Stacks on which Java code made the JVM allocate for itself (is_of_jvm()): to FRAMES_WHEN_FULL when three quarters
 *   are taken. Before that they stay whole, because a cut stack lacks the program's method. With `samples_all`,
 *   however, they are cut to their native frames and FRAMES_WHEN_CROWDED Java frames when half of the room is taken.
 * - Other stacks with Java frames: never.
 */
static uint32_t kept_frames(const uint64_t *frames, uint32_t count, uint32_t taken, bool samples_all) {
  if (taken < 2 || count <= FRAMES_WHEN_FULL) return count;
  uint32_t most = taken < 3 ? FRAMES_WHEN_CROWDED : FRAMES_WHEN_FULL;
  if (is_java_frame(frames[count - 1])) {
    if ((!samples_all && taken < 3) || !is_of_jvm(frames, count)) return count;
    for (uint32_t native = 0; taken < 3 && !is_java_frame(frames[native]); native++) most++;
  }
  return count <= most ? count : most;
}

/*
 * Returns whether a sample with a new stack gets a site. The start of a JVM has thousands of stacks that allocate a few
 * bytes once; they must leave room for later stacks. When half of the room is taken, only large samples get a site:
 * samples with probability 1, samples that stand for many bytes (BYTES_WHEN_CROWDED, BYTES_WHEN_FULL), and mappings of
 * at least a mebibyte.
 */
static bool deserves_site(const struct sample *sample) {
  uint32_t taken = room_taken();
  if (taken < 2) return true;
  if (sample->maps) return sample->bytes >= BYTES_OF_MAPPING_WHEN_CROWDED;
  if (sample->probability >= 1) return true;
  return (double)sample->bytes / sample->probability >= (taken < 3 ? BYTES_WHEN_CROWDED : BYTES_WHEN_FULL);
}

/* Removes a sample that is still stored for the address of a new object. The earlier object was freed unnoticed, by
 * __libc_free for example. */
static void forget_object_before(const void *object) {
  struct live_sample before = live_sample_remove(object);
  if (before.site == NO_SITE) return;
  __atomic_fetch_add(&without_place, 1, __ATOMIC_RELAXED);
  call_sites_count_free(before);
}

/* Reports a sample to profilers. If its free will not be noticed (`followed` is false), the sample is also reported
 * as freed. Requests of no bytes are not reported, because profilers divide by the size. */
static void announce(const struct sample *sample, const void *object, bool followed) {
  if (sample->requested == 0) return;
  probe_allocation(object, sample->requested, (uint64_t)((double)sample->requested / sample->probability + 0.5));
  if (!followed) probe_free(object);
}

__attribute__((noinline)) static void *add_to_site(struct sample *sample, uint32_t site) {
  if (sample->maps) {
    call_sites_refer(site, 1);
    return (void *)(uintptr_t)site;
  }
  forget_object_before(sample->object);
  sample->work += WORK_SAMPLE;
  if (site == NO_SITE) {
    __atomic_fetch_add(&without_site, 1, __ATOMIC_RELAXED);
    announce(sample, sample->object, false);
    return sample->object;
  }
  struct live_sample live = {site, live_sample_birth(), sample->probability, sample->bytes, collections_now()};
  __atomic_store_n(&site_at(site)->latest, live.born, __ATOMIC_RELAXED);
  add_sample(&site_at(site)->allocated, sample->bytes, sample->probability);
  latest_samples_add(site, (double)sample->bytes / sample->probability);
  sample_mover *mover = sample->move.alignment ? __atomic_load_n(&move_elsewhere, __ATOMIC_ACQUIRE) : NULL;
  void *moved = mover ? mover(sample, &live) : NULL;
  if (moved) {
    sample->work += WORK_SLOT;
    announce(sample, moved, true);
    return moved; /* mover() has already stored the live sample */
  }
  announce(sample, sample->object, keep(sample->object, &live));
  return sample->object;
}

/*
 * Finds the site of a stack, which is cut to fewer frames when room is scarce. A known stack keeps the number of
 * frames of its first sample: otherwise one call path would get a second site, and the first would no longer grow.
 * Sets `count` to the number of stored frames.
 */
static uint32_t site_of_stack(const uint64_t *frames, uint32_t *count, struct sample *sample) {
  uint32_t taken = room_taken(), kept = kept_frames(frames, *count, taken, sample->samples_all);
  for (uint32_t earlier = 1; earlier < taken; earlier++) {
    uint32_t then = kept_frames(frames, *count, earlier, sample->samples_all);
    uint32_t site = then > kept ? site_of(frames, then, false, &sample->work) : NO_SITE;
    if (site == NO_SITE) continue;
    *count = then;
    return site;
  }
  *count = kept;
  return site_of(frames, kept, deserves_site(sample), &sample->work);
}

/* `cut` is true if the array `frames` does not contain the whole stack. */
static void *add_with_stack(struct sample *sample, const uint64_t *frames, uint32_t count, bool cut) {
  uint32_t kept = count, site = site_of_stack(frames, &kept, sample);
  if (site != NO_SITE && !sample->maps && (cut || kept < count)) __atomic_fetch_add(&truncated, 1, __ATOMIC_RELAXED);
  return add_to_site(sample, site);
}

/* Returns `found`, but at most `most`. Sets `cut` if `found` is larger. Callers ask for one frame more than `most`,
 * so that `found` shows whether the stack has more frames. */
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

/*
 * Inserts an extra frame before the Java frames, if compiled Java code called native code by the foreign-function
 * interface. The frame stands for the return address of this call (jvm/foreign_calls.h). There was no such call if the
 * innermost Java frame has no bytecode index, for example because it is a native method. `frames` must have room for
 * the new frame. Returns the number of inserted frames.
 */
static uint32_t note_call(const struct java_stacks *stacks, const struct registers *caller, uint64_t *frames,
                          uint32_t native, uint32_t java) {
  if (!has_bytecode(frames[native])) return 0;
  uint64_t note = stacks->note_call(caller, native ? frames[native - 1] : 0);
  if (!note) return 0;
  memmove(frames + native + 1, frames + native, java * sizeof *frames);
  frames[native] = note;
  return 1;
}

/* Moves the last frame, the method that a compiler thread compiles, to the beginning. Stacks that differ only in
 * this method then share the nodes of all other frames. */
static void put_first(uint64_t *frames, uint32_t last) {
  uint64_t frame = frames[last];
  memmove(frames + 1, frames, last * sizeof *frames);
  frames[0] = frame;
}

/* Needs some 20 KiB of the stack. */
__attribute__((noinline)) static void *take_with_java(struct sample *sample, const struct java_stacks *stacks,
                                                      void *thread) {
  uint64_t frames[MOST_NATIVE_FRAMES + MOST_JAVA_FRAMES + 2];
  struct registers caller;
  bool cut = false;
  uint32_t count = native_frames(sample, frames, &caller, &cut);
  int found = stacks->walk(thread, &caller, frames + count, MOST_JAVA_FRAMES + 1);
  sample->work += WORK_JAVA;
  if (found < 0 && !sample->maps) __atomic_fetch_add(&without_java, 1, __ATOMIC_RELAXED);
  if (found == 1 && is_compiled_frame(frames[count])) {
    put_first(frames, count++);
  } else if (found > 0) {
    sample->work += (uint32_t)found * WORK_JAVA_FRAME;
    uint32_t native = count, java = keep_at_most(MOST_JAVA_FRAMES, (uint32_t)found, &cut);
    count += java + note_call(stacks, &caller, frames, native, java);
  }
  return add_with_stack(sample, frames, count, cut);
}

/*
 * The bytes of stack that must be left for a walk. A Java thread's stack ends with HotSpot's guard pages: 16 KiB by
 * default, counted here with a margin of 16 KiB. Above these pages, HotSpot keeps 80 KiB free for native code that Java
 * calls. A walk uses 20 KiB of this room, counted here with a margin of 4 KiB.
 */
#define GUARD_PAGES_OF_JVM ((size_t)32 << 10)
#define ROOM_FOR_JAVA_STACK (((size_t)24 << 10) + GUARD_PAGES_OF_JVM)

bool call_sites_may_walk(struct origin origin) {
  return stack_has_room(origin.stack, ROOM_FOR_NATIVE_STACK + (java_gate_is_open() ? GUARD_PAGES_OF_JVM : 0));
}

/* Records the sample without a call stack, because too little of the thread's stack is left for a walk. Does not move
 * the object to another address either, which would need more of the stack. */
__attribute__((noinline)) static void *take_without_stack(struct sample *sample) {
  if (!sample->maps) __atomic_fetch_add(&without_stack, 1, __ATOMIC_RELAXED);
  sample->move.alignment = 0;
  return add_to_site(sample, site_of(NULL, 0, deserves_site(sample), &sample->work));
}

static void *thread_to_walk(const struct java_stacks *stacks, const struct sample *sample) {
  void *thread = stacks ? stacks->thread() : NULL;
  if (!thread || stack_has_room(sample->origin.stack, ROOM_FOR_JAVA_STACK)) return thread;
  if (!sample->maps) __atomic_fetch_add(&without_java, 1, __ATOMIC_RELAXED);
  return NULL;
}

static void *take(struct sample *sample) {
  struct thread_block *block = sample->block;
  if (!call_sites_may_walk(sample->origin)) return take_without_stack(sample);
  const struct java_stacks *stacks;
  if (!java_gate_enter(block, &stacks)) return take_native(sample);
  void *thread = thread_to_walk(stacks, sample);
  void *object = thread ? take_with_java(sample, stacks, thread) : take_native(sample);
  java_gate_leave(block);
  return object;
}

void *call_sites_record(struct sample *sample) {
  if (!__atomic_load_n(&open_for_samples, __ATOMIC_ACQUIRE)) return sample->object;
  uint32_t entered = enter();
  void *object = take(sample);
  leave(entered);
  return object;
}

void call_sites_refer(uint32_t site, int32_t by) {
  if (site <= INT32_MAX) __atomic_fetch_add(&site_at(site)->mapped, by, __ATOMIC_SEQ_CST);
}

void call_sites_release_all(void) {
  for (uint32_t i = 0; call_sites_on() && i < SITES; i++) {
    if (__atomic_load_n(&memory->sites[i].mapped, __ATOMIC_RELAXED)) {
      __atomic_store_n(&memory->sites[i].mapped, 0, __ATOMIC_SEQ_CST);
    }
  }
}

uint32_t call_sites_of_mapping(struct thread_block *block, size_t bytes, struct origin origin, uint32_t *work) {
  void *site = (void *)(uintptr_t)NO_SITE;
  struct sample mapping = {.block = block,
                           .object = site,
                           .requested = bytes,
                           .bytes = bytes,
                           .origin = origin,
                           .probability = 1,
                           .maps = true};
  if (call_sites_on() && call_sites_may_walk(origin)) {
    floating_point of_program = floating_point_enter();
    site = call_sites_record(&mapping);
    floating_point_leave(of_program);
  }
  *work = mapping.work;
  return (uint32_t)(uintptr_t)site;
}

static uint32_t add_java_frames(struct thread_block *block, const struct registers *caller, uint64_t *frames,
                                uint32_t capacity) {
  const struct java_stacks *stacks;
  if (!java_gate_enter(block, &stacks)) return 0;
  void *thread = stacks ? stacks->thread() : NULL;
  int found = thread ? stacks->walk(thread, caller, frames, capacity) : 0;
  java_gate_leave(block);
  return found > 0 && !is_compiled_frame(frames[0]) ? (uint32_t)found : 0;
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

/* Measured walks used 1.7 KiB of stack without Java frames, and 16 KiB with Java frames, including
 * AsyncGetCallTrace. */
size_t call_sites_stack_use(void) { return java_gate_is_open() ? 24576 : 4096; }

/* ---- Readers ------------------------------------------------------------------------------------------ */

static void copy_sums(struct mallometer_site_sums *to, const struct sums *from) {
  to->samples = __atomic_load_n(&from->samples, __ATOMIC_ACQUIRE);
  __atomic_load(&from->objects, &to->objects, __ATOMIC_ACQUIRE);
  __atomic_load(&from->bytes, &to->bytes, __ATOMIC_ACQUIRE);
  __atomic_load(&from->objects_variance, &to->objects_variance, __ATOMIC_ACQUIRE);
  __atomic_load(&from->bytes_variance, &to->bytes_variance, __ATOMIC_ACQUIRE);
}

static uint32_t site_count(void) { return call_sites_on() ? __atomic_load_n(&sites_taken, __ATOMIC_ACQUIRE) : 0; }

static bool is_unchanged(const struct site *site, uint64_t hash, uint32_t number) {
  __atomic_thread_fence(__ATOMIC_ACQUIRE);
  return __atomic_load_n(&site->hash, __ATOMIC_RELAXED) == hash &&
         __atomic_load_n(&site->number, __ATOMIC_RELAXED) == number;
}

/* Reads the freed sums first, so that no site shows more freed than allocated objects. */
static struct mallometer_site row_of(const struct site *site) {
  uint64_t hash = __atomic_load_n(&site->hash, __ATOMIC_ACQUIRE);
  struct mallometer_site row = {.number = __atomic_load_n(&site->number, __ATOMIC_RELAXED)};
  struct mallometer_site none = row;
  if (!hash) return none; /* The site is being written, or was forgotten. */
  if (!__atomic_load_n(&site->allocated.samples, __ATOMIC_ACQUIRE)) return none; /* The site has mappings only. */
  /* `frames` was written before the hash, so it is valid here. discard() may later set `frames` to 0. */
  row.frames = __atomic_load_n(&site->frames, __ATOMIC_RELAXED);
  copy_sums(&row.freed, &site->freed);
  copy_sums(&row.allocated, &site->allocated);
  return is_unchanged(site, hash, row.number) ? row : none;
}

uint32_t call_sites_copy(struct mallometer_site *sites, uint32_t capacity, uint32_t first) {
  uint32_t count = site_count(), copied = 0;
  if (first == 0) call_sites_make_room();
  for (uint32_t i = first; i < count && copied < capacity; i++) sites[copied++] = row_of(&memory->sites[i]);
  return copied;
}

/* Returns zeros if the entry is for another collection, or is reset for another collection during the copy. */
static struct mallometer_outlived copy_after(const struct cleaned *cleaned, uint64_t collection) {
  const struct mallometer_outlived *sums = &cleaned->old[collection % FREED_AFTER];
  if (__atomic_load_n(&sums->collection, __ATOMIC_ACQUIRE) != collection) return (struct mallometer_outlived){0};
  struct mallometer_outlived copied = *sums;
  __atomic_thread_fence(__ATOMIC_ACQUIRE);
  bool is_same = __atomic_load_n(&sums->collection, __ATOMIC_RELAXED) == collection;
  return is_same ? copied : (struct mallometer_outlived){0};
}

uint32_t call_sites_copy_cleaned(struct mallometer_cleaned *rows, uint32_t capacity, uint64_t collection) {
  uint32_t count = site_count(), copied = 0;
  for (uint32_t i = 0; i < count && copied < capacity; i++) {
    const struct site *site = &memory->sites[i];
    const struct cleaned *cleaned = &memory->cleaned[i];
    uint64_t hash = __atomic_load_n(&site->hash, __ATOMIC_ACQUIRE);
    struct mallometer_cleaned row = {.site = __atomic_load_n(&site->number, __ATOMIC_RELAXED)};
    row.samples = __atomic_load_n(&cleaned->samples, __ATOMIC_ACQUIRE);
    if (!hash || row.samples == 0) continue;
    row.after_first_young = __atomic_load_n(&cleaned->after_first_young, __ATOMIC_ACQUIRE);
    for (uint64_t j = 0; j < 2 && j < collection; j++) row.old[j] = copy_after(cleaned, collection - j);
    if (is_unchanged(site, hash, row.site)) rows[copied++] = row;
  }
  return copied;
}

uint32_t call_sites_places(void) { return site_count(); }

double call_site_live_bytes(uint32_t place, uint32_t *number) {
  const struct site *site = &memory->sites[place];
  double freed, allocated;
  *number = __atomic_load_n(&site->number, __ATOMIC_RELAXED);
  if (!__atomic_load_n(&site->hash, __ATOMIC_ACQUIRE)) return 0;
  __atomic_load(&site->freed.bytes, &freed, __ATOMIC_ACQUIRE);
  __atomic_load(&site->allocated.bytes, &allocated, __ATOMIC_ACQUIRE);
  return allocated > freed ? allocated - freed : 0;
}

int call_site_stack(uint32_t number, uint64_t *frames, uint32_t capacity) {
  if (number % SITES >= site_count()) return -1;
  uint32_t entered = enter();
  const struct site *site = site_at(number);
  uint64_t hash = __atomic_load_n(&site->hash, __ATOMIC_ACQUIRE);
  int count = 0;
  if (hash && __atomic_load_n(&site->frames, __ATOMIC_RELAXED)) {
    count = (int)stack_tree_copy(&memory->stacks, site->stack, frames, capacity);
  }
  bool known = is_unchanged(site, hash, number);
  leave(entered);
  return known ? count : -1;
}

struct call_sites_totals call_sites_totals(void) {
  return (struct call_sites_totals){call_sites_on() ? sites_in_use() : 0,
                                    __atomic_load_n(&without_site, __ATOMIC_RELAXED),
                                    __atomic_load_n(&without_place, __ATOMIC_RELAXED),
                                    __atomic_load_n(&truncated, __ATOMIC_RELAXED),
                                    __atomic_load_n(&without_java, __ATOMIC_RELAXED),
                                    __atomic_load_n(&without_stack, __ATOMIC_RELAXED)};
}
