/*
 * The way in: every function by which a C program allocates or frees.
 *
 * What a program calls is a jump to where `entry` points, by the route that is open (hooks/route.h). The counted
 * route comes first and is meant to be read top to bottom: the allocator's own call, one comparison against the
 * thread's headroom, four additions to lines that belong to this thread (three for a free), and one step of a countdown
 * that picks what the sampler looks at. It is left when the thread has no block yet, when the request is zero, when the
 * peak must hear of the thread, and when the sampler's countdown ends. Requests above 32 KiB take the same steps on a
 * route of their own, which keeps the call paths of large requests apart.
 *
 * Nothing here allocates, locks, enters the loader or changes errno, except through the allocator that is called
 * anyway; the slow path keeps errno where it calls anything else. docs/explanation/cost.md accounts for each
 * instruction.
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

/* The compiler is not to keep across a call what it can compute from `value` afterwards. */
#define keep_only(value) __asm__("" : "+r"(*(value)))

/* In a function that the program's call reached by jumps only: that call. */
#define ORIGIN ((struct origin){__builtin_return_address(0), __builtin_dwarf_cfa()})
/* The same in one that calls by CALL_KEEPING only, if that is known when it is compiled. */
#define ORIGIN_THAT(stays) ((stays) ? (struct origin){caller_that_stays(), __builtin_dwarf_cfa()} : ORIGIN)
#define INLINE static inline __attribute__((always_inline)) /* the ORIGIN is that of the function around it */
#define OUT_OF_LINE __attribute__((noinline))
#define unlikely(condition) __builtin_expect(!!(condition), 0)

static OUT_OF_LINE void doubtful_free(void *object);
static void *count_without_headroom(void *object, size_t doubled, struct origin origin);
static void *count_move_without_headroom(void *moved, size_t old_size, size_t doubled, struct origin origin);
static void *count_large_without_headroom(void *object, size_t size, struct origin origin);
static void free_without_headroom(void *object);
static OUT_OF_LINE void *sampled(void *object, size_t doubled, struct origin origin);

static void *large_malloc(size_t size, struct origin origin);
static void *large_calloc(size_t bytes, struct origin origin);
static void *large_realloc(void *object, size_t size, struct origin origin);

/* ---- The counted route -------------------------------------------------------------------------------- */

/*
 * Whether the fast path knows the class of a request, of which it keeps doubled_size(). 0 wraps and belongs to the slow
 * path too. So does a request of 2^63 bytes and more, which the allocator refuses, whatever it is taken for.
 */
INLINE bool is_usual(size_t doubled) { return is_below_power(doubled, 16); }
_Static_assert(2 * LARGEST_FAST_REQUEST == 1 << 16, "by so much");

/* Counts an allocation for which there was headroom. */
INLINE void *count_usual_allocation(struct thread_block *block, void *object, size_t usable_size, size_t doubled,
                                    int64_t left, bool origin_stays) {
  size_t class = size_class_of_doubled(doubled);
  event_counts_allocation(block, usable_size, doubled, class);
  event_ends(block, left);
  uintptr_t path = origin_stays ? path_of_call(class) : filter_path(ORIGIN, class);
  if (filter_visits(block, filter_bucket_of(path))) return sampled(object, doubled, ORIGIN_THAT(origin_stays));
  STAYS_RETURNED(object);
  if (!object) __builtin_unreachable();
  return object;
}

/*
 * What the allocator returned for a usual request. The thread's block is read only now: cheaper than to keep it across
 * the call. All is counted here or all on the slow path.
 */
INLINE void *count_usual_outcome(void *object, size_t doubled, bool origin_stays) {
  STAYS_RETURNED(object);
  struct thread_block *block = own_block(); /* first, or the branch's alignment takes an instruction */
  if (unlikely(!object)) return complete_allocation(NULL, size_of_doubled(doubled), ORIGIN_THAT(origin_stays));
  size_t usable_size = glibc_usable_size(object);
  int64_t left = 0;
  if (unlikely(!event_takes(block, usable_size, &left))) {
    return count_without_headroom(object, doubled, ORIGIN_THAT(origin_stays));
  }
  return count_usual_allocation(block, object, usable_size, doubled, left, origin_stays);
}

static void *counted_malloc(size_t size) {
  size_t doubled = doubled_size(size);
  if (unlikely(!is_usual(doubled))) return large_malloc(size, ORIGIN_THAT(ORIGIN_STAYS));
  void *object = CALL_KEEPING(doubled, next.malloc, size);
  return count_usual_outcome(object, doubled, ORIGIN_STAYS);
}

INLINE void counted_free_of(void *object, bool tracked) {
  /* NULL, the bootstrap buffer and everything before the first event lie below. */
  if (unlikely((uintptr_t)object < NEAR_VALUE(low_range_end))) return complete_free(object);
  if (tracked && may_be_sampled(object)) return doubtful_free(object);
  struct thread_block *block = own_block();
  size_t usable_size = glibc_usable_size(object);
  int64_t left = 0;
  if (unlikely(!event_gives(block, usable_size, &left))) return free_without_headroom(object);
  event_counts_free(block, usable_size);
  event_ends(block, left);
  FOR_JUMP(next.free)(object);
}

static void counted_free(void *object) { counted_free_of(object, false); }

/* Most objects that share a hash with a live sample are none. */
static OUT_OF_LINE void doubtful_free(void *object) {
  if (is_live_sample(object)) return complete_free(object);
  counted_free(object);
}

/* Where call sites are recorded: the object may be a sample. */
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
  STAYS_RETURNED(moved);
  if (unlikely(!moved)) return complete_allocation(NULL, size_of_doubled(doubled), ORIGIN);
  struct thread_block *block = own_block();
  size_t usable_size = glibc_usable_size(moved);
  /* One step, so that a block that grows over and over takes no more than it gives back. */
  int64_t left = 0;
  if (unlikely(!event_exchanges(block, old_size, usable_size, &left))) {
    return count_move_without_headroom(moved, old_size, doubled, ORIGIN);
  }
  event_counts_free(block, old_size);
  return count_usual_allocation(block, moved, usable_size, doubled, left, false);
}

static void *counted_realloc(void *object, size_t size) { return counted_realloc_of(object, size, false); }

static void *tracked_realloc(void *object, size_t size) { return counted_realloc_of(object, size, true); }

/* A size that wraps must not be taken for its remainder when the operator tries again. */
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

/* Reached by a jump; the block is as good as it was, for nothing between may change it. */
static void *sampled(void *object, size_t doubled, struct origin origin) {
  size_t size = size_of_doubled(doubled);
  return sampler_visit(own_block(), object, size, glibc_usable_size(object), (struct move){_Alignof(max_align_t), size},
                       origin);
}

/* ---- The counted route of large requests -------------------------------------------------------------- */

/*
 * Whether the request is recorded; 0 belongs to the complete path too. A plain read of one word, which the processor
 * compares in memory: a thread that sees the size of a moment ago is in the middle of its event.
 */
INLINE bool is_recorded(size_t size) { return size - 1 >= recorded_above; }

static OUT_OF_LINE void *large_sampled(void *object, size_t size, size_t content, struct origin origin) {
  return sampler_visit_large(own_block(), object, size, glibc_usable_size(object),
                             (struct move){_Alignof(max_align_t), content}, origin);
}

/* Counts an allocation for which there was headroom. `content`: the first bytes that hold something. */
INLINE void *count_large_allocation(struct thread_block *block, void *object, size_t usable_size, size_t size,
                                    size_t content, int64_t left, struct origin origin) {
  size_t class = size_class(size);
  event_counts_allocation(block, usable_size, doubled_size(size), class);
  event_ends(block, left);
  record_largest_request(size);
  if (large_filter_visits(block, large_tag(origin, class))) return large_sampled(object, size, content, origin);
  return object;
}

INLINE void *count_large_outcome(void *object, size_t size, struct origin origin) {
  if (unlikely(!object)) return complete_allocation(NULL, size, origin);
  struct thread_block *block = own_block();
  size_t usable_size = glibc_usable_size(object);
  int64_t left = 0;
  if (unlikely(!event_takes(block, usable_size, &left))) return count_large_without_headroom(object, size, origin);
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

/* The object is no live sample; it may be small. */
static OUT_OF_LINE void *large_realloc(void *object, size_t size, struct origin origin) {
  if (unlikely(is_recorded(size))) return complete_realloc(object, size, origin);
  size_t old_size = glibc_usable_size(object);
  void *moved = NEAR_VALUE(next.realloc)(object, size);
  if (unlikely(!moved)) return complete_allocation(NULL, size, origin);
  struct thread_block *block = own_block();
  size_t usable_size = glibc_usable_size(moved);
  int64_t left = 0;
  if (unlikely(!event_exchanges(block, old_size, usable_size, &left))) {
    complete_count_free(NULL, old_size);
    return complete_allocation(moved, size, origin);
  }
  event_counts_free(block, old_size);
  return count_large_allocation(block, moved, usable_size, size, size, left, origin);
}

/* ---- Without headroom: at a thread's first event, now and then for the peak, and always in a scope -------- */

/* In scopes that are not matched, and nothing else is to be done: what is quick. */
INLINE bool only_reports(const struct thread_block *block) {
  const struct reporting usual = {SCOPED, 0};
  return memcmp(&block->reporting, &usual, sizeof usual) == 0 && !is_in_event(block);
}

/* The same where a scope is matched. */
INLINE bool only_matches(const struct thread_block *block) {
  const struct reporting usual = {SCOPED | SCOPED_MATCHED, 0};
  return memcmp(&block->reporting, &usual, sizeof usual) == 0 && !is_in_event(block);
}

static OUT_OF_LINE void *sampled_in_scope(void *object, size_t doubled, struct origin origin) {
  object = sampled(object, doubled, origin);
  return scope_allocation(own_block(), object, doubled);
}

/* Whatever is rare ends this function: so no register has to be saved. */
INLINE void *count_in_scope(struct thread_block *block, void *object, size_t doubled, struct origin origin) {
  counter_add(&block->events.allocated_bytes, glibc_usable_size(object));
  counter_add(&block->events.requested_doubled, doubled);
  size_t class = size_class_of_doubled(doubled);
  counter_add(event_allocations(&block->events, class), 1);
  if (filter_visits(block, filter_bucket(origin, class))) return sampled_in_scope(object, doubled, origin);
  return scope_allocation(block, object, doubled);
}

/* The same where a scope is matched. */
static OUT_OF_LINE void *count_to_match(void *object, size_t doubled, struct origin origin) {
  struct thread_block *block = own_block();
  counter_add(&block->events.allocated_bytes, glibc_usable_size(object));
  counter_add(&block->events.requested_doubled, doubled);
  size_t class = size_class_of_doubled(doubled);
  counter_add(event_allocations(&block->events, class), 1);
  if (filter_visits(block, filter_bucket(origin, class))) object = sampled(object, doubled, origin);
  return scope_match_allocation(block, object, doubled);
}

/* They read the block again, for the fast path is not to keep it where they want it. */
static OUT_OF_LINE void *count_without_headroom(void *object, size_t doubled, struct origin origin) {
  struct thread_block *block = own_block();
  if (only_reports(block)) return count_in_scope(block, object, doubled, origin);
  if (only_matches(block)) return count_to_match(object, doubled, origin);
  return complete_allocation(object, size_of_doubled(doubled), origin);
}

/* Frees raise no peak. */
INLINE void count_free_in_scope(struct thread_block *block, size_t usable_size) {
  counter_add(&block->events.freed_bytes, usable_size);
  counter_add(&block->events.frees, 1);
}

static OUT_OF_LINE void free_without_headroom(void *object) {
  struct thread_block *block = own_block();
  bool matches = only_matches(block);
  if (!matches && !only_reports(block)) return complete_free(object);
  size_t usable_size = glibc_usable_size(object);
  count_free_in_scope(block, usable_size);
  if (matches) scope_match_free(block, object, usable_size);
  next.free(object);
}

static OUT_OF_LINE void *count_large_without_headroom(void *object, size_t size, struct origin origin) {
  struct thread_block *block = own_block();
  if (!only_reports(block)) return complete_new_allocation(object, size, origin);
  size_t usable_size = glibc_usable_size(object);
  (void)event_begins(block, false); /* and there is none afterwards */
  object = count_large_allocation(block, object, usable_size, size, 0, NO_HEADROOM, origin);
  return scope_allocation(block, object, doubled_size(size));
}

/* Where matched scopes are open realloc takes the complete route, which knows the object that was. */
static OUT_OF_LINE void *count_move_without_headroom(void *moved, size_t old_size, size_t doubled,
                                                     struct origin origin) {
  struct thread_block *block = own_block();
  if (!only_reports(block)) {
    complete_count_free(NULL, old_size);
    return complete_allocation(moved, size_of_doubled(doubled), origin);
  }
  count_free_in_scope(block, old_size);
  return count_in_scope(block, moved, doubled, origin);
}

/* ---- The complete route ------------------------------------------------------------------------------- */

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

/* ---- The forwarded route: next.malloc and next.calloc themselves, and these --------------------------- */

static void forwarded_free(void *object) {
  if ((uintptr_t)object < low_range_end) return complete_free(object);
  next.free(object);
}

static void *forwarded_realloc(void *object, size_t size) {
  if ((uintptr_t)object < low_range_end) return complete_realloc(object, size, ORIGIN);
  return next.realloc(object, size);
}

/* The same once there are samples: they are followed to their end, or the next object at their address is taken for
 * them. */
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

/* ---- Where the bootstrap buffer does not lie below the rest: one more test before any route --------------- */

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

/* ---- Until the allocator is found, and behind another malloc, which may pass its calls on to us ----------- */

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

/* Functions that the program may find here although its malloc is another's: not those that the other passes on. */
static struct {
  bool valloc, pvalloc;
#define MEMBER(name) bool name;
  EACH_NAME_OF_FREE(MEMBER)
#undef MEMBER
} is_programs;

#define EARLY_FREE(name)                                               \
  static void early_##name(void *object) {                             \
    if (passes_on() && is_programs.name) return complete_free(object); \
    early_free(object);                                                \
  }
EACH_NAME_OF_FREE(EARLY_FREE)

#define DECLARE(name) EXPORT void name(void *object);
EACH_NAME_OF_FREE(DECLARE)
#undef DECLARE

void hook_passes_on(bool (*program_calls)(const char *name, const void *ours)) {
#define FIND(name) is_programs.name = program_calls(#name, (const void *)(uintptr_t)name);
  FIND(valloc)
  FIND(pvalloc)
  EACH_NAME_OF_FREE(FIND)
#undef FIND
}

/* ---- The entry ---------------------------------------------------------------------------------------- */

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

/*
 * The operators are ours whatever allocator lies below. One that brings its own would otherwise serve `new` past us;
 * the C++ library's would come back through malloc, one call later. One event for one allocation either way. Every form
 * of delete is free by another name, and costs nothing more.
 */
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

/* Before the first event nobody knows whether ours serve. */
#define EARLY_OPERATOR(form, name, derived_from)                                                      \
  static void *early_##form(uintptr_t first, uintptr_t second, uintptr_t third) {                     \
    operator_function *other = hook_ready() ? operator_in_place(form) : NULL;                         \
    return (other ? other : own_operator(form, ROUTE_COMPLETE, complete_free))(first, second, third); \
  }
EACH_OPERATOR(EARLY_OPERATOR)

#define EARLY_ENTRY(form, name, derived_from) [form] = early_##form,
static operator_function *operators[OPERATOR_FORMS] = {EACH_OPERATOR(EARLY_ENTRY)};

/* One function after the other: each is right beside any other route's. */
void hook_route(enum hook_route route, bool tracked, bool matched) {
  static bool counted_before;
  if (route != ROUTE_FORWARDED) __atomic_store_n(&counted_before, true, __ATOMIC_RELAXED);
  bool followed = tracked && __atomic_load_n(&counted_before, __ATOMIC_RELAXED);
  bool ranged = bootstrap_is_elsewhere();
#define TAKE(entry, function) __atomic_store_n(&(entry), function, __ATOMIC_RELEASE)
  TAKE(free_of_route, BY_ROUTE(route, complete_free, tracked ? tracked_free : counted_free,
                               followed ? following_free : forwarded_free));
  /* A scope that is matched must hear where the object was; the fast path does not keep that. */
  void *(*counting_realloc)(void *, size_t) = tracked ? tracked_realloc : counted_realloc;
  TAKE(realloc_of_route, BY_ROUTE(route, completed_realloc, matched ? completed_realloc : counting_realloc,
                                  followed ? following_realloc : forwarded_realloc));
  void (*route_free)(void *) = ranged ? ranged_free : free_of_route;
  if (!after_serves) { /* otherwise what is there passes on */
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

void *malloc(size_t size) { return FOR_JUMP(entry.malloc)(size); }

void free(void *object) { FOR_JUMP(entry.free)(object); }

void *calloc(size_t count, size_t size) { return FOR_JUMP(entry.calloc)(count, size); }

void *realloc(void *object, size_t size) { return FOR_JUMP(entry.realloc)(object, size); }

/* ---- Functions that are rare enough for the complete route always ------------------------------------- */

void *reallocarray(void *object, size_t count, size_t size) {
  size_t bytes;
  if (!__builtin_mul_overflow(count, size, &bytes)) {
    return passes_on() ? complete_realloc(object, bytes, ORIGIN) : entry.realloc(object, bytes);
  }
  complete_failure();
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
    complete_failure();
    return EINVAL;
  }
  void *allocated = complete_posix_memalign(alignment, size, ORIGIN);
  if (!allocated) return ENOMEM;
  *object = allocated;
  return 0;
}

/* Few allocators have these two; memalign of the same allocator does the same. */
static void *page_aligned(size_t page, size_t size, bool of_program, struct origin origin) {
  return passes_on() && !of_program ? after.memalign(page, size) : complete_memalign(page, size, origin);
}

void *valloc(size_t size) { return page_aligned(memory_page_bytes(), size, is_programs.valloc, ORIGIN); }

void *pvalloc(size_t size) {
  size_t page = memory_page_bytes();
  size_t rounded = (size + page - 1) & ~(page - 1);
  if (rounded < size) rounded = SIZE_MAX; /* fails as it must */
  return page_aligned(page, rounded ? rounded : page, is_programs.pvalloc, ORIGIN);
}

size_t malloc_usable_size(void *object) {
  bool passed = object && !is_bootstrap(object) && passes_on();
  return passed ? after.usable_size(object) : complete_usable_size(object);
}

/* ---- Other names -------------------------------------------------------------------------------------- */

#define NAME_OF_FREE(name) \
  void name(void *object) { FOR_JUMP(entry.name)(object); }
/* Only the first argument, the object, matters; the others stay in registers that nobody reads. */
EACH_NAME_OF_FREE(NAME_OF_FREE)

#define NAME_OF_OPERATOR(form, name, derived_from)                       \
  EXPORT void *name(uintptr_t first, uintptr_t second, uintptr_t third); \
  void *name(uintptr_t first, uintptr_t second, uintptr_t third) {       \
    return FOR_JUMP(operators[form])(first, second, third);              \
  }
EACH_OPERATOR(NAME_OF_OPERATOR)
