/*
 * The entry: every function by which a C program allocates or frees.
 *
 * Each function jumps to an address in `entry`, which hook_open_route() sets (hooks/route.h). The counted route serves
 * the usual case. It calls the allocator and subtracts the size from the thread's headroom, the bytes that the thread
 * may add before it must update the process's total (account/thread_block.h). It then makes four additions to cache
 * lines of this thread (three for a free), and advances a countdown that picks the allocations for the sampler.
 *
 * Rarer cases leave this route, such as a thread's first event, an event that a scope measures (account/scopes.h), the
 * end of the countdown, or a freed object that may be a sample. Requests above 32 KiB take the same steps in other
 * functions (large_malloc() and the like), because the sampler keeps separate countdowns for their call paths.
 *
 * This file does not allocate, lock, enter the loader or change errno, except through the allocator; the slow path
 * preserves errno around other calls. ARCHITECTURE.md accounts for each instruction.
 */
#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "account/huge_requests.h"
#include "account/scopes.h"
#include "account/size_class.h"
#include "account/thread_block.h"
#include "allocator/bootstrap.h"
#include "allocator/glibc.h"
#include "allocator/next.h"
#include "hooks/complete.h"
#include "hooks/interposed.h"
#include "hooks/operators.h"
#include "hooks/route.h"
#include "hooks/state.h"
#include "platform/memory.h"
#include "sample/live_samples.h"
#include "sample/sampler.h"

/*
 * Belongs directly after a call. The assembly hides how `value` was computed. The compiler therefore saves `value`
 * during the call, and computes numbers that depend on `value` only after the call.
 */
#define keep_only(value) __asm__("" : "+r"(*(value)))

/* The program's call. Use this macro only in functions that are reached by jumps, not by further calls: the return
 * address must be the program's. */
#define ORIGIN ((struct origin){__builtin_return_address(0), __builtin_dwarf_cfa()})
/* Like ORIGIN. `frameless` must be a compile-time constant: true in a function that has no stack frame
 * (FRAMELESS_CALLS). */
#define ORIGIN_IN(frameless) ((frameless) ? (struct origin){frameless_caller(), __builtin_dwarf_cfa()} : ORIGIN)
/* Inlined code still has the program's return address, which ORIGIN reads. */
#define INLINE static inline __attribute__((always_inline))
#define OUT_OF_LINE __attribute__((noinline))
#define unlikely(condition) __builtin_expect(!!(condition), 0)

static OUT_OF_LINE void free_possible_sample(void *object);
static void *count_without_headroom(void *object, size_t doubled, struct origin origin);
static void *count_move_without_headroom(void *moved, size_t old_size, size_t doubled, struct origin origin);
static void *count_large_without_headroom(void *object, size_t size, struct origin origin);
static void free_without_headroom(void *object);
static OUT_OF_LINE void *visit_sampler(void *object, size_t doubled, struct origin origin);

static void *large_malloc(size_t size, struct origin origin);
static void *large_calloc(size_t bytes, struct origin origin);
static void *large_realloc(void *object, size_t size, struct origin origin);

/* ---- Functions that count the usual requests (ROUTE_COUNTED) ------------------------------------------ */

/* Returns whether a request, given its doubled_size(), has 1 to LARGEST_FAST_REQUEST bytes, so that the fast path
 * serves it. Doubling a size above 2^63 overflows, so such a request may pass the test; the allocator then refuses
 * it. */
INLINE bool is_usual(size_t doubled) { return is_below_power(doubled, 16); }
_Static_assert(2 * LARGEST_FAST_REQUEST == 1 << 16, "is_usual() tests 16 bits: keep it equal to LARGEST_FAST_REQUEST");

/* Counts an allocation that fits into the thread's headroom, the bytes that the thread may add before it must update
 * the process's total (account/thread_block.h). */
INLINE void *count_usual_allocation(struct thread_block *block, void *object, size_t usable_size, size_t doubled,
                                    int64_t left, bool frameless) {
  size_t class = size_class_of_doubled(doubled);
  event_count_allocation(block, usable_size, doubled, class);
  event_end(block, left);
  uintptr_t path = frameless ? frameless_path(class) : filter_path(ORIGIN, class);
  if (filter_visits(block, filter_bucket_of(path))) return visit_sampler(object, doubled, ORIGIN_IN(frameless));
  KEEP_IN_RETURN_REGISTER(object);
  if (!object) __builtin_unreachable();
  return object;
}

/* Counts the result of a request for which is_usual() is true. Looks up the thread's counters after the allocator's
 * call, which is cheaper than keeping their address during the call. */
INLINE void *count_usual_outcome(void *object, size_t doubled, bool frameless) {
  KEEP_IN_RETURN_REGISTER(object);
  struct thread_block *block = own_block(); /* read before the branch, which saves an instruction */
  if (unlikely(!object)) return complete_count_allocation(NULL, size_of_doubled(doubled), ORIGIN_IN(frameless));
  size_t usable_size = glibc_usable_size(object);
  int64_t left = 0;
  if (unlikely(!event_begin_allocation(block, usable_size, &left))) {
    return count_without_headroom(object, doubled, ORIGIN_IN(frameless));
  }
  return count_usual_allocation(block, object, usable_size, doubled, left, frameless);
}

static void *counted_malloc(size_t size) {
  size_t doubled = doubled_size(size);
  if (unlikely(!is_usual(doubled))) return large_malloc(size, ORIGIN_IN(FRAMELESS_CALLS));
  void *object = CALL_KEEPING(doubled, next.malloc, size);
  return count_usual_outcome(object, doubled, FRAMELESS_CALLS);
}

INLINE void counted_free_of(void *object, bool tracked) {
  /* NULL and the objects on pages of their own (leak/slots.h) are below this address. The bootstrap buffer is
   * usually below it, too; where it is not, ranged_free() handles its objects. */
  if (unlikely((uintptr_t)object < NEAR_VALUE(low_range_end))) return complete_free(object);
  if (tracked && may_be_sampled(object)) return free_possible_sample(object);
  struct thread_block *block = own_block();
  size_t usable_size = glibc_usable_size(object);
  int64_t left = 0;
  if (unlikely(!event_begin_free(block, usable_size, &left))) return free_without_headroom(object);
  event_count_free(block, usable_size);
  event_end(block, left);
  JUMP_TARGET(next.free)(object);
}

static void counted_free(void *object) { counted_free_of(object, false); }

/* Frees an object whose hash is that of a live sample. Few such objects are samples themselves. */
static OUT_OF_LINE void free_possible_sample(void *object) {
  if (is_live_sample(object)) return complete_free(object);
  counted_free(object);
}

static void tracked_free(void *object) { counted_free_of(object, true); }

static void *counted_calloc(size_t count, size_t size) {
  size_t bytes;
  if (unlikely(__builtin_mul_overflow(count, size, &bytes))) return complete_calloc(count, size, ORIGIN);
  size_t doubled = doubled_size(bytes);
  if (unlikely(!is_usual(doubled))) return large_calloc(bytes, ORIGIN);
  void *object = NEAR_VALUE(next.calloc)(count, size);
  keep_only(&doubled);
  return count_usual_outcome(object, doubled, false);
}

INLINE void *counted_realloc_of(void *object, size_t size, bool tracked) {
  size_t doubled = doubled_size(size);
  if (unlikely((uintptr_t)object < NEAR_VALUE(low_range_end))) return complete_realloc(object, size, ORIGIN);
  if (tracked && may_be_sampled(object)) return complete_realloc(object, size, ORIGIN);
  if (unlikely(!is_usual(doubled))) return large_realloc(object, size, ORIGIN);
  size_t old_size = glibc_usable_size(object);
  void *moved = NEAR_VALUE(next.realloc)(object, size);
  keep_only(&doubled);
  keep_only(&old_size);
  KEEP_IN_RETURN_REGISTER(moved);
  if (unlikely(!moved)) return complete_count_allocation(NULL, size_of_doubled(doubled), ORIGIN);
  struct thread_block *block = own_block();
  size_t usable_size = glibc_usable_size(moved);
  /* Counts the old and the new size in one step. An object that grows repeatedly then takes only its growth from the
   * headroom, the bytes that the thread may add before it must update the process's total. */
  int64_t left = 0;
  if (unlikely(!event_begin_realloc(block, old_size, usable_size, &left))) {
    return count_move_without_headroom(moved, old_size, doubled, ORIGIN);
  }
  event_count_free(block, old_size);
  return count_usual_allocation(block, moved, usable_size, doubled, left, false);
}

static void *counted_realloc(void *object, size_t size) { return counted_realloc_of(object, size, false); }

static void *tracked_realloc(void *object, size_t size) { return counted_realloc_of(object, size, true); }

/* Allocates for an operator new. Compares the size instead of the doubled size, which overflows for a very large
 * request. */
INLINE void *counted_new_of(size_t size) {
  if (unlikely(size - 1 >= LARGEST_FAST_REQUEST)) return large_malloc(size, ORIGIN);
  size_t doubled = doubled_size(size);
  void *object = NEAR_VALUE(next.malloc)(size);
  keep_only(&doubled);
  return count_usual_outcome(object, doubled, false);
}

static void *counted_new(size_t size) {
  void *object = counted_new_of(size);
  return unlikely(!object) ? operator_new_fails(size, ORIGIN) : object;
}

static void *counted_new_nothrow(size_t size, const void *nothrow) {
  void *object = counted_new_of(size);
  return unlikely(!object) ? operator_new_nothrow_fails(size, nothrow, ORIGIN) : object;
}

static void *visit_sampler(void *object, size_t doubled, struct origin origin) {
  size_t size = size_of_doubled(doubled);
  return sampler_visit(own_block(), object, size, glibc_usable_size(object), (struct move){_Alignof(max_align_t), size},
                       origin);
}

/* ---- Functions that count large requests (ROUTE_COUNTED) ---------------------------------------------- */

/*
 * Returns whether the functions of complete.h must serve a request, because its size is 0 or above `recorded_above`.
 * The read is not atomic, so the compiler can compare directly with memory. A thread that reads an outdated value acts
 * as if the request came before the change.
 */
INLINE bool is_recorded(size_t size) { return size - 1 >= recorded_above; }

static OUT_OF_LINE void *visit_sampler_large(void *object, size_t size, size_t content, struct origin origin) {
  return sampler_visit_large(own_block(), object, size, glibc_usable_size(object),
                             (struct move){_Alignof(max_align_t), content}, origin);
}

/* Counts a large allocation that fits into the thread's headroom, the bytes that the thread may add before it must
 * update the process's total (account/thread_block.h). The program may have written the first `content` bytes. */
INLINE void *count_large_allocation(struct thread_block *block, void *object, size_t usable_size, size_t size,
                                    size_t content, int64_t left, struct origin origin) {
  size_t class = size_class(size);
  event_count_allocation(block, usable_size, doubled_size(size), class);
  event_end(block, left);
  record_largest_request(size);
  if (large_filter_visits(block, large_tag(origin, class))) return visit_sampler_large(object, size, content, origin);
  return object;
}

INLINE void *count_large_outcome(void *object, size_t size, struct origin origin) {
  if (unlikely(!object)) return complete_count_allocation(NULL, size, origin);
  struct thread_block *block = own_block();
  size_t usable_size = glibc_usable_size(object);
  int64_t left = 0;
  if (unlikely(!event_begin_allocation(block, usable_size, &left)))
    return count_large_without_headroom(object, size, origin);
  return count_large_allocation(block, object, usable_size, size, 0, left, origin);
}

static OUT_OF_LINE void *large_malloc(size_t size, struct origin origin) {
  if (unlikely(is_recorded(size))) return complete_malloc(size, origin);
  return count_large_outcome(NEAR_VALUE(next.malloc)(size), size, origin);
}

static OUT_OF_LINE void *large_calloc(size_t bytes, struct origin origin) {
  if (unlikely(is_recorded(bytes))) return complete_calloc(1, bytes, origin);
  return count_large_outcome(NEAR_VALUE(next.calloc)(1, bytes), bytes, origin);
}

/* Serves a realloc to a large size. The object is no live sample, and may be small. */
static OUT_OF_LINE void *large_realloc(void *object, size_t size, struct origin origin) {
  if (unlikely(is_recorded(size))) return complete_realloc(object, size, origin);
  size_t old_size = glibc_usable_size(object);
  void *moved = NEAR_VALUE(next.realloc)(object, size);
  if (unlikely(!moved)) return complete_count_allocation(NULL, size, origin);
  struct thread_block *block = own_block();
  size_t usable_size = glibc_usable_size(moved);
  int64_t left = 0;
  if (unlikely(!event_begin_realloc(block, old_size, usable_size, &left))) {
    complete_count_free(NULL, old_size);
    return complete_count_allocation(moved, size, origin);
  }
  event_count_free(block, old_size);
  return count_large_allocation(block, moved, usable_size, size, size, left, origin);
}

/* ---- Events for which the thread has no headroom (bytes that it may still count by itself) ---------------- */

/* Returns whether the thread left the fast path only because it is in unmatched scopes. A scope (account/scopes.h)
 * measures between two points in time. A matched scope also checks for each freed object whether that object was
 * allocated in the scope. */
INLINE bool has_only_unmatched_scopes(const struct thread_block *block) {
  const struct reporting usual = {SCOPED, 0};
  return memcmp(&block->reporting, &usual, sizeof usual) == 0 && !is_in_event(block);
}

/* Returns whether the thread left the fast path only because it is in scopes, at least one of which is matched. A
 * matched scope checks for each freed object whether that object was allocated in the scope. */
INLINE bool has_only_matched_scopes(const struct thread_block *block) {
  const struct reporting usual = {SCOPED | SCOPED_MATCHED, 0};
  return memcmp(&block->reporting, &usual, sizeof usual) == 0 && !is_in_event(block);
}

static OUT_OF_LINE void *visit_sampler_in_scope(void *object, size_t doubled, struct origin origin) {
  object = visit_sampler(object, doubled, origin);
  return scope_allocation(own_block(), object, doubled);
}

/* Counts an allocation of a thread for which has_only_unmatched_scopes() is true. Leaves rare cases to tail calls,
 * so no register has to be saved. */
INLINE void *count_in_scope(struct thread_block *block, void *object, size_t doubled, struct origin origin) {
  counter_add(&block->events.allocated_bytes, glibc_usable_size(object));
  counter_add(&block->events.requested_doubled, doubled);
  size_t class = size_class_of_doubled(doubled);
  counter_add(event_allocations(&block->events, class), 1);
  if (filter_visits(block, filter_bucket(origin, class))) return visit_sampler_in_scope(object, doubled, origin);
  return scope_allocation(block, object, doubled);
}

static OUT_OF_LINE void *count_to_match(void *object, size_t doubled, struct origin origin) {
  struct thread_block *block = own_block();
  counter_add(&block->events.allocated_bytes, glibc_usable_size(object));
  counter_add(&block->events.requested_doubled, doubled);
  size_t class = size_class_of_doubled(doubled);
  counter_add(event_allocations(&block->events, class), 1);
  if (filter_visits(block, filter_bucket(origin, class))) object = visit_sampler(object, doubled, origin);
  return scope_match_allocation(block, object, doubled);
}

/* The following functions count events of a thread that has used up its headroom, the bytes that it may allocate on
 * the fast path. They call own_block() again, because passing the block as an argument would slow down the fast
 * path. */
static OUT_OF_LINE void *count_without_headroom(void *object, size_t doubled, struct origin origin) {
  struct thread_block *block = own_block();
  if (has_only_unmatched_scopes(block)) return count_in_scope(block, object, doubled, origin);
  if (has_only_matched_scopes(block)) return count_to_match(object, doubled, origin);
  return complete_count_allocation(object, size_of_doubled(doubled), origin);
}

/* Does not update the peak, which a free cannot raise. */
INLINE void count_free_in_scope(struct thread_block *block, size_t usable_size) {
  counter_add(&block->events.freed_bytes, usable_size);
  counter_add(&block->events.frees, 1);
}

static OUT_OF_LINE void free_without_headroom(void *object) {
  struct thread_block *block = own_block();
  bool matches = has_only_matched_scopes(block);
  if (!matches && !has_only_unmatched_scopes(block)) return complete_free(object);
  size_t usable_size = glibc_usable_size(object);
  count_free_in_scope(block, usable_size);
  if (matches) scope_match_free(block, object, usable_size);
  next.free(object);
}

static OUT_OF_LINE void *count_large_without_headroom(void *object, size_t size, struct origin origin) {
  struct thread_block *block = own_block();
  if (!has_only_unmatched_scopes(block)) return complete_count_new_allocation(object, size, origin);
  size_t usable_size = glibc_usable_size(object);
  /* The event begins here, and count_large_allocation() ends it. NO_HEADROOM makes the thread's next event take the
   * slow path again, which updates the scopes. */
  (void)event_mark(block, false);
  object = count_large_allocation(block, object, usable_size, size, 0, NO_HEADROOM, origin);
  return scope_allocation(block, object, doubled_size(size));
}

/* Counts a realloc. While a scope matches frees with allocations, complete_realloc() serves realloc instead, because
 * it reports the old object's address to the scope. */
static OUT_OF_LINE void *count_move_without_headroom(void *moved, size_t old_size, size_t doubled,
                                                     struct origin origin) {
  struct thread_block *block = own_block();
  if (!has_only_unmatched_scopes(block)) {
    complete_count_free(NULL, old_size);
    return complete_count_allocation(moved, size_of_doubled(doubled), origin);
  }
  count_free_in_scope(block, old_size);
  return count_in_scope(block, moved, doubled, origin);
}

/* ---- Functions that call those of complete.h (ROUTE_COMPLETE) ----------------------------------------- */

static void *completed_malloc(size_t size) { return complete_malloc(size, ORIGIN); }

static void *completed_calloc(size_t count, size_t size) { return complete_calloc(count, size, ORIGIN); }

static void *completed_realloc(void *object, size_t size) { return complete_realloc(object, size, ORIGIN); }

static void *completed_new(size_t size) {
  void *object = complete_malloc(size, ORIGIN);
  return unlikely(!object) ? operator_new_fails(size, ORIGIN) : object;
}

static void *completed_new_nothrow(size_t size, const void *nothrow) {
  void *object = complete_malloc(size, ORIGIN);
  return unlikely(!object) ? operator_new_nothrow_fails(size, nothrow, ORIGIN) : object;
}

static void *completed_new_aligned(size_t size, size_t alignment) {
  void *object = complete_memalign(alignment, size, ORIGIN);
  return unlikely(!object) ? operator_new_aligned_fails(size, alignment, ORIGIN) : object;
}

static void *completed_new_aligned_nothrow(size_t size, size_t alignment, const void *nothrow) {
  void *object = complete_memalign(alignment, size, ORIGIN);
  return unlikely(!object) ? operator_new_aligned_nothrow_fails(size, alignment, nothrow, ORIGIN) : object;
}

/* ---- Functions that only forward calls (ROUTE_FORWARDED) ----------------------------------------------- */

static void forwarded_free(void *object) {
  if ((uintptr_t)object < low_range_end) return complete_free(object);
  next.free(object);
}

static void *forwarded_realloc(void *object, size_t size) {
  if ((uintptr_t)object < low_range_end) return complete_realloc(object, size, ORIGIN);
  return next.realloc(object, size);
}

/* The following functions forward calls, but notice the free of a sample. Otherwise the next object at the sample's
 * address would be taken for the sample. */
static void following_free(void *object) {
  if ((uintptr_t)object < low_range_end || may_be_sampled(object)) return complete_free(object);
  next.free(object);
}

static void *following_realloc(void *object, size_t size) {
  if ((uintptr_t)object < low_range_end || may_be_sampled(object)) return complete_realloc(object, size, ORIGIN);
  return next.realloc(object, size);
}

static void *forwarded_new(size_t size) {
  void *object = next.malloc(size);
  return unlikely(!object) ? operator_new_fails(size, ORIGIN) : object;
}

static void *forwarded_new_nothrow(size_t size, const void *nothrow) {
  void *object = next.malloc(size);
  return unlikely(!object) ? operator_new_nothrow_fails(size, nothrow, ORIGIN) : object;
}

/* ---- free and realloc if the bootstrap buffer is not below all other objects --------------------------- */

static void (*free_of_route)(void *object);
static void *(*realloc_of_route)(void *object, size_t size);

static void ranged_free(void *object) {
  if (unlikely(is_bootstrap(object))) return;
  free_of_route(object);
}

static void *ranged_realloc(void *object, size_t size) {
  if (unlikely(is_bootstrap(object))) return complete_realloc(object, size, ORIGIN);
  return realloc_of_route(object, size);
}

/* ---- Calls before the allocator is found, and calls that another malloc passes on to this library --------- */

static bool passes_on(void) { return hook_ready() && __atomic_load_n(&after_serves, __ATOMIC_RELAXED); }

static void *early_malloc(size_t size) { return passes_on() ? after.malloc(size) : complete_malloc(size, ORIGIN); }

static void early_free(void *object) {
  if (!object || is_bootstrap(object)) return;
  if (passes_on()) {
    after.free(object);
  } else {
    complete_free(object);
  }
}

static void *early_calloc(size_t count, size_t size) {
  return passes_on() ? after.calloc(count, size) : complete_calloc(count, size, ORIGIN);
}

static void *early_realloc(void *object, size_t size) {
  if (!passes_on()) return complete_realloc(object, size, ORIGIN);
  if (!is_bootstrap(object)) return after.realloc(object, size);
  size_t old_size = bootstrap_size(object);
  void *moved = after.malloc(size);
  if (moved) memcpy(moved, object, old_size < size ? old_size : size);
  return moved;
}

/* Matters for a program that uses another library's malloc. A member is true if that library lacks the function, so
 * that the program's calls of the function reach this library. */
static struct {
  bool valloc, pvalloc;
#define MEMBER(name) bool name;
  EACH_NAME_OF_FREE(MEMBER)
#undef MEMBER
} called_by_program;

#define EARLY_FREE(name)                                                     \
  static void early_##name(void *object) {                                   \
    if (passes_on() && called_by_program.name) return complete_free(object); \
    early_free(object);                                                      \
  }
EACH_NAME_OF_FREE(EARLY_FREE)

#define DECLARE(name) EXPORT void name(void *object);
EACH_NAME_OF_FREE(DECLARE)
#undef DECLARE

void hook_find_missing_functions(bool (*program_calls)(const char *name, const void *ours)) {
#define FIND(name) called_by_program.name = program_calls(#name, (const void *)(uintptr_t)name);
  FIND(valloc)
  FIND(pvalloc)
  EACH_NAME_OF_FREE(FIND)
#undef FIND
}

/* ---- Pointers to the functions that serve the program's calls at present ------------------------------ */

static struct {
  void *(*malloc)(size_t size);
  void (*free)(void *object);
  void *(*calloc)(size_t count, size_t size);
  void *(*realloc)(void *object, size_t size);
#define MEMBER(name) void (*name)(void *object);
  EACH_NAME_OF_FREE(MEMBER)
#undef MEMBER
} entry = {.malloc = early_malloc,
           .free = early_free,
           .calloc = early_calloc,
           .realloc = early_realloc,
#define EARLY(name) .name = early_##name,
           EACH_NAME_OF_FREE(EARLY)
#undef EARLY
};

#define BY_ROUTE(route, completed, counted, forwarded) \
  ((route) == ROUTE_COUNTED ? (counted) : (route) == ROUTE_FORWARDED ? (forwarded) : (completed))

/* Returns this library's operator for `form`, a variant of new or delete. `route` says whether the operator counts
 * or only forwards calls. `route_free` is the operator for every variant of delete. This library needs operators of
 * its own, because objects from an allocator's operator new would not be counted. */
static operator_function *own_operator(enum operator_form form, enum hook_route route, void (*route_free)(void *)) {
  switch (form) {
    case NEW:
    case NEW_ARRAY:
      return OPERATOR(BY_ROUTE(route, completed_new, counted_new, forwarded_new));
    case NEW_NOTHROW:
    case NEW_ARRAY_NOTHROW:
      return OPERATOR(BY_ROUTE(route, completed_new_nothrow, counted_new_nothrow, forwarded_new_nothrow));
    case NEW_ALIGNED:
    case NEW_ARRAY_ALIGNED:
      return OPERATOR(completed_new_aligned);
    case NEW_ALIGNED_NOTHROW:
    case NEW_ARRAY_ALIGNED_NOTHROW:
      return OPERATOR(completed_new_aligned_nothrow);
    default:
      return OPERATOR(route_free);
  }
}

/* Serves calls of a C++ operator (new, delete) until hook_open_route() is called. Finds the allocator first, because
 * operator_in_place() knows only then whether another library's operator must serve. */
#define EARLY_OPERATOR(form, name, derived_from)                                                      \
  static void *early_##form(uintptr_t first, uintptr_t second, uintptr_t third) {                     \
    operator_function *other = hook_ready() ? operator_in_place(form) : NULL;                         \
    return (other ? other : own_operator(form, ROUTE_COMPLETE, complete_free))(first, second, third); \
  }
EACH_OPERATOR(EARLY_OPERATOR)

#define EARLY_ENTRY(form, name, derived_from) [form] = early_##form,
static operator_function *operators[OPERATOR_FORMS] = {EACH_OPERATOR(EARLY_ENTRY)};

/*
 * Replaces the pointers to the functions one after the other, so meanwhile threads may run functions of both routes.
 */
void hook_open_route(enum hook_route route, bool tracked, bool matched) {
  static bool counted_before;
  if (route != ROUTE_FORWARDED) __atomic_store_n(&counted_before, true, __ATOMIC_RELAXED);
  bool followed = tracked && __atomic_load_n(&counted_before, __ATOMIC_RELAXED);
  bool ranged = bootstrap_is_above_low_range();
#define TAKE(entry, function) __atomic_store_n(&(entry), function, __ATOMIC_RELEASE)
  TAKE(free_of_route, BY_ROUTE(route, complete_free, tracked ? tracked_free : counted_free,
                               followed ? following_free : forwarded_free));
  /* A scope that matches frees with allocations needs the object's old address, which the fast path does not keep. */
  void *(*counting_realloc)(void *, size_t) = tracked ? tracked_realloc : counted_realloc;
  TAKE(realloc_of_route, BY_ROUTE(route, completed_realloc, matched ? completed_realloc : counting_realloc,
                                  followed ? following_realloc : forwarded_realloc));
  void (*route_free)(void *) = ranged ? ranged_free : free_of_route;
  if (!after_serves) { /* if set, early_malloc() etc. stay: they can call `after`, the allocator behind this library */
    TAKE(entry.malloc, BY_ROUTE(route, completed_malloc, counted_malloc, next.malloc));
    TAKE(entry.free, route_free);
    TAKE(entry.calloc, BY_ROUTE(route, completed_calloc, counted_calloc, next.calloc));
    TAKE(entry.realloc, ranged ? ranged_realloc : realloc_of_route);
#define TAKE_FREE(name) TAKE(entry.name, route_free);
    EACH_NAME_OF_FREE(TAKE_FREE)
#undef TAKE_FREE
  }
  for (enum operator_form form = 0; form < OPERATOR_FORMS; form++) {
    operator_function *other = operator_in_place(form);
    TAKE(operators[form], other ? other : own_operator(form, route, route_free));
  }
#undef TAKE
}

void *malloc(size_t size) { return JUMP_TARGET(entry.malloc)(size); }

void free(void *object) { JUMP_TARGET(entry.free)(object); }

void *calloc(size_t count, size_t size) { return JUMP_TARGET(entry.calloc)(count, size); }

void *realloc(void *object, size_t size) { return JUMP_TARGET(entry.realloc)(object, size); }

/* ---- Rarely called functions ------------------------------------------------------------------------- */

void *reallocarray(void *object, size_t count, size_t size) {
  size_t bytes;
  if (!__builtin_mul_overflow(count, size, &bytes)) {
    return passes_on() ? complete_realloc(object, bytes, ORIGIN) : entry.realloc(object, bytes);
  }
  complete_count_failure();
  errno = ENOMEM;
  return NULL;
}

void *memalign(size_t alignment, size_t size) {
  return passes_on() ? after.memalign(alignment, size) : complete_memalign(alignment, size, ORIGIN);
}

void *aligned_alloc(size_t alignment, size_t size) {
  return passes_on() ? after.aligned_alloc(alignment, size) : complete_aligned_alloc(alignment, size, ORIGIN);
}

int posix_memalign(void **object, size_t alignment, size_t size) {
  if (passes_on()) return after.posix_memalign(object, alignment, size);
  if (__atomic_load_n(&hook_state, __ATOMIC_ACQUIRE) == HOOK_FORWARDING) {
    return next.posix_memalign(object, alignment, size);
  }
  if (alignment % sizeof(void *) != 0 || alignment == 0 || (alignment & (alignment - 1)) != 0) {
    complete_count_failure();
    return EINVAL;
  }
  void *allocated = complete_posix_memalign(alignment, size, ORIGIN);
  if (!allocated) return ENOMEM;
  *object = allocated;
  return 0;
}

/* Serves valloc and pvalloc by memalign, because few allocators have these two functions. */
static void *page_aligned(size_t page, size_t size, bool of_program, struct origin origin) {
  return passes_on() && !of_program ? after.memalign(page, size) : complete_memalign(page, size, origin);
}

void *valloc(size_t size) { return page_aligned(memory_page_bytes(), size, called_by_program.valloc, ORIGIN); }

void *pvalloc(size_t size) {
  size_t page = memory_page_bytes();
  size_t rounded = (size + page - 1) & ~(page - 1);
  if (rounded < size) rounded = SIZE_MAX; /* too large for the allocator, so the call fails */
  return page_aligned(page, rounded ? rounded : page, called_by_program.pvalloc, ORIGIN);
}

size_t malloc_usable_size(void *object) {
  bool passed = object && !is_bootstrap(object) && passes_on();
  return passed ? after.usable_size(object) : complete_usable_size(object);
}

/* ---- Further names of free, and the operators --------------------------------------------------------- */

#define NAME_OF_FREE(name) \
  void name(void *object) { JUMP_TARGET(entry.name)(object); }
/* Functions that free their first argument. They ignore further arguments, such as sizes and alignments. */
EACH_NAME_OF_FREE(NAME_OF_FREE)

#define NAME_OF_OPERATOR(form, name, derived_from)                       \
  EXPORT void *name(uintptr_t first, uintptr_t second, uintptr_t third); \
  void *name(uintptr_t first, uintptr_t second, uintptr_t third) {       \
    return JUMP_TARGET(operators[form])(first, second, third);           \
  }
EACH_OPERATOR(NAME_OF_OPERATOR)
