/*
 * What is counted lives in one block a thread, so that counting shares no cache line and needs no atomic
 * instruction.
 *
 * A thread meets its block through one pointer in initial-exec TLS. Until its first event the pointer leads to
 * a sentinel whose countdown is 0, and a countdown of 0 sends every event to the slow path: one comparison
 * covers "first use", "switched off", "about to publish to the peak" and "sizes must be asked for".
 *
 * Blocks are carved from slabs that are never unmapped. When a thread ends, its block passes to the next new
 * thread, totals and all: the sum over all blocks is the truth at any time, and nothing is ever folded or freed.
 * The new owner notes the totals it found, its baseline, for figures of its own. Events after the hand-over
 * (destructors that run later still), and those of threads that found no block, go to one shared block that
 * is written atomically.
 */
#ifndef MALLOMETER_ACCOUNT_THREAD_BLOCK_H
#define MALLOMETER_ACCOUNT_THREAD_BLOCK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "account/counter.h"
#include "mallometer.h"
#include "platform/visibility.h"

/*
 * Bytes that a thread allocates between two visits of the slow path, the allocator's rounding included. It bounds what
 * a thread can hold back from the peak, and every larger request takes the slow path, which alone knows the open size
 * classes.
 */
#define COUNTDOWN_BYTES 32768u

#ifndef MAXIMUM_BLOCKS /* tests build a library with few */
#define MAXIMUM_BLOCKS 65536u
#endif

struct event_counters {
  counter frees;
  counter freed_bytes;
  counter allocated_bytes;
  counter requested_bytes;
  counter allocations[MALLOMETER_SIZE_CLASSES];
  counter failed;
};

struct thread_block {
  /* Bytes until the slow path. Written by the owner; others only ever store 0. */
  uint64_t countdown;
  struct event_counters events;
  /* Net bytes of this block that the peak's estimate contains. Written by whoever flushes (totals.c). */
  int64_t flushed_live_bytes;
  /* Bytes until the next flush while every event takes the slow path. Owner only. */
  int64_t slow_bytes_to_flush;
  /* Its own number; fixed since it was carved. */
  uint32_t index;
  uint32_t unused[7];
};
_Static_assert(sizeof(struct thread_block) == 256, "DESIGN: at most 256 bytes a thread");

/* Read-mostly companion of a block, kept apart from the lines that events write. */
struct thread_record {
  struct event_counters baseline;
  /* Index of the next block on the list of blocks without owner. */
  uint32_t next_free;
  bool owned;
  /* Rounds of thread-key destructors that the ending owner has gone through. */
  uint8_t destructor_rounds;
};

/* Its countdown is 0 for ever: the thread has had no event yet. */
extern HIDDEN struct thread_block no_block_yet;
/* Likewise: the thread has handed its block over, or there was none for it. */
extern HIDDEN struct thread_block shared_only;

/* Calling thread's block or a sentinel. 8 of the 64 bytes of TLS that a late dlopen can count on. */
extern HIDDEN __thread struct thread_block *current_block __attribute__((tls_model("initial-exec")));

/*
 * Reads current_block afresh. The fast path does so before and after the allocator's call; the compiler would rather
 * keep the variable's address in a register across the call, which costs four instructions to save two.
 */
static inline struct thread_block *own_block(void) {
#if defined(__x86_64__)
  struct thread_block *block;
  __asm__ volatile("movq current_block@gottpoff(%%rip), %0\n\tmovq %%fs:(%0), %0" : "=r"(block));
  return block;
#else
  return current_block;
#endif
}

/* The block of events without a block. Only counter_add_shared may write it. */
extern HIDDEN struct event_counters shared_events;

/* Called once, before the first event. Never fails: without a key, blocks stay with the threads that died. */
void thread_blocks_start(void);

/* thread_block_acquire()'s rare part. */
struct thread_block *thread_block_acquire_first(void);

/* Whether `block` is a real one rather than a sentinel. */
static inline bool is_thread_block(const struct thread_block *block) {
  return block != &no_block_yet && block != &shared_only;
}

/*
 * The calling thread's own block, taken now if it has none yet; NULL if its events belong to shared_events.
 * Takes no lock; maps a slab for every 64th thread that lives at the same time. May change errno.
 */
static inline struct thread_block *thread_block_acquire(void) {
  struct thread_block *block = own_block();
  return is_thread_block(block) ? block : thread_block_acquire_first();
}

/*
 * Whether an allocation of `requested` bytes must not be the event with which the calling thread takes its block. glibc
 * keeps a thread's values of all keys but the first 32 in tables that pthread_setspecific allocates; if ours is one of
 * those, pthread_setspecific must not be called in the middle of that allocation. The event belongs to shared_events.
 */
bool thread_block_must_wait(size_t requested);

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

/* Sends every thread to the slow path at its next event. */
void thread_blocks_stop_countdowns(void);

/* In the child of a fork: the blocks of the threads that do not exist there become available. */
void thread_blocks_forked(void);

#endif
