/*
 * What is counted lives in one block a thread, so that counting shares no cache line and needs no atomic
 * instruction.
 *
 * A thread meets its block through one pointer of its own. Until its first event the pointer leads to a
 * sentinel without headroom, and an event that finds no headroom takes the slow path: one comparison covers "first
 * use", "handed over" and "the peak must hear of this".
 *
 * Headroom is by how much the thread's live bytes may grow before it tells the peak (totals.h). Allocations take from
 * it, frees give back, so that a thread that frees as much as it allocates hardly ever leaves the fast path.
 *
 * Blocks are carved from slabs that are never unmapped. When a thread ends, in the first round of destructors of thread
 * keys, its block passes to the next new thread, totals and all: the sum over all blocks is the truth at any time, and
 * nothing is ever folded or freed. The new owner notes the totals it found, its baseline, for figures of its own.
 * Events after the hand-over (destructors that run later), and those of threads that found no block, go to one shared
 * block that is written atomically.
 */
#ifndef MALLOMETER_ACCOUNT_THREAD_BLOCK_H
#define MALLOMETER_ACCOUNT_THREAD_BLOCK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "account/counter.h"
#include "account/size_class.h"
#include "mallometer.h"
#include "platform/arch.h"
#include "platform/thread_pointer.h"
#include "platform/visibility.h"

/* By how much a thread's live bytes may grow after it told the peak, and before it tells it again. */
#define HEADROOM_BYTES 65536

/* A larger request takes a route of its own, which knows the open size class and the largest request. */
#define LARGEST_FAST_REQUEST 32768u

/* Of the sampler, for each thread (sample/sampler.h). */
#define FILTER_BUCKETS 256u
#define LARGE_PATHS 32u

#ifndef MAXIMUM_BLOCKS /* tests build a library with few */
#define MAXIMUM_BLOCKS 65536u
#endif

struct event_counters {
  /* Side by side: event_counts_free(). */
  counter frees;
  counter freed_bytes;
  /* Side by side: event_counts_allocation(). */
  counter allocated_bytes;
  counter requested_doubled; /* of each request doubled_size() */
  counter failed;
  counter by_class[SIZE_CLASSES]; /* event_allocations() */
};

/* How many allocations of a class. */
static inline counter *event_allocations(struct event_counters *events, size_t class) {
  return &events->by_class[PLACE_OF_CLASS(class, SIZE_CLASSES)];
}

/* What the samples of a thread took lately (sample/governor.h). */
struct burst {
  uint32_t begin_ms; /* of 2^20 ns */
  uint32_t spent_ns;
};

enum asked {
  /* What thread_blocks_ask() says. */
  ASKED = 1,
  /* To unlink scopes that others have ended. */
  ASKED_TO_TIDY = 2
};

struct thread_block {
  /* Bytes until the peak must be told; 0 while an event is counted, where EVENTS_ARE_MARKED. Written by the owner;
   * whoever lowers flushed_live_bytes stores HEADROOM_BYTES, but never over 0. */
  int64_t headroom;
  /* Net bytes of this block that the peak's estimate contains. Written by whoever flushes (totals.c). */
  int64_t flushed_live_bytes;
  /* Its own number; fixed since it was carved. */
  uint32_t index;
  /* The thread walks its Java stack: not again before that is done. Written by the owner. */
  uint16_t walks_java;
  struct reporting {
    /* Scopes of the thread are open: no event is to find headroom. Bits of account/scopes.h; written by the owner. */
    uint8_t scoped;
    /* The owner is to do something at its next event on the slow path. Bits that others set: enum asked. */
    uint8_t asked;
  } reporting;
  /* Of each bucket of the sampler, the allocations until its next visit. */
  uint8_t filter[FILTER_BUCKETS];
  struct event_counters events;
};
_Static_assert(sizeof(struct thread_block) == 512, "DESIGN: at most 256 bytes a thread, beside the filter");
_Static_assert(IS_PLACE_OF_CLASSES(offsetof(struct thread_block, events.by_class), SIZE_CLASSES), "the fast path's");

/* Read-mostly companion of a block, kept apart from the lines that events write. */
struct thread_record {
  struct event_counters baseline;
  /* Index of the next block on the list of blocks without owner. */
  uint32_t next_free;
  bool owned;
};

/* A call path of large allocations. */
struct large_path {
  uint32_t tag;
  /* As of a bucket. */
  uint8_t left, level;
};

/*
 * A thread in scopes (account/scopes.h). Net bytes are what the block has allocated less what it has freed. Owner only,
 * but for who lowers flushed_live_bytes.
 */
struct thread_scoping {
  /* As many net bytes, and as large a request, are nothing new: what lies above goes the long way. */
  _Alignas(256) int64_t limit;
  uint64_t largest_doubled;
  /* As many net bytes the peak must be told, in place of the block's headroom, which is withdrawn. */
  int64_t tell_at;
  struct scope *innermost;
  /* The thread follows or changes the chain: signal handlers leave it as it is. */
  bool is_held;
};

/* What the sampler keeps of a thread beside its filters. Owner only. */
struct thread_sampling {
  /* State of its random numbers. Each visit changes it, so threads share no line here. */
  _Alignas(64) uint64_t random;
  struct burst burst;
  /* Visits that are not billed yet. */
  uint32_t visits;
};

enum { BLOCKS_IN_SLAB = 64 };

/*
 * Blocks lie close together, because readers walk over all of them. What else there is of a thread, but for what is
 * seldom read or written, lies at a fixed distance from its block.
 */
struct slab {
  _Alignas(64) struct thread_block blocks[BLOCKS_IN_SLAB];
  /* Processors take accesses that are whole pages apart for the same for a moment. */
  uint8_t unused[2048];
  struct of_sampler {
    /* How the numbers in the filter were drawn. */
    uint8_t levels[FILTER_BUCKETS];
    struct large_path large_paths[LARGE_PATHS];
  } of_sampler[BLOCKS_IN_SLAB];
  struct thread_other {
    struct thread_scoping scoping;
    struct thread_record record;
  } others[BLOCKS_IN_SLAB];
  struct thread_sampling samplings[BLOCKS_IN_SLAB];
};
_Static_assert(sizeof(struct of_sampler) == sizeof(struct thread_block), "so that the distance is the same for all");
_Static_assert(sizeof(struct thread_other) == sizeof(struct thread_block), "as well");

static inline uint8_t *thread_levels(struct thread_block *block) {
  return (uint8_t *)block + offsetof(struct slab, of_sampler) + offsetof(struct of_sampler, levels);
}

static inline struct large_path *thread_large_paths(struct thread_block *block) {
  return (struct large_path *)((uint8_t *)block + offsetof(struct slab, of_sampler) +
                               offsetof(struct of_sampler, large_paths));
}

static inline struct thread_sampling *thread_sampling(struct thread_block *block) {
  size_t place = block->index % BLOCKS_IN_SLAB;
  return &((struct slab *)(block - place))->samplings[place];
}

static inline struct thread_scoping *thread_scoping(struct thread_block *block) {
  return (struct thread_scoping *)((uint8_t *)block + offsetof(struct slab, others));
}

/* A sentinel's, and never less far from 0 than this program will count to. */
#define NO_HEADROOM (INT64_MIN / 2)

/* The thread has had no event yet. */
extern HIDDEN struct thread_block no_block_yet;
/* The thread has handed its block over, or there was none for it. */
extern HIDDEN struct thread_block shared_only;
/* What the thread does is not counted: thread_block_leave(). */
extern HIDDEN struct thread_block left_out;

/* Calling thread's block or a sentinel. */
DECLARE_THREAD_POINTER(struct thread_block, current_block);

/*
 * Takes what was allocated from the headroom, or gives back what was freed. False if none is left, always so for the
 * sentinels; peak_flush() renews it then.
 */
static inline bool headroom_take(struct thread_block *block, int64_t bytes) {
  return __builtin_expect(!local_sub_exhausts(&block->headroom, bytes), 1);
}

static inline bool headroom_give(struct thread_block *block, int64_t bytes) {
  return __builtin_expect(!local_add_exhausts(&block->headroom, bytes), 1);
}

/*
 * One event on the fast path: begins with what it takes from the headroom, ends with event_ends(). False, for the slow
 * path, if none is left.
 *
 * Where EVENTS_ARE_MARKED, the headroom is 0 from beginning to end. A signal handler that allocates in between finds no
 * headroom, takes the slow path, and counts in the shared block (event_block()), so that nothing of it is overwritten
 * by what the interrupted event stores. One that comes between the load of the headroom and the mark has counted in
 * full before the mark; only what it took from the headroom is overwritten, less than HEADROOM_BYTES, until the next
 * peak_flush(), which goes by the counters. If it opens a scope there, the scope's peak, largest request and matches
 * miss the thread's events until that flush, for the withdrawn headroom is overwritten too. A handler that never
 * returns (longjmp) leaves the mark: from then on the thread's events are counted in the shared block.
 *
 * All accesses are relaxed: of the mark only the thread itself needs the order, and other threads change the headroom
 * by compare-and-exchange, which fails where the mark is.
 */
static inline bool event_begins(struct thread_block *block, bool exhausted) {
  if (__builtin_expect(exhausted, 0)) return false;
  if (EVENTS_ARE_MARKED) __atomic_store_n(&block->headroom, 0, __ATOMIC_RELAXED);
  __atomic_signal_fence(__ATOMIC_SEQ_CST);
  return true;
}

static inline bool event_takes(struct thread_block *block, size_t usable_size, int64_t *left) {
  if (!EVENTS_ARE_MARKED) return headroom_take(block, (int64_t)usable_size);
  /* Where there was none, none is left. */
  return event_begins(
      block, difference_exhausts(left, __atomic_load_n(&block->headroom, __ATOMIC_RELAXED), (int64_t)usable_size));
}

static inline bool event_gives(struct thread_block *block, size_t usable_size, int64_t *left) {
  if (!EVENTS_ARE_MARKED) return headroom_give(block, (int64_t)usable_size);
  int64_t headroom = __atomic_load_n(&block->headroom, __ATOMIC_RELAXED);
  *left = headroom + (int64_t)usable_size;
  return event_begins(block, headroom <= 0);
}

/* Of a realloc: a free and an allocation. */
static inline bool event_exchanges(struct thread_block *block, size_t old_size, size_t usable_size, int64_t *left) {
  if (!EVENTS_ARE_MARKED) return headroom_take(block, (int64_t)(usable_size - old_size));
  int64_t headroom = __atomic_load_n(&block->headroom, __ATOMIC_RELAXED);
  bool exhausted = difference_exhausts(left, headroom, (int64_t)(usable_size - old_size));
  return event_begins(block, headroom <= 0 || exhausted);
}

static inline void event_ends(struct thread_block *block, int64_t left) {
  if (!EVENTS_ARE_MARKED) return;
  __atomic_signal_fence(__ATOMIC_SEQ_CST);
  __atomic_store_n(&block->headroom, left, __ATOMIC_RELAXED);
}

/* In the middle of an event: this is called by a signal handler. */
static inline bool is_in_event(const struct thread_block *block) {
  return EVENTS_ARE_MARKED && __atomic_load_n(&block->headroom, __ATOMIC_RELAXED) == 0;
}

static inline void event_counts_free(struct thread_block *block, size_t usable_size) {
  frees_follow_allocations();
  EVENT_ADD_TWO(block, offsetof(struct thread_block, events.frees), 1, usable_size);
}

static inline void event_counts_allocation(struct thread_block *block, size_t usable_size, size_t doubled,
                                           size_t class) {
  EVENT_ADD_TWO(block, offsetof(struct thread_block, events.allocated_bytes), usable_size, doubled);
  EVENT_ADD_ONE(block, class, offsetof(struct thread_block, events.by_class));
}

/* Bytes that the block has allocated less those that it has freed. */
static inline int64_t thread_net(const struct thread_block *block) {
  return (int64_t)(block->events.allocated_bytes.value - block->events.freed_bytes.value);
}

/* From here on no event of the block finds headroom, until it is renewed. From any thread. */
static inline void headroom_withdraw(struct thread_block *block) {
  int64_t left = __atomic_load_n(&block->headroom, __ATOMIC_RELAXED);
  /* A mark stays. Where there is none, 0 is a block's that had no event yet. */
  while (!(EVENTS_ARE_MARKED && left == 0) && !__atomic_compare_exchange_n(&block->headroom, &left, NO_HEADROOM, false,
                                                                           __ATOMIC_SEQ_CST, __ATOMIC_RELAXED)) {
  }
}

/* Reads current_block afresh. The fast path does so before and after the allocator's call. */
static inline struct thread_block *own_block(void) { return THREAD_POINTER(struct thread_block, current_block); }

/* The block of events without a block. Only counter_add_shared may write it. */
extern HIDDEN struct event_counters shared_events;

/*
 * A process's first thread key is number 0, which is also the value of a key that a program forgot to create: the
 * program would read and write another's value. Keys that are created between these two calls have other numbers: ours,
 * and the loader's, which glibc before 2.34 creates when it is first used.
 */
void thread_key_0_reserve(void);
void thread_key_0_release(void);

/*
 * Called once, before the first event. A thread that hands its block over calls `at_hand_over` with it before: the peak
 * needs to know (totals.h, which knows this file). Never fails: without a key, blocks stay with the threads that died.
 */
void thread_blocks_start(void (*at_hand_over)(struct thread_block *block));

/* thread_block_acquire()'s rare part. */
struct thread_block *thread_block_acquire_first(void);

/* Whether `block` is a real one rather than a sentinel. */
static inline bool is_thread_block(const struct thread_block *block) {
  return block != &no_block_yet && block != &shared_only && block != &left_out;
}

/*
 * The calling thread's own block, taken now if it has none yet; NULL if its events belong to shared_events.
 * Takes no lock; maps a slab for every 64th thread that lives at the same time. May change errno.
 */
static inline struct thread_block *thread_block_acquire(void) {
  struct thread_block *block = own_block();
  return is_thread_block(block) ? block : thread_block_acquire_first();
}

/* The block in which the calling thread's event on the slow path counts; NULL: shared_events. */
static inline struct thread_block *event_block(void) {
  struct thread_block *block = thread_block_acquire();
  return block && is_in_event(block) ? NULL : block;
}

/*
 * Whether an allocation of `requested` bytes must not be the event with which the calling thread takes its block. glibc
 * keeps a thread's values of all keys but the first 32 in tables that pthread_setspecific allocates; if ours is one of
 * those, pthread_setspecific must not be called in the middle of that allocation. The event belongs to shared_events.
 */
bool thread_block_must_wait(size_t requested);

/*
 * Leaves what the calling thread does out of all sums, until the block that it had is given back with
 * thread_block_return(): the library's own work is not the program's.
 */
struct thread_block *thread_block_leave(void);
void thread_block_return(struct thread_block *block);

/*
 * Has each thread call `answer` once at its next event, before its own caches of the allocator change by more than that
 * event; a thread that has had none yet at its first. From any thread; asks anew each time. NULL: no thread is asked
 * any more. A thread that is in the middle of an event may answer later.
 */
void thread_blocks_ask(void (*answer)(void));

/* thread_block_answer()'s rare part. */
uint8_t thread_block_answer_now(struct thread_block *block);

/* The slow path, for the own block. Whoever asks writes `asked`, then the headroom by which the thread came here.
 * Returns what else is asked. */
static inline uint8_t thread_block_answer(struct thread_block *block) {
  (void)__atomic_load_n(&block->headroom, __ATOMIC_ACQUIRE);
  bool is_asked = __atomic_load_n(&block->reporting.asked, __ATOMIC_ACQUIRE) != 0;
  return __builtin_expect(is_asked, 0) ? thread_block_answer_now(block) : 0;
}

const struct event_counters *thread_baseline(const struct thread_block *block);

/* For i in 0 .. thread_block_count() - 1; NULL where a slab could not be mapped. */
uint32_t thread_block_count(void);
struct thread_block *thread_block_at(uint32_t index);

/* Threads that own a block now. */
uint32_t thread_block_owners(void);
/* Threads so far that found no block. */
uint64_t threads_without_block(void);
/* Bytes mapped for blocks; never fewer later. */
size_t thread_blocks_footprint(void);

/* In the child of a fork: the blocks of the threads that do not exist there become available. */
void thread_blocks_forked(void);

#endif
