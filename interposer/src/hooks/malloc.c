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
#include <unistd.h>

#include "account/size_class.h"
#include "account/thread_block.h"
#include "allocator/bootstrap.h"
#include "allocator/next.h"
#include "hooks/complete.h"
#include "hooks/operators.h"
#include "hooks/state.h"
#include "platform/interposed.h"

#define CALLER __builtin_return_address(0)
#define ROUNDING_BYTES 32u
#define OUT_OF_LINE __attribute__((noinline))
#define unlikely(condition) __builtin_expect(!!(condition), 0)

static OUT_OF_LINE void *malloc_slow(size_t size);
static OUT_OF_LINE void free_slow(void *object);
static OUT_OF_LINE void *calloc_slow(size_t count, size_t size);
static OUT_OF_LINE void *realloc_slow(void *object, size_t size);

/* ---- Fast path ---------------------------------------------------------------------------------------- */

/*
 * Takes an allocation of `size` from the countdown. False if the event belongs to the slow path (then nothing is
 * taken): the countdown is 0, or would be. One subtraction serves as comparison too, which the compiler would not see.
 *
 * An object may be up to 31 bytes larger than the request (glibc rounds up, and leaves no remainder too small for a
 * chunk). These are taken too, so that the countdown bounds live bytes whatever the sizes. A size so close to SIZE_MAX
 * that the sum wraps passes, and fails in the allocator; with a countdown of 0 it does not pass either.
 */
static inline bool count_down(struct thread_block *block, size_t size) {
  uint64_t left = __atomic_load_n(&block->countdown, __ATOMIC_RELAXED);
  uint64_t taken = size + ROUNDING_BYTES;
  bool exhausted;
#if defined(__x86_64__)
  __asm__("subq %2, %0" : "+r"(left), "=@ccbe"(exhausted) : "r"(taken));
#else
  exhausted = left <= taken;
  left -= taken;
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

/* ---- Slow path: passed on at once if nothing is counted, so that such a process pays for nothing else ---- */

static inline bool forwarding(void) { return __atomic_load_n(&hook_state, __ATOMIC_ACQUIRE) == HOOK_FORWARDING; }

static void *malloc_slow(size_t size) { return forwarding() ? next.malloc(size) : complete_malloc(size); }

static void free_slow(void *object) {
  if (forwarding() && (uintptr_t)object >= low_range_end) {
    next.free(object);
  } else {
    complete_free(object);
  }
}

static void *calloc_slow(size_t count, size_t size) {
  return forwarding() ? next.calloc(count, size) : complete_calloc(count, size);
}

static void *realloc_slow(void *object, size_t size) {
  return forwarding() && (uintptr_t)object >= low_range_end ? next.realloc(object, size)
                                                            : complete_realloc(object, size);
}

/* ---- Functions that are rare enough to be slow always ------------------------------------------------- */

void *reallocarray(void *object, size_t count, size_t size) {
  size_t bytes;
  if (!__builtin_mul_overflow(count, size, &bytes)) return realloc(object, bytes);
  complete_failure();
  return NULL;
}

void *memalign(size_t alignment, size_t size) {
  return forwarding() ? next.memalign(alignment, size) : complete_memalign(alignment, size);
}

void *aligned_alloc(size_t alignment, size_t size) {
  return forwarding() ? next.aligned_alloc(alignment, size) : complete_aligned_alloc(alignment, size);
}

int posix_memalign(void **object, size_t alignment, size_t size) {
  if (forwarding()) return next.posix_memalign(object, alignment, size);
  int saved_errno = errno;
  void *allocated = NULL;
  int error = EINVAL;
  if (alignment % sizeof(void *) == 0 && alignment != 0 && (alignment & (alignment - 1)) == 0) {
    allocated = complete_memalign(alignment, size);
    error = ENOMEM;
  } else {
    complete_failure();
  }
  errno = saved_errno;
  if (!allocated) return error;
  *object = allocated;
  return 0;
}

/* Few allocators have these two; memalign of the same allocator does the same. */
void *valloc(size_t size) { return memalign((size_t)getpagesize(), size); }

void *pvalloc(size_t size) {
  size_t page = (size_t)getpagesize();
  size_t rounded = (size + page - 1) & ~(page - 1);
  if (rounded < size) rounded = SIZE_MAX; /* fails as it must */
  return memalign(page, rounded ? rounded : page);
}

size_t malloc_usable_size(void *object) {
  return forwarding() && (uintptr_t)object >= low_range_end ? next.usable_size(object) : complete_usable_size(object);
}

/* ---- C++ ---------------------------------------------------------------------------------------------- */

/*
 * The operators are ours whatever lies below. An allocator that brings its own would otherwise serve `new` past us;
 * the C++ library's would come back through malloc, one call later. One event for one allocation either way.
 * Every form of delete is free by another name, and costs nothing more.
 */

static inline void *allocate(size_t size) {
  if (unlikely(!count_down(own_block(), size))) return malloc_slow(size);
  return counted(next.malloc(size), size);
}

void *operator_new(size_t size) {
  void *object = allocate(size);
  return unlikely(!object) ? operator_new_fails(size, CALLER) : object;
}

void *operator_new_nothrow(size_t size, const void *nothrow) {
  void *object = allocate(size);
  return unlikely(!object) ? operator_new_nothrow_fails(size, nothrow, CALLER) : object;
}

void *operator_new_aligned(size_t size, size_t alignment) {
  void *object = memalign(alignment, size);
  return unlikely(!object) ? operator_new_aligned_fails(size, alignment, CALLER) : object;
}

void *operator_new_aligned_nothrow(size_t size, size_t alignment, const void *nothrow) {
  void *object = memalign(alignment, size);
  return unlikely(!object) ? operator_new_aligned_nothrow_fails(size, alignment, nothrow, CALLER) : object;
}

#define ALIAS(target) __attribute__((visibility("default"), alias(target)))
#define NAME_OF_FREE(name)         \
  void name(void *) ALIAS("free"); \
  /* a semicolon of its own */
/* Only the first argument, the object, matters; the others stay in registers that nobody reads. */
EACH_NAME_OF_FREE(NAME_OF_FREE)

void *operator_new_array(size_t) __asm__("_Znam") ALIAS("_Znwm");
void *operator_new_array_nothrow(size_t, const void *) __asm__("_ZnamRKSt9nothrow_t") ALIAS("_ZnwmRKSt9nothrow_t");
void *operator_new_array_aligned(size_t, size_t) __asm__("_ZnamSt11align_val_t") ALIAS("_ZnwmSt11align_val_t");
void *operator_new_array_aligned_nothrow(size_t, size_t, const void *) __asm__("_ZnamSt11align_val_tRKSt9nothrow_t")
    ALIAS("_ZnwmSt11align_val_tRKSt9nothrow_t");
