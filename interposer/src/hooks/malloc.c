/*
 * The way in: every function by which a C program allocates or frees.
 *
 * First the fast path, meant to be read top to bottom. An event costs one comparison against the thread's
 * countdown, the allocator's own call, and four additions to lines that belong to this thread (two for a free).
 * The comparison fails, and the second half of this file takes over, when the thread has no block yet, when
 * counting is off, when the object's size must be asked for, and once every COUNTDOWN_BYTES.
 *
 * Nothing here allocates, locks, enters the loader or changes errno, except through the allocator that is called
 * anyway; the slow path keeps errno where it calls anything else. docs/cost.md accounts for each instruction.
 */
#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include "account/size_class.h"
#include "account/thread_block.h"
#include "account/totals.h"
#include "allocator/bootstrap.h"
#include "allocator/next.h"
#include "hooks/interposed.h"
#include "hooks/state.h"

#define OUT_OF_LINE __attribute__((noinline))
#define unlikely(condition) __builtin_expect(!!(condition), 0)

static OUT_OF_LINE void *malloc_slow(size_t size);
static OUT_OF_LINE void free_slow(void *object);
static OUT_OF_LINE void *calloc_slow(size_t count, size_t size);
static OUT_OF_LINE void *realloc_slow(void *object, size_t size);

/* ---- Fast path ---------------------------------------------------------------------------------------- */

/*
 * Takes `size` from the countdown. False if the event belongs to the slow path (then nothing is taken): the
 * countdown is 0, or would be. One subtraction serves as comparison too, which the compiler would not see.
 */
static inline bool count_down(struct thread_block *block, size_t size) {
  uint64_t left = __atomic_load_n(&block->countdown, __ATOMIC_RELAXED);
  bool exhausted;
#if defined(__x86_64__)
  __asm__("subq %2, %0" : "+r"(left), "=@ccbe"(exhausted) : "r"(size));
#else
  exhausted = left <= size;
  left -= size;
#endif
  if (unlikely(exhausted)) return false;
  __atomic_store_n(&block->countdown, left, __ATOMIC_RELAXED);
  return true;
}

static inline bool is_stopped(const struct thread_block *block) {
#if defined(__x86_64__)
  bool zero;
  __asm__ volatile("cmpq $0, %1" : "=@ccz"(zero) : "m"(block->countdown));
  return zero;
#else
  return __atomic_load_n(&block->countdown, __ATOMIC_RELAXED) == 0;
#endif
}

/*
 * The thread's block is read again after the allocator's call: cheaper than to keep it across. A size that passed
 * count_down is below COUNTDOWN_BYTES, so its class needs no upper bound.
 */
static inline void *counted(void *object, size_t size) {
  struct event_counters *events = &own_block()->events;
  if (unlikely(!object)) {
    counter_add(&events->failed, 1);
    return NULL;
  }
  counter_add(&events->allocated_bytes, glibc_usable_size(object));
  counter_add(&events->requested_bytes, size);
  counter_add(&events->allocations[size_class_unbounded(size)], 1);
  return object;
}

void *malloc(size_t size) {
  if (unlikely(!count_down(own_block(), size))) return malloc_slow(size);
  return counted(next.malloc(size), size);
}

void free(void *object) {
  /* NULL, the bootstrap buffer and everything before the first event lie below. */
  if (unlikely((uintptr_t)object < low_range_end)) return free_slow(object);
  struct thread_block *block = own_block();
  if (unlikely(is_stopped(block))) return free_slow(object);
  counter_add(&block->events.freed_bytes, glibc_usable_size(object));
  counter_add(&block->events.frees, 1);
  next.free(object);
}

void *calloc(size_t count, size_t size) {
  size_t bytes;
  if (unlikely(__builtin_mul_overflow(count, size, &bytes) || !count_down(own_block(), bytes))) {
    return calloc_slow(count, size);
  }
  return counted(next.calloc(count, size), bytes);
}

void *realloc(void *object, size_t size) {
  if (unlikely((uintptr_t)object < low_range_end || size == 0 || !count_down(own_block(), size))) {
    return realloc_slow(object, size);
  }
  size_t old_size = glibc_usable_size(object);
  void *moved = counted(next.realloc(object, size), size);
  if (unlikely(!moved)) return NULL;
  counter_add(&own_block()->events.freed_bytes, old_size);
  counter_add(&own_block()->events.frees, 1);
  return moved;
}

/* ---- Slow path: first use, switched off, foreign allocators, large requests, peak --------------------- */

/* Counts one allocation in every state but HOOK_FORWARDING. `object` is NULL if it failed. Keeps errno. */
static void record_allocation(void *object, size_t size) {
  int saved_errno = errno;
  hook_was_reached = true;
  struct thread_block *block = thread_block_acquire();
  if (!object) {
    if (block) {
      counter_add(&block->events.failed, 1);
    } else {
      counter_add_shared(&shared_events.failed, 1);
    }
  } else {
    size_t usable = sizes_from_chunks ? glibc_usable_size(object) : next.usable_size(object);
    if (block) {
      counter_add(&block->events.allocated_bytes, usable);
      counter_add(&block->events.requested_bytes, size);
      counter_add(&block->events.allocations[size_class(size)], 1);
      if (sizes_from_chunks) {
        __atomic_store_n(&block->countdown, COUNTDOWN_BYTES, __ATOMIC_RELAXED);
        peak_flush(block);
      } else if ((block->slow_bytes_to_flush -= (int64_t)size) <= 0 || size > COUNTDOWN_BYTES) {
        block->slow_bytes_to_flush = COUNTDOWN_BYTES;
        peak_flush(block);
      }
    } else {
      counter_add_shared(&shared_events.allocated_bytes, usable);
      counter_add_shared(&shared_events.requested_bytes, size);
      counter_add_shared(&shared_events.allocations[size_class(size)], 1);
    }
    if (size > COUNTDOWN_BYTES) record_large_request(size, huge_threshold);
  }
  errno = saved_errno;
}

/* Counts one free of an object of `usable` bytes. */
static void record_free(size_t usable) {
  int saved_errno = errno;
  struct thread_block *block = thread_block_acquire();
  if (block) {
    counter_add(&block->events.freed_bytes, usable);
    counter_add(&block->events.frees, 1);
    if (sizes_from_chunks) __atomic_store_n(&block->countdown, COUNTDOWN_BYTES, __ATOMIC_RELAXED);
  } else {
    counter_add_shared(&shared_events.freed_bytes, usable);
    counter_add_shared(&shared_events.frees, 1);
  }
  errno = saved_errno;
}

static size_t usable_size(void *object) {
  return sizes_from_chunks ? glibc_usable_size(object) : next.usable_size(object);
}

static inline bool forwarding(void) { return __atomic_load_n(&hook_state, __ATOMIC_ACQUIRE) == HOOK_FORWARDING; }

static OUT_OF_LINE void *malloc_recorded(size_t size) {
  if (!hook_ready()) return bootstrap_allocate(1, size);
  void *object = next.malloc(size);
  record_allocation(object, size);
  return object;
}

static OUT_OF_LINE void free_recorded(void *object) {
  if (!object || is_bootstrap(object)) return;
  if (forwarding()) {
    next.free(object);
  } else if (hook_ready()) { /* else a bootstrap object, which are all that the resolving thread has */
    record_free(usable_size(object));
    next.free(object);
  }
}

/* These two are thin so that a process that does not count pays for nothing else, not even a stack frame. */
static OUT_OF_LINE void *malloc_slow(size_t size) {
  if (forwarding()) return next.malloc(size);
  return malloc_recorded(size);
}

static OUT_OF_LINE void free_slow(void *object) {
  if (forwarding() && (uintptr_t)object >= low_range_end) {
    next.free(object);
    return;
  }
  free_recorded(object);
}

static void *calloc_slow(size_t count, size_t size) {
  size_t bytes;
  if (__builtin_mul_overflow(count, size, &bytes)) bytes = SIZE_MAX;
  if (forwarding()) return next.calloc(count, size);
  if (!hook_ready()) return bootstrap_allocate(1, bytes);
  void *object = next.calloc(count, size);
  record_allocation(object, bytes);
  return object;
}

/* An object of the bootstrap buffer moves to the allocator and is an allocation there. */
static void *realloc_bootstrap(void *object, size_t size) {
  void *moved = malloc(size);
  size_t old_size = bootstrap_size(object);
  if (moved) memcpy(moved, object, old_size < size ? old_size : size);
  return moved;
}

static void *realloc_slow(void *object, size_t size) {
  if (!object) return malloc_slow(size);
  if (is_bootstrap(object)) return realloc_bootstrap(object, size);
  if (forwarding()) return next.realloc(object, size);
  if (!hook_ready()) return NULL;
  size_t old_size = usable_size(object);
  void *moved = next.realloc(object, size);
  if (moved || size > 0) record_allocation(moved, size);
  if (moved || size == 0) record_free(old_size);
  return moved;
}

/* ---- Functions that are rare enough to be slow always ------------------------------------------------- */

void *reallocarray(void *object, size_t count, size_t size) {
  size_t bytes;
  if (__builtin_mul_overflow(count, size, &bytes)) {
    errno = ENOMEM;
    if (!forwarding() && hook_ready()) record_allocation(NULL, SIZE_MAX);
    return NULL;
  }
  return realloc(object, bytes);
}

void *memalign(size_t alignment, size_t size) {
  if (forwarding()) return next.memalign(alignment, size);
  if (!hook_ready()) return bootstrap_allocate(alignment, size);
  void *object = next.memalign(alignment, size);
  record_allocation(object, size);
  return object;
}

void *aligned_alloc(size_t alignment, size_t size) {
  if (forwarding()) return next.aligned_alloc(alignment, size);
  if (!hook_ready()) return bootstrap_allocate(alignment, size);
  void *object = next.aligned_alloc(alignment, size);
  record_allocation(object, size);
  return object;
}

int posix_memalign(void **object, size_t alignment, size_t size) {
  if (forwarding()) return next.posix_memalign(object, alignment, size);
  if (!hook_ready()) {
    *object = bootstrap_allocate(alignment, size);
    return *object ? 0 : ENOMEM;
  }
  int error = next.posix_memalign(object, alignment, size);
  record_allocation(error ? NULL : *object, size);
  return error;
}

/* Few allocators have these two; memalign of the same allocator does the same. */
void *valloc(size_t size) { return memalign((size_t)getpagesize(), size); }

void *pvalloc(size_t size) {
  size_t page = (size_t)getpagesize();
  size_t rounded = (size + page - 1) & ~(page - 1);
  if (rounded < size) rounded = SIZE_MAX; /* fails as it must */
  return memalign(page, rounded ? rounded : page);
}

/* C library functions of old programs and of C23. */
void cfree(void *object) { free(object); }

void free_sized(void *object, size_t size) {
  (void)size;
  free(object);
}

void free_aligned_sized(void *object, size_t alignment, size_t size) {
  (void)alignment;
  (void)size;
  free(object);
}

size_t malloc_usable_size(void *object) {
  if (!object) return 0;
  if (is_bootstrap(object)) return bootstrap_size(object);
  if (!forwarding() && !hook_ready()) return 0;
  return next.usable_size(object);
}
