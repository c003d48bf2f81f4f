/*
 * A thread counts its events (allocations and frees) in a block of its own, so counting shares no cache line and needs
 * no atomic instruction.
 *
 * Headroom is the number of bytes by which the thread's live bytes may grow before it updates the estimate of the
 * process's live bytes (totals.h). Allocations decrease the headroom, and frees increase it. An event that finds no
 * headroom takes the slow path. A thread without a block points to a sentinel that has no headroom, so the fast path
 * needs only one comparison.
 *
 * Blocks lie in slabs that are never unmapped. When a thread ends, its block passes with its totals to the next new
 * thread, so the sum over all blocks is always right. The new owner keeps the totals that it found as its baseline; its
 * own figures are the totals minus the baseline. Events of threads without a block are counted in one shared block by
 * atomic additions.
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

/* The bytes by which a thread's live bytes may grow before it updates the estimate of the process's live bytes
 * (totals.h). */
#define HEADROOM_BYTES 65536

/* The largest request of the fast path, in bytes. */
#define LARGEST_FAST_REQUEST 32768u

/* The numbers of entries in each thread's tables of the sampler (sample/sampler.h). */
#define FILTER_BUCKETS 256u
#define LARGE_PATHS 32u

struct event_counters {
  /* `frees` and `freed_bytes` must be adjacent, because event_count_free() adds to both together. */
  counter frees;
  counter freed_bytes;
  /* `allocated_bytes` and `requested_doubled` must be adjacent, because event_count_allocation() adds to both
   * together. */
  counter allocated_bytes;
  counter requested_doubled;
  counter failed;
  counter by_class[SIZE_CLASSES]; /* event_allocations() computes the index. */
};

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
   * The headroom: the number of bytes that the thread may still allocate on the fast path. Frees raise it. If
   * EVENTS_ARE_MARKED, the value is 0 while an event is being counted. Other threads may only withdraw the headroom
   * (headroom_withdraw()) or lower it (flush_all() in totals.c), and never overwrite the 0 of an event.
   */
  int64_t headroom;
  /* The net bytes that this block has added to the estimate of the process's live bytes (totals.c). Any thread may
   * update it, by compare-and-swap. */
  int64_t flushed_live_bytes;
  uint32_t index;
  /* Set while the thread walks its Java stack, to prevent a nested walk. Only the owner writes it. */
  uint16_t walks_java;
  struct reporting {
    /* Bits of account/scopes.h. If any is set, the thread is in a scope, and all its events must take the slow path.
     * Only the owner writes them. */
    uint8_t scoped;
    /* Bits of enum thread_request. Other threads set them, and the owner acts on them at its next event on the slow
     * path. */
    uint8_t requests;
  } reporting;
  /* Counters of the sampler, one for each hash of a call path (filter_bucket_of() in sample/sampler.h). A counter is
   * the number of allocations to skip before the sampler examines the next one. */
  uint8_t filter[FILTER_BUCKETS];
  struct event_counters events;
};
_Static_assert(sizeof(struct thread_block) == 512, "at most 256 bytes for each thread besides the filter");
_Static_assert(IS_PLACE_OF_CLASSES(offsetof(struct thread_block, events.by_class), SIZE_CLASSES),
               "EVENT_ADD_ONE() needs this offset");

/* The rarely written part of a block, on other cache lines than the counters. */
struct thread_record {
  struct event_counters baseline;
  uint32_t next_free;
  bool owned;
};

/* Counts down to the next sampled allocation of one call path that allocates large objects. */
struct large_path {
  uint32_t tag;
  /* `left` counts the allocations until the next sampled one. It is drawn so that each allocation is sampled with the
   * probability 2^-level. */
  uint8_t left, level;
};

/* The state of a thread in scopes (account/scopes.h). Net bytes are the allocated minus the freed bytes of the block.
 * Only the owner writes these fields, except that flush_all() (totals.c) writes `limit` and `report_peak_at`. */
struct thread_scoping {
  /* An allocation can raise a scope's peak only if the thread's net bytes exceed `limit`. It can raise a scope's
   * largest request only if the doubled_size() of the request exceeds `largest_doubled`. */
  _Alignas(256) int64_t limit;
  uint64_t largest_doubled;
  /* The net bytes above which a thread in a scope calls peak_flush() (totals.h), which notices a new peak of the
   * process. A thread outside of scopes calls it when its `headroom` is used up. */
  int64_t report_peak_at;
  struct scope *innermost;
  /* Set while the thread uses the list of its scopes. Its signal handlers must not change the list then. */
  bool is_held;
};

/* The sampler's data of a thread, except its filters. Only the owner uses it, unless a field says otherwise. */
struct thread_sampling {
  /* The state of the random number generator. The sampler changes it at each call, so it shares no cache line with
   * other threads. */
  _Alignas(64) uint64_t random;
  struct burst burst;
  /* The number of calls of the sampler since this thread last added the cost of its calls to visits_ns (sampler.c). */
  uint32_t visits;
  /* True if the thread frees the native memory of unreachable Java objects (sample/collections.h). Threads of src/jvm
   * also write this field. */
  uintptr_t cleaner;
};

enum { BLOCKS_IN_SLAB = 64 };

/* Blocks are close together, because readers walk over all of them. A thread's other data, except its
 * thread_sampling, is at a fixed distance from its block. */
struct slab {
  _Alignas(64) struct thread_block blocks[BLOCKS_IN_SLAB];
  /* Shifts what follows by half a page, because processors briefly treat accesses as conflicting if their addresses
   * differ by a multiple of the page size. */
  uint8_t unused[2048];
  struct of_sampler {
    /* The sampling level of each counter in `filter`. Counters of level n skip a random number of allocations, so
     * that each allocation reaches the sampler with probability 2^-n. */
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

/* The value of `headroom` in a block whose thread must take the slow path at each event, such as the sentinels
 * below. It is so low that no number of frees raises it above 0. */
#define NO_HEADROOM (INT64_MIN / 2)

/* Stands for the block of a thread that has had no event. */
extern HIDDEN struct thread_block no_block_yet;
/* Stands for the block of a thread that has given its block up or found none. */
extern HIDDEN struct thread_block no_own_block;
/* Stands for the block of a thread that called thread_block_leave(), whose events are not counted. */
extern HIDDEN struct thread_block uncounted_block;

/* The calling thread's block, or one of the sentinels above. */
DECLARE_THREAD_POINTER(struct thread_block, current_block);

/* Headroom is the number of bytes that a thread may still allocate on the fast path. headroom_take() subtracts
 * allocated bytes from it, and headroom_give() adds freed bytes. Both functions return false if no headroom is left;
 * the caller must then call peak_flush_if_due() (totals.h). The sentinels above never have any headroom. */
static inline bool headroom_take(struct thread_block *block, int64_t bytes) {
  return __builtin_expect(!local_sub_exhausts(&block->headroom, bytes), 1);
}

static inline bool headroom_give(struct thread_block *block, int64_t bytes) {
  return __builtin_expect(!local_add_exhausts(&block->headroom, bytes), 1);
}

/*
 * Marks the beginning of an event on the fast path; event_end() ends it. `exhausted` means that the thread has no
 * headroom left (bytes that it may allocate on the fast path). Returns false in this case; the caller must then take
 * the slow path.
 *
 * With EVENTS_ARE_MARKED, block->headroom is 0 during the event. A signal handler that allocates during the event sees
 * the 0 and counts in the shared block (event_block()), so the interrupted event overwrites none of the handler's
 * counts. If a handler leaves by longjmp, the 0 stays, and the thread's later events are counted in the shared block.
 *
 * A handler may also run after the event has loaded block->headroom and before the event stores the 0. event_end() then
 * overwrites the handler's change of block->headroom, until the next peak_flush() corrects it. The lost change is less
 * than HEADROOM_BYTES, unless the handler opened a scope (account/scopes.h). In that case, the lost value is
 * NO_HEADROOM, which keeps the thread on the slow path; the fast path does not report events to the scope.
 *
 * Relaxed accesses suffice, because only the thread itself needs the order of the mark, and other threads do not change
 * the headroom while the mark is set.
 */
static inline bool event_mark(struct thread_block *block, bool exhausted) {
  if (__builtin_expect(exhausted, 0)) return false;
  if (EVENTS_ARE_MARKED) __atomic_store_n(&block->headroom, 0, __ATOMIC_RELAXED);
  __atomic_signal_fence(__ATOMIC_SEQ_CST);
  return true;
}

static inline bool event_begin_allocation(struct thread_block *block, size_t usable_size, int64_t *left) {
  if (!EVENTS_ARE_MARKED) return headroom_take(block, (int64_t)usable_size);
  /* A headroom of 0 or less needs no test of its own: subtracting the size then gives 0 or less, too. */
  return event_mark(
      block, difference_exhausts(left, __atomic_load_n(&block->headroom, __ATOMIC_RELAXED), (int64_t)usable_size));
}

static inline bool event_begin_free(struct thread_block *block, size_t usable_size, int64_t *left) {
  if (!EVENTS_ARE_MARKED) return headroom_give(block, (int64_t)usable_size);
  int64_t headroom = __atomic_load_n(&block->headroom, __ATOMIC_RELAXED);
  *left = headroom + (int64_t)usable_size;
  return event_mark(block, headroom <= 0);
}

/* A realloc counts as a free and an allocation. */
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

static inline int64_t thread_net(const struct thread_block *block) {
  return (int64_t)(block->events.allocated_bytes.value - block->events.freed_bytes.value);
}

/* Withdraws the headroom, the bytes by which the thread's live memory may still grow on the fast path. Each event
 * then takes the slow path until the headroom is renewed. May be called from any thread. */
static inline void headroom_withdraw(struct thread_block *block) {
  int64_t left = __atomic_load_n(&block->headroom, __ATOMIC_RELAXED);
  /* Leaves a headroom of 0 as it is if EVENTS_ARE_MARKED, because it marks an event in progress. */
  while (!(EVENTS_ARE_MARKED && left == 0) && !__atomic_compare_exchange_n(&block->headroom, &left, NO_HEADROOM, false,
                                                                           __ATOMIC_SEQ_CST, __ATOMIC_RELAXED)) {
  }
}

/* Reads the pointer at each call, which on the fast path is cheaper than keeping it across the allocator's call. */
static inline struct thread_block *own_block(void) { return THREAD_POINTER(struct thread_block, current_block); }

/* The shared block: the events of threads without a block. Only counter_add_shared() may write it. */
extern HIDDEN struct event_counters shared_events;

/*
 * Reserve and release thread key 0. A faulty program that never creates its key uses key 0. The reservation keeps key 0
 * from this library and from the loader (glibc before 2.34 creates a key when needed), so that such a program does not
 * access their data.
 */
void thread_key_0_reserve(void);
void thread_key_0_release(void);

/* Must be called once, before the first event. Each thread calls `at_hand_over` when it ends, before it gives its
 * block up. If there is no thread key, the blocks of ended threads are not reused. */
void thread_blocks_start(void (*at_hand_over)(struct thread_block *block));

struct thread_block *thread_block_acquire_first(void);

static inline bool is_thread_block(const struct thread_block *block) {
  return block != &no_block_yet && block != &no_own_block && block != &uncounted_block;
}

/*
 * Returns the calling thread's block. A thread without a block takes one here. Returns NULL if the thread's events
 * belong to shared_events. Takes no lock. Maps memory for 64 new blocks if no unused block is left. May change errno.
 */
static inline struct thread_block *thread_block_acquire(void) {
  struct thread_block *block = own_block();
  return is_thread_block(block) ? block : thread_block_acquire_first();
}

/* Returns the block for an event of the calling thread on the slow path, or NULL if the event belongs to
 * shared_events. */
static inline struct thread_block *event_block(void) {
  struct thread_block *block = thread_block_acquire();
  return block && is_in_event(block) ? NULL : block;
}

/*
 * Returns whether this allocation may come from pthread_setspecific(). For keys beyond the first 32, glibc's
 * pthread_setspecific() allocates a table. Within that allocation the library must not call pthread_setspecific(), so
 * the thread takes no block, and the event belongs to shared_events.
 */
bool thread_block_would_recurse(size_t requested);

/* Must be called before and after the library's own work. Events of the calling thread are not counted between the
 * two calls. `block` is the result of thread_block_leave(). */
struct thread_block *thread_block_leave(void);
void thread_block_return(struct thread_block *block);

/*
 * Makes each thread call `answer` once, at its next event, or at a later one if the thread is in the middle of an
 * event. A new thread calls it at its first event. Each call of this function makes all threads answer again; NULL
 * makes them stop. May be called from any thread.
 */
void thread_blocks_request_answer(void (*answer)(void));

uint8_t thread_block_answer_now(struct thread_block *block);

/*
 * Answers the requests that other threads have set in `reporting.requests`, except REQUEST_UNLINKING, which is returned
 * for the caller to answer. Called when an event finds no headroom. The acquiring load comes first: a requesting thread
 * stores its request before it stores NO_HEADROOM, so a thread that loads NO_HEADROOM also sees the request.
 */
static inline uint8_t thread_block_answer(struct thread_block *block) {
  (void)__atomic_load_n(&block->headroom, __ATOMIC_ACQUIRE);
  bool is_requested = __atomic_load_n(&block->reporting.requests, __ATOMIC_ACQUIRE) != 0;
  return __builtin_expect(is_requested, 0) ? thread_block_answer_now(block) : 0;
}

const struct event_counters *thread_baseline(const struct thread_block *block);

/*
 * thread_block_at() returns NULL if the block's slab could not be mapped. `index` must be below thread_block_count().
 */
uint32_t thread_block_count(void);
struct thread_block *thread_block_at(uint32_t index);

uint32_t thread_block_owners(void);
uint64_t threads_without_block(void);
size_t thread_blocks_footprint(void);

/* Releases, in the child of a fork, the blocks of threads that exist only in the parent. */
void thread_blocks_forked(void);

#endif
