/* Allocates thread blocks in slabs, and passes the blocks of ended threads to new threads. See thread_block.h. */
#include "account/thread_block.h"

#include <pthread.h>

#include "platform/glibc_versions.h"
#include "platform/libc.h"
#include "platform/memory.h"
#include "platform/shared_words.h"

#ifndef MAXIMUM_BLOCKS /* tests build a library with fewer blocks */
#define MAXIMUM_BLOCKS 65536u
#endif
#define SLABS (MAXIMUM_BLOCKS / BLOCKS_IN_SLAB)
#define NO_INDEX UINT32_MAX

struct thread_block no_block_yet = {.headroom = NO_HEADROOM};
struct thread_block no_own_block = {.headroom = NO_HEADROOM};
struct thread_block uncounted_block = {.headroom = NO_HEADROOM};
DEFINE_THREAD_POINTER(struct thread_block, current_block, &no_block_yet);
_Alignas(64) struct event_counters shared_events;

static struct slab *slabs[SLABS];
static uint32_t indices_taken;
static free_list unowned;
static uint32_t owners;
static uint64_t blockless_threads;
static uint32_t slabs_mapped;
static pthread_key_t exit_key;
static bool exit_key_exists;

/* ---- Addresses of blocks ------------------------------------------------------------------------------ */

static struct slab *slab_of(uint32_t index) {
  return __atomic_load_n(&slabs[index / BLOCKS_IN_SLAB], __ATOMIC_ACQUIRE);
}

uint32_t thread_block_count(void) {
  uint32_t taken = __atomic_load_n(&indices_taken, __ATOMIC_ACQUIRE);
  return taken < MAXIMUM_BLOCKS ? taken : MAXIMUM_BLOCKS;
}

struct thread_block *thread_block_at(uint32_t index) {
  struct slab *slab = slab_of(index);
  return slab ? &slab->blocks[index % BLOCKS_IN_SLAB] : NULL;
}

static struct thread_record *record_at(uint32_t index) {
  struct slab *slab = slab_of(index);
  return slab ? &slab->others[index % BLOCKS_IN_SLAB].record : NULL;
}

const struct event_counters *thread_baseline(const struct thread_block *block) {
  return &record_at(block->index)->baseline;
}

/* ---- The list of unowned blocks ----------------------------------------------------------------------- */

static uint32_t *next_unowned(uint32_t index) { return &record_at(index)->next_free; }

static void push_free(uint32_t index) { free_list_push(&unowned, index, next_unowned(index)); }

static bool map_slab_of(uint32_t index) {
  struct slab **place = &slabs[index / BLOCKS_IN_SLAB];
  if (__atomic_load_n(place, __ATOMIC_ACQUIRE)) return true;
  struct slab *fresh = memory_map(NULL, sizeof *fresh);
  if (!fresh) return false;
  struct slab *expected = NULL;
  if (__atomic_compare_exchange_n(place, &expected, fresh, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) {
    __atomic_fetch_add(&slabs_mapped, 1, __ATOMIC_RELAXED);
  } else {
    memory_unmap(fresh, sizeof *fresh); /* another thread has stored its slab first */
  }
  return true;
}

static uint32_t take_new_index(void) {
  if (thread_block_count() == MAXIMUM_BLOCKS) return NO_INDEX;
  uint32_t index = __atomic_fetch_add(&indices_taken, 1, __ATOMIC_ACQ_REL);
  if (index >= MAXIMUM_BLOCKS) return NO_INDEX;
  if (!map_slab_of(index)) return NO_INDEX;
  thread_block_at(index)->index = index;
  return index;
}

/* ---- A thread's beginning and end --------------------------------------------------------------------- */

static void release_block(uint32_t index) {
  record_at(index)->owned = false;
  __atomic_fetch_sub(&owners, 1, __ATOMIC_RELAXED);
  push_free(index);
}

/* Returns false if a signal handler has meanwhile taken a block for this thread. The thread then keeps the handler's
 * block. */
static bool make_current(struct thread_block *block) {
  return THREAD_POINTER_REPLACE(struct thread_block, current_block, &no_block_yet, block);
}

static struct thread_block *own_block_or_null(void) {
  struct thread_block *block = own_block();
  return is_thread_block(block) ? block : NULL;
}

bool thread_block_would_recurse(size_t requested) {
  enum { KEYS_IN_TABLE = 32, TABLE_BYTES = KEYS_IN_TABLE * 16 };
  return requested == TABLE_BYTES && exit_key_exists && exit_key >= KEYS_IN_TABLE && own_block() == &no_block_yet;
}

static void (*requested_answer)(void);

static bool has_headroom(const struct thread_block *block) {
  return __atomic_load_n(&block->headroom, __ATOMIC_RELAXED) > NO_HEADROOM / 2;
}

void thread_blocks_request_answer(void (*answer)(void)) {
  __atomic_store_n(&requested_answer, answer, __ATOMIC_SEQ_CST);
  if (!answer) return;
  for (uint32_t i = 0; i < thread_block_count(); i++) {
    struct thread_block *block = thread_block_at(i);
    if (!block || !__atomic_load_n(&record_at(i)->owned, __ATOMIC_SEQ_CST)) continue;
    __atomic_fetch_or(&block->reporting.requests, REQUEST_ANSWER, __ATOMIC_RELEASE);
    headroom_withdraw(block);
  }
  /* headroom_withdraw() may have no effect while the owner counts an event, because the event stores a new headroom
   * at its end. (Headroom: the bytes that the thread may allocate on the fast path.) An event takes some fifteen
   * instructions, so the loop below withdraws the headroom again where needed: three times, each after a short wait. */
  for (int again = 0; again < 3; again++) {
    for (volatile int moment = 0; moment < 1000;) moment = moment + 1;
    for (uint32_t i = 0; i < thread_block_count(); i++) {
      struct thread_block *block = thread_block_at(i);
      if (block && __atomic_load_n(&block->reporting.requests, __ATOMIC_ACQUIRE) && has_headroom(block))
        headroom_withdraw(block);
    }
  }
}

uint8_t thread_block_answer_now(struct thread_block *block) {
  uint8_t requests = __atomic_exchange_n(&block->reporting.requests, 0, __ATOMIC_ACQUIRE);
  void (*answer)(void) = requests & REQUEST_ANSWER ? __atomic_load_n(&requested_answer, __ATOMIC_ACQUIRE) : NULL;
  if (answer) answer();
  return requests & (uint8_t)~REQUEST_ANSWER;
}

struct thread_block *thread_block_acquire_first(void) {
  if (own_block() != &no_block_yet) return own_block_or_null();

  uint32_t index = free_list_pop(&unowned, next_unowned);
  if (index == NO_INDEX) index = take_new_index();
  if (index == NO_INDEX) {
    if (make_current(&no_own_block)) __atomic_fetch_add(&blockless_threads, 1, __ATOMIC_RELAXED);
    return own_block_or_null();
  }
  struct thread_block *block = thread_block_at(index);
  struct thread_record *record = record_at(index);
  record->baseline = block->events;
  /* block->headroom must not stay 0, because is_in_event() takes 0 to mean that the thread is counting an event. It
   * is 0 in a new block. In a forked child it is also 0 if the block's earlier owner was counting an event at the
   * fork. */
  if (block->headroom == 0) block->headroom = -1;
  block->walks_java = 0;
  __atomic_store_n(&thread_sampling(block)->cleaner, 0, __ATOMIC_RELAXED);
  /* Stores `owned` before loading `requested_answer`. thread_blocks_request_answer() stores `requested_answer`
   * before loading `owned`. So at least one of the two threads sees the store of the other. */
  __atomic_store_n(&record->owned, true, __ATOMIC_SEQ_CST);
  block->reporting = (struct reporting){0, __atomic_load_n(&requested_answer, __ATOMIC_SEQ_CST) ? REQUEST_ANSWER : 0};
  __atomic_fetch_add(&owners, 1, __ATOMIC_RELAXED);
  if (!make_current(block)) {
    release_block(index);
    return own_block_or_null();
  }
  /* `current_block` already points to the block. The block therefore counts the allocations of
   * pthread_setspecific(), and those of signal handlers during that call. */
  if (exit_key_exists) pthread_setspecific(exit_key, block);
  return block;
}

static void (*at_hand_over)(struct thread_block *block);

/*
 * Releases the block of the calling thread, which is ending. Events of later key destructors are counted in the shared
 * block. Keeping the block until the next round of destructors would cost 500 instructions for each thread in glibc.
 * The key's value is ignored, because a program that uses a wrong key may have overwritten it.
 */
static void on_thread_end(void *unused) {
  (void)unused;
  struct thread_block *block = own_block_or_null();
  if (!block) return;
  thread_block_answer(block);
  at_hand_over(block);
  THREAD_POINTER_SET(current_block, &no_own_block);
  release_block(block->index);
}

struct thread_block *thread_block_leave(void) {
  struct thread_block *own = own_block();
  THREAD_POINTER_SET(current_block, &uncounted_block);
  return own;
}

void thread_block_return(struct thread_block *block) { THREAD_POINTER_SET(current_block, block); }

static pthread_key_t first_key;
static bool first_key_exists;

void thread_key_0_reserve(void) { first_key_exists = thread_keys_exist() && pthread_key_create(&first_key, NULL) == 0; }

void thread_key_0_release(void) {
  if (first_key_exists) pthread_key_delete(first_key);
}

void thread_blocks_start(void (*call_at_hand_over)(struct thread_block *block)) {
  at_hand_over = call_at_hand_over;
  THREAD_POINTER_START(current_block);
  exit_key_exists = thread_keys_exist() && pthread_key_create(&exit_key, on_thread_end) == 0;
}

void thread_blocks_forked(void) {
  for (uint32_t i = 0; i < thread_block_count(); i++) {
    struct thread_record *record = record_at(i);
    if (!record || !record->owned || thread_block_at(i) == own_block()) continue;
    record->owned = false;
    push_free(i);
  }
  __atomic_store_n(&owners, is_thread_block(own_block()) ? 1 : 0, __ATOMIC_RELAXED);
}

/* ---- Counts for readers ------------------------------------------------------------------------------- */

uint32_t thread_block_owners(void) { return __atomic_load_n(&owners, __ATOMIC_RELAXED); }

uint64_t threads_without_block(void) { return __atomic_load_n(&blockless_threads, __ATOMIC_RELAXED); }

size_t thread_blocks_footprint(void) {
  return memory_whole_pages(sizeof(struct slab)) * __atomic_load_n(&slabs_mapped, __ATOMIC_RELAXED);
}
