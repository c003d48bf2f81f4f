/* Reads the JVM's counters of collections, and finds out which threads free native memory of unreachable Java objects
 * (cleaners). See collections.h. */
#include "sample/collections.h"

#include <stddef.h>

#include "account/thread_block.h"
#include "platform/clock.h"
#include "sample/java_gate.h"

static const struct collection_counters *counters;

static const struct collection_counters *known(void) { return __atomic_load_n(&counters, __ATOMIC_ACQUIRE); }

bool collections_known(void) { return known() != NULL; }

static int64_t value_of(const volatile int64_t *word) { return word ? *word : 0; }

/* A full collection can end a cycle of G1 between its two pauses, so that the second pause is missing.
 * `missing_pauses` counts such pauses. `full_seen` is the number of full collections at the latest check. */
static int64_t missing_pauses;
static int64_t full_seen;

void collections_set(const struct collection_counters *found) {
  __atomic_store_n(&full_seen, found ? value_of(found->full) : 0, __ATOMIC_RELAXED);
  __atomic_store_n(&missing_pauses, 0, __ATOMIC_RELAXED);
  __atomic_store_n(&counters, found, __ATOMIC_RELEASE);
}

static int64_t pauses_of(const struct collection_counters *from) {
  return value_of(from->pauses) + __atomic_load_n(&missing_pauses, __ATOMIC_RELAXED);
}

static void see_full(const struct collection_counters *from) {
  int64_t full = value_of(from->full), before = __atomic_load_n(&full_seen, __ATOMIC_RELAXED);
  bool is_aborted = collections_mark_first() && pauses_of(from) % PAUSES_OF_G1 != 0;
  if (full > before &&
      __atomic_compare_exchange_n(&full_seen, &before, full, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED) && is_aborted)
    __atomic_fetch_add(&missing_pauses, 1, __ATOMIC_RELAXED);
}

/* The latest SEEN collections of the old generation. A collection's place is its number modulo SEEN. */
enum { SEEN = 4 };
static struct seen {
  /* The upper 32 bits count all collections so far, and the lower 32 bits the collections of the old generation. The
   * word is 0 while `ns` is being stored. */
  uint64_t collections;
  uint64_t ns;
} seen[SEEN];

static uint64_t latest_seen;

static uint64_t packed(struct collections some) { return (uint64_t)some.all << 32 | some.old; }

/* Stores the time at which a collection of the old generation was first seen. If several threads see it at the same
 * time, only one stores the time. */
__attribute__((noinline)) static void see(struct collections now, uint64_t before) {
  struct seen *entry = &seen[now.old % SEEN];
  uint64_t ns = coarse_monotonic_ns();
  if ((uint32_t)before >= now.old) return; /* Another thread has stored this collection or a later one. */
  if (!__atomic_compare_exchange_n(&latest_seen, &before, packed(now), false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
    return;
  __atomic_store_n(&entry->collections, 0, __ATOMIC_RELEASE);
  __atomic_store_n(&entry->ns, ns, __ATOMIC_RELEASE);
  __atomic_store_n(&entry->collections, packed(now), __ATOMIC_RELEASE);
}

struct collections collections_now(void) {
  const struct collection_counters *from = known();
  if (!from) return (struct collections){0, 0};
  int64_t cycles = (pauses_of(from) + from->pauses_in_cycle - 1) / from->pauses_in_cycle;
  uint32_t old = (uint32_t)(value_of(from->full) + cycles);
  struct collections now = {old, old + (uint32_t)value_of(from->young)};
  uint64_t latest = __atomic_load_n(&latest_seen, __ATOMIC_ACQUIRE);
  if ((uint32_t)latest != old) {
    see_full(from);
    see(now, latest);
  }
  return now;
}

uint64_t collection_seen_ns(uint32_t old) {
  const struct seen *entry = &seen[old % SEEN];
  uint64_t before = __atomic_load_n(&entry->collections, __ATOMIC_ACQUIRE);
  uint64_t ns = __atomic_load_n(&entry->ns, __ATOMIC_ACQUIRE);
  bool is_same = before == __atomic_load_n(&entry->collections, __ATOMIC_ACQUIRE);
  return before && (uint32_t)before == old && is_same ? ns : 0;
}

bool collection_just_began(struct collections now) {
  const uint64_t soon_ns = 5000000000u;
  uint64_t ns = collection_seen_ns(now.old);
  uint64_t then = __atomic_load_n(&seen[now.old % SEEN].collections, __ATOMIC_ACQUIRE);
  return ns && coarse_monotonic_ns() - ns <= soon_ns && now.all - (uint32_t)(then >> 32) <= 1;
}

bool collections_mark_first(void) {
  const struct collection_counters *from = known();
  return from && from->pauses && from->pauses_in_cycle == PAUSES_OF_G1;
}

bool allocated_while_marking(uint64_t born_ns, uint32_t old) {
  const uint64_t marking_ns = 2000000000u;
  if (!collections_mark_first()) return false;
  uint64_t ns = collection_seen_ns(old);
  return ns && born_ns + marking_ns > ns;
}

/* ---- Cleaners ----------------------------------------------------------------------------------------- */

/* Special values of a thread's word (word_of()). Any other value is the JVM's handle of the thread; the three lowest
 * bits of that value count the looks at the thread's stack. */
enum { NOT_ANNOUNCED = 0, CLEANER = 1, NO_CLEANER = 2, MOST_LOOKS = 7 };

static uintptr_t *word_of(struct thread_block *block) { return &thread_sampling(block)->cleaner; }

__attribute__((noinline)) static void announce(struct thread_block *block) {
  const struct java_stacks *stacks;
  if (!java_gate_enter(block, &stacks)) return;
  uintptr_t handle = stacks ? (uintptr_t)stacks->thread() : 0;
  if (stacks) {
    __atomic_store_n(word_of(block), handle && handle % (MOST_LOOKS + 1) == 0 ? handle : NO_CLEANER, __ATOMIC_RELEASE);
  }
  java_gate_leave(block);
}

bool is_cleaner_thread(void) {
  struct thread_block *block = own_block();
  if (!is_thread_block(block)) return false;
  uintptr_t word = __atomic_load_n(word_of(block), __ATOMIC_RELAXED);
  if (word == NOT_ANNOUNCED && collections_known()) announce(block);
  return word == CLEANER;
}

void *cleaner_candidate(struct thread_block *block) {
  uintptr_t word = __atomic_load_n(word_of(block), __ATOMIC_ACQUIRE);
  return word > MOST_LOOKS ? (void *)(word & ~(uintptr_t)MOST_LOOKS) : NULL;
}

void cleaner_seen(struct thread_block *block, const void *candidate, bool waits_for_references) {
  uintptr_t word = __atomic_load_n(word_of(block), __ATOMIC_ACQUIRE), looks = word & MOST_LOOKS;
  if ((word & ~(uintptr_t)MOST_LOOKS) != (uintptr_t)candidate) return;
  uintptr_t now = waits_for_references ? CLEANER : looks == MOST_LOOKS - 1 ? NO_CLEANER : word + 1;
  /* If the thread has ended meanwhile, its word has changed, and the exchange fails. */
  __atomic_compare_exchange_n(word_of(block), &word, now, false, __ATOMIC_RELEASE, __ATOMIC_RELAXED);
}
