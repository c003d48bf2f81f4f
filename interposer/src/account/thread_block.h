/*
 * A thread counts its events (allocations and frees) in a block of its own, so counting shares no cache line and needs
 * no atomic instruction.
 *
 * A thread finds its block through one pointer of its own. Headroom is the number of bytes by which the thread's live
 * bytes may grow before it updates the estimate of the process's live bytes (totals.h). Allocations decrease the
 * headroom and frees increase it, so that a thread that frees as much as it allocates rarely leaves the fast path. An
 * event that finds no headroom takes the slow path. Before a thread's first event, and after it has handed its block
 * over, the pointer leads to a sentinel without headroom, so the fast path needs only one comparison.
 *
 * Blocks are carved from slabs that are never unmapped. The block of a thread that ends passes with its totals to the
 * next new thread, so the sum over all blocks is right at any time. The new owner stores the totals that it found as
 * its baseline, which is subtracted to get the new owner's figures. Events after the hand-over (in destructors of
 * thread keys that run later), and events of threads that found no block, are counted in one shared block by atomic
 * additions.
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

/* The bytes by which a thread's live bytes may grow between two of its updates of the estimate of the process's live
 * bytes (totals.h). */
#define HEADROOM_BYTES 65536

/* The largest request of the fast path. Larger requests take another path, which finds the size class of any size and
 * records the largest request. */
#define LARGEST_FAST_REQUEST 32768u

/* Sizes of the sampler's tables for each thread (sample/sampler.h). */
#define FILTER_BUCKETS 256u
#define LARGE_PATHS 32u

struct event_counters {
  /* `frees` and `freed_bytes` are adjacent, because event_count_free() adds to both together. */
  counter frees;
  counter freed_bytes;
  /* `allocated_bytes` and `requested_doubled` are adjacent, because event_count_allocation() adds to both together. */
  counter allocated_bytes;
  counter requested_doubled; /* the sum of doubled_size() of all requests */
  counter failed;
  counter by_class[SIZE_CLASSES]; /* indexed by event_allocations() */
};

/* Returns the counter of a class's allocations. */
static inline counter *event_allocations(struct event_counters *events, size_t class) {
  return &events->by_class[PLACE_OF_CLASS(class, SIZE_CLASSES)];
}

/* When a thread's latest samples began and how long they took (sample/governor.h). */
struct burst {
  uint32_t begin_ms; /* unit: 2^20 ns */
  uint32_t spent_ns;
};

enum thread_request {
  /* The thread must call the function that was passed to thread_blocks_request_answer(). */
  REQUEST_ANSWER = 1,
  /* The thread must unlink scopes that other threads have closed. */
  REQUEST_UNLINKING = 2
};

struct thread_block {
  /*
   * The bytes by which the thread's live bytes may grow before the thread updates the estimate of the process's live
   * bytes (totals.h). If EVENTS_ARE_MARKED, the headroom is 0 while an event is being counted. Written by the owner.
   * Other threads may withdraw it (headroom_withdraw()) or lower it (flush_all() in totals.c), but do not overwrite the
   * 0 of an event.
   */
  int64_t headroom;
  /* The net bytes of this block that are included in the estimate of the process's live bytes (totals.c). Written by
   * the thread that flushes the block. */
  int64_t flushed_live_bytes;
  /* The block's number, which never changes. */
  uint32_t index;
  /* Set while the thread walks its Java stack, to prevent a nested walk. Written by the owner. */
  uint16_t walks_java;
  struct reporting {
    /* Bits of account/scopes.h. If a bit is set, the thread is in a scope and must have no headroom. Written by the
     * owner. */
    uint8_t scoped;
    /* Bits of enum thread_request, set by other threads: what the owner must do at its next event on the slow path. */
    uint8_t requests;
  } reporting;
  /* The number of allocations until one is passed to the sampler, for each bucket of the sampler (sample/sampler.h). */
  uint8_t filter[FILTER_BUCKETS];
  struct event_counters events;
};
_Static_assert(sizeof(struct thread_block) == 512, "at most 256 bytes for each thread besides the filter");
_Static_assert(IS_PLACE_OF_CLASSES(offsetof(struct thread_block, events.by_class), SIZE_CLASSES),
               "EVENT_ADD_ONE() needs this offset");

/* The rarely written part of a block, on other cache lines than the counters of events. */
struct thread_record {
  struct event_counters baseline;
  /* Index of the next block on the list of unowned blocks. */
  uint32_t next_free;
  bool owned;
};

/* The countdown to the next sampled allocation of one call path of large allocations. */
struct large_path {
  uint32_t tag;
  /* The number of allocations until the next sampled one, drawn for a probability of 2^-level. */
  uint8_t left, level;
};

/*
 * The state of a thread in scopes (account/scopes.h). Net bytes are the bytes that the block has allocated minus those
 * that it has freed. Written by the owner; a thread in flush_all() (totals.c) also writes `limit` and `report_peak_at`.
 */
struct thread_scoping {
  /* The highest net bytes, and the largest request, at which an allocation changes neither the peak nor the largest
   * request of a scope (scope_allocation()). */
  _Alignas(256) int64_t limit;
  uint64_t largest_doubled;
  /* The net bytes above which the thread calls peak_flush() (totals.h), so that a new peak of the process is noticed.
   * Outside of scopes the headroom serves for this. */
  int64_t report_peak_at;
  struct scope *innermost;
  /* Whether the thread is following or changing the list of its scopes, so that its signal handlers must not change
   * it. */
  bool is_held;
};

/* The sampler's data of a thread, except its filters. Only the owner uses it, unless a field says otherwise. */
struct thread_sampling {
  /* The state of the random number generator. Each call of the sampler changes it, so it shares no cache line with
   * other threads. */
  _Alignas(64) uint64_t random;
  struct burst burst;
  /* The number of visits (allocations passed to the sampler) whose cost is not counted yet. */
  uint32_t visits;
  /* Whether the thread is a cleaner, a thread that frees the native memory of unreachable Java objects
   * (sample/collections.h). Threads of src/jvm also write this field. */
  uintptr_t cleaner;
};

enum { BLOCKS_IN_SLAB = 64 };

/*
 * Blocks are close together, because readers walk over all of them. A thread's other data is at a fixed distance from
 * its block, except its struct thread_sampling.
 */
struct slab {
  _Alignas(64) struct thread_block blocks[BLOCKS_IN_SLAB];
  /* Shifts what follows by half a page. Processors briefly treat accesses as conflicting if their addresses differ by a
   * multiple of the page size. */
  uint8_t unused[2048];
  struct of_sampler {
    /* The level of each number in `filter`: the number was drawn so that an allocation is passed to the sampler
     * with probability 2^-level. */
    uint8_t levels[FILTER_BUCKETS];
    struct large_path large_paths[LARGE_PATHS];
  } of_sampler[BLOCKS_IN_SLAB];
  struct thread_other {
    struct thread_scoping scoping;
    struct thread_record record;
  } others[BLOCKS_IN_SLAB];
  struct thread_sampling samplings[BLOCKS_IN_SLAB];
};
_Static_assert(sizeof(struct of_sampler) == sizeof(struct thread_block),
               "the distance from a block to its data must be the same for all");
_Static_assert(sizeof(struct thread_other) == sizeof(struct thread_block),
               "the distance from a block to its data must be the same for all");

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

/* The headroom of the sentinels below, so low that no number of frees raises it above 0. */
#define NO_HEADROOM (INT64_MIN / 2)

/* The sentinel of threads that have had no event. */
extern HIDDEN struct thread_block no_block_yet;
/* The sentinel of threads that have handed their block over or found none. */
extern HIDDEN struct thread_block no_own_block;
/* The sentinel of threads that called thread_block_leave(): their events are not counted. */
extern HIDDEN struct thread_block uncounted_block;

/* The calling thread's block, or a sentinel. */
DECLARE_THREAD_POINTER(struct thread_block, current_block);

/* Subtract allocated bytes from the headroom, or add freed bytes to it. They return false if the headroom is used up,
 * as it always is for sentinels; the caller then calls peak_flush_if_due() (totals.h). */
static inline bool headroom_take(struct thread_block *block, int64_t bytes) {
  return __builtin_expect(!local_sub_exhausts(&block->headroom, bytes), 1);
}

static inline bool headroom_give(struct thread_block *block, int64_t bytes) {
  return __builtin_expect(!local_add_exhausts(&block->headroom, bytes), 1);
}

/*
 * Begin one event on the fast path by changing the headroom; event_end() ends the event. They return false if no
 * headroom is left: the caller must take the slow path.
 *
 * If EVENTS_ARE_MARKED, the headroom is 0 from the beginning to the end of the event. A signal handler that allocates
 * meanwhile finds no headroom, takes the slow path, and counts in the shared block (event_block()), so that the
 * interrupted event's stores overwrite none of the handler's counts. A handler that never returns (longjmp) leaves the
 * mark: the thread's later events are counted in the shared block.
 *
 * A handler that runs between the load of the headroom and the mark counts its events before the mark, but its change
 * of the headroom, less than HEADROOM_BYTES, is lost until the next peak_flush() reads the counters. If it opens a
 * scope, the scope's peak, largest request and matches miss the thread's events until then.
 *
 * All accesses are relaxed: only the thread itself needs the order of the mark, and other threads do not change the
 * headroom while the mark is set.
 */
static inline bool event_mark(struct thread_block *block, bool exhausted) {
  if (__builtin_expect(exhausted, 0)) return false;
  if (EVENTS_ARE_MARKED) __atomic_store_n(&block->headroom, 0, __ATOMIC_RELAXED);
  __atomic_signal_fence(__ATOMIC_SEQ_CST);
  return true;
}

static inline bool event_begin_allocation(struct thread_block *block, size_t usable_size, int64_t *left) {
  if (!EVENTS_ARE_MARKED) return headroom_take(block, (int64_t)usable_size);
  /* A headroom that was negative before stays negative. */
  return event_mark(
      block, difference_exhausts(left, __atomic_load_n(&block->headroom, __ATOMIC_RELAXED), (int64_t)usable_size));
}

static inline bool event_begin_free(struct thread_block *block, size_t usable_size, int64_t *left) {
  if (!EVENTS_ARE_MARKED) return headroom_give(block, (int64_t)usable_size);
  int64_t headroom = __atomic_load_n(&block->headroom, __ATOMIC_RELAXED);
  *left = headroom + (int64_t)usable_size;
  return event_mark(block, headroom <= 0);
}

/* Begins the event of a realloc, which counts as a free and an allocation. */
static inline bool event_begin_realloc(struct thread_block *block, size_t old_size, size_t usable_size, int64_t *left) {
  if (!EVENTS_ARE_MARKED) return headroom_take(block, (int64_t)(usable_size - old_size));
  int64_t headroom = __atomic_load_n(&block->headroom, __ATOMIC_RELAXED);
  bool exhausted = difference_exhausts(left, headroom, (int64_t)(usable_size - old_size));
  return event_mark(block, headroom <= 0 || exhausted);
}

static inline void event_end(struct thread_block *block, int64_t left) {
  if (!EVENTS_ARE_MARKED) return;
  __atomic_signal_fence(__ATOMIC_SEQ_CST);
  __atomic_store_n(&block->headroom, left, __ATOMIC_RELAXED);
}

/* Returns whether the thread is in the middle of an event. The caller is then a signal handler that interrupted the
 * event. */
static inline bool is_in_event(const struct thread_block *block) {
  return EVENTS_ARE_MARKED && __atomic_load_n(&block->headroom, __ATOMIC_RELAXED) == 0;
}

static inline void event_count_free(struct thread_block *block, size_t usable_size) {
  order_frees_after_allocations();
  EVENT_ADD_TWO(block, offsetof(struct thread_block, events.frees), 1, usable_size);
}

static inline void event_count_allocation(struct thread_block *block, size_t usable_size, size_t doubled,
                                          size_t class) {
  EVENT_ADD_TWO(block, offsetof(struct thread_block, events.allocated_bytes), usable_size, doubled);
  EVENT_ADD_ONE(block, class, offsetof(struct thread_block, events.by_class));
}

/* Returns the bytes that the block has allocated minus those that it has freed. */
static inline int64_t thread_net(const struct thread_block *block) {
  return (int64_t)(block->events.allocated_bytes.value - block->events.freed_bytes.value);
}

/* Withdraws the headroom, so that each event takes the slow path until the headroom is renewed. May be called from any
 * thread. */
static inline void headroom_withdraw(struct thread_block *block) {
  int64_t left = __atomic_load_n(&block->headroom, __ATOMIC_RELAXED);
  /* Does not overwrite a 0 that marks an event. If events are not marked, 0 is the headroom of a block that has had no
   * event. */
  while (!(EVENTS_ARE_MARKED && left == 0) && !__atomic_compare_exchange_n(&block->headroom, &left, NO_HEADROOM, false,
                                                                           __ATOMIC_SEQ_CST, __ATOMIC_RELAXED)) {
  }
}

/* Returns current_block. Each call reads the pointer again: on the fast path that is cheaper than keeping the pointer
 * across the allocator's call. */
static inline struct thread_block *own_block(void) { return THREAD_POINTER(struct thread_block, current_block); }

/* The counters of events of threads without a block. Only counter_add_shared() may write them. */
extern HIDDEN struct event_counters shared_events;

/*
 * Reserve and release thread key 0, the first key of a process. A program that forgot to create its key uses the value
 * 0, and would access the data of the owner of key 0. Two keys are therefore created between the two calls and get
 * other numbers: the library's key, and the loader's, which glibc before 2.34 creates when it first needs one.
 */
void thread_key_0_reserve(void);
void thread_key_0_release(void);

/*
 * Call this once, before the first event. A thread that ends calls `at_hand_over`, which flushes its block, before it
 * hands the block over. Without a thread key, blocks stay with the threads that ended.
 */
void thread_blocks_start(void (*at_hand_over)(struct thread_block *block));

/* Is the slow path of thread_block_acquire(). */
struct thread_block *thread_block_acquire_first(void);

/* Returns whether `block` is not a sentinel. */
static inline bool is_thread_block(const struct thread_block *block) {
  return block != &no_block_yet && block != &no_own_block && block != &uncounted_block;
}

/*
 * Returns the calling thread's block; a thread without a block takes one. Returns NULL if the thread's events belong to
 * shared_events. Takes no lock; maps a slab for every 64th thread that lives at the same time. May change errno.
 */
static inline struct thread_block *thread_block_acquire(void) {
  struct thread_block *block = own_block();
  return is_thread_block(block) ? block : thread_block_acquire_first();
}

/* Returns the block for an event of the calling thread on the slow path; NULL if the event belongs to shared_events. */
static inline struct thread_block *event_block(void) {
  struct thread_block *block = thread_block_acquire();
  return block && is_in_event(block) ? NULL : block;
}

/*
 * Returns whether the calling thread must not take its block at an allocation of this size, because pthread_setspecific
 * may be the caller: glibc keeps a thread's values of all keys but the first 32 in tables that pthread_setspecific
 * allocates, and within that allocation it must not be called again. The event then belongs to shared_events.
 */
bool thread_block_would_recurse(size_t requested);

/*
 * Excludes the calling thread's events from all sums, until thread_block_return() restores the returned block. Call
 * this around the library's own work, which must not count as the program's.
 */
struct thread_block *thread_block_leave(void);
void thread_block_return(struct thread_block *block);

/*
 * Makes each thread call `answer` once at its next event. Since the request, at most that event has changed the
 * allocator's cache of the thread. A new thread calls it at its first event. May be called from any thread; each call
 * makes all threads answer again. With NULL, threads stop answering. A thread that is in the middle of an event may
 * answer later.
 */
void thread_blocks_request_answer(void (*answer)(void));

/* Is the slow path of thread_block_answer(). */
uint8_t thread_block_answer_now(struct thread_block *block);

/* Does what other threads requested of the calling thread, and returns the bits of the requests that the caller must
 * do. A requesting thread stores `requests` and then withdraws the headroom. This thread is here because it found no
 * headroom, so it loads the headroom with acquire order before it loads `requests`. */
static inline uint8_t thread_block_answer(struct thread_block *block) {
  (void)__atomic_load_n(&block->headroom, __ATOMIC_ACQUIRE);
  bool is_requested = __atomic_load_n(&block->reporting.requests, __ATOMIC_ACQUIRE) != 0;
  return __builtin_expect(is_requested, 0) ? thread_block_answer_now(block) : 0;
}

const struct event_counters *thread_baseline(const struct thread_block *block);

/* thread_block_count() returns the number of blocks. thread_block_at() returns the block with an index below that
 * number; NULL if its slab could not be mapped. */
uint32_t thread_block_count(void);
struct thread_block *thread_block_at(uint32_t index);

/* Returns the number of threads that own a block. */
uint32_t thread_block_owners(void);
/* Returns the number of threads, so far, that found no free block. */
uint64_t threads_without_block(void);
/* Returns the bytes that are mapped for blocks. They never decrease. */
size_t thread_blocks_footprint(void);

/* Releases, in the child of a fork, the blocks of threads that exist only in the parent. */
void thread_blocks_forked(void);

#endif
