/*
 * The complete route. See complete.h.
 *
 * Each function first handles two special cases: an object of the bootstrap buffer (allocator/bootstrap.h), and a call
 * that comes before the allocator is found. Otherwise it calls the allocator and counts the event. A free is counted
 * before the object is given back, because another thread may immediately get the same address.
 */
#include "hooks/complete.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "account/huge_requests.h"
#include "account/monitors.h"
#include "account/scopes.h"
#include "account/size_class.h"
#include "account/thread_block.h"
#include "account/totals.h"
#include "allocator/bootstrap.h"
#include "allocator/glibc.h"
#include "allocator/header.h"
#include "allocator/next.h"
#include "hooks/state.h"
#include "leak/placement.h"
#include "platform/keep_errno.h"
#include "sample/call_sites.h"
#include "sample/live_samples.h"
#include "sample/native_stack.h"
#include "sample/sampler.h"
#include "sample/work.h"

static bool is_counting(void) {
  return __atomic_load_n(&hook_state, __ATOMIC_ACQUIRE) == HOOK_COUNTING && own_block() != &uncounted_block;
}

static bool uses_headers(void) { return size_source == SIZE_FROM_HEADER; }

static bool is_power_of_two(size_t n) { return n != 0 && (n & (n - 1)) == 0; }

/* ---- Failed requests ---------------------------------------------------------------------------------- */

static void count_failure(void) {
  struct thread_block *block = event_block();
  if (block) {
    counter_add(&block->events.failed, 1);
  } else {
    counter_add_shared(&shared_events.failed, 1);
  }
}

void complete_count_failure(void) {
  KEEP_ERRNO;
  if (hook_ready() && is_counting()) count_failure();
}

/* ---- Allocations -------------------------------------------------------------------------------------- */

__attribute__((noinline)) static void record_with_stack(size_t requested, struct origin origin) {
  uint64_t frames[MALLOMETER_EVENT_FRAMES];
  uint32_t work = 0;
  record_request(requested, frames, native_stack(origin, frames, MALLOMETER_EVENT_FRAMES, NULL, &work));
}

/* Records a request above `recorded_above`. Walks its stack, which takes a microsecond, only if the request is
 * stored. */
static void record_large(size_t requested, struct origin origin) {
  if (request_is_kept(requested) && call_sites_may_walk(origin)) return record_with_stack(requested, origin);
  record_request(requested, NULL, 0);
}

static void *count_allocation(void *object, size_t requested, size_t unit_size, struct move move,
                              struct origin origin) {
  size_t class = size_class(requested);
  struct thread_block *block = thread_block_would_recurse(requested) ? NULL : event_block();
  if (block) {
    if (thread_block_answer(block) != 0) scopes_unlink_closed(block);
    counter_add(event_allocations(&block->events, class), 1);
    counter_add(&block->events.allocated_bytes, unit_size);
    counter_add(&block->events.requested_doubled, doubled_size(requested));
    if (!headroom_take(block, (int64_t)unit_size)) peak_flush_if_due(block);
  } else {
    counter_add_shared(event_allocations(&shared_events, class), 1);
    counter_add_shared(&shared_events.allocated_bytes, unit_size);
    counter_add_shared(&shared_events.requested_doubled, doubled_size(requested));
    peak_flush_shared();
  }
  if (requested > LARGEST_FAST_REQUEST) record_largest_request(requested);
  if (requested > __atomic_load_n(&recorded_above, __ATOMIC_RELAXED)) record_large(requested, origin);
  if (!block) return sampler_visit_always(NULL, object, requested, unit_size, move, origin);
  object = sampler_offer(block, object, requested, unit_size, move, origin);
  return block->reporting.scoped ? scope_report(block, object, requested) : object;
}

static void *count_outcome(void *object, size_t requested, struct move move, struct origin origin) {
  if (!is_counting()) return object;
  KEEP_ERRNO;
  if (!object) {
    count_failure();
  } else {
    size_t unit_size = requested;
    if (size_source == SIZE_FROM_CHUNK) unit_size = glibc_usable_size(object);
    if (size_source == SIZE_FROM_CALL) unit_size = next.usable_size(object);
    object = count_allocation(object, requested, unit_size, move, origin);
    if (monitors_listen()) monitors_allocated(object, requested, unit_size);
  }
  return object;
}

#define USUAL_ALIGNMENT _Alignof(max_align_t)

static void *count_new(void *object, size_t requested, size_t alignment, struct origin origin) {
  return count_outcome(object, requested, (struct move){alignment, 0}, origin);
}

void *complete_count_new_allocation(void *object, size_t requested, struct origin origin) {
  return count_new(object, requested, USUAL_ALIGNMENT, origin);
}

void *complete_count_allocation(void *object, size_t requested, struct origin origin) {
  return count_outcome(object, requested, (struct move){USUAL_ALIGNMENT, requested}, origin);
}

/* An object without a header is not counted in header mode, because its free is not counted either. */
void complete_count_foreign_allocation(void *object, size_t size, struct origin origin) {
  if (!uses_headers()) count_new(object, size, 0, origin);
}

/* ---- Frees -------------------------------------------------------------------------------------------- */

static void count_free(const void *object, size_t unit_size) {
  struct thread_block *block = event_block();
  if (block) {
    if (thread_block_answer(block) != 0) scopes_unlink_closed(block);
    counter_add(&block->events.freed_bytes, unit_size);
    counter_add(&block->events.frees, 1);
    if (!headroom_give(block, (int64_t)unit_size)) peak_flush_if_due(block);
    scope_free(block, object, unit_size);
  } else {
    counter_add_shared(&shared_events.freed_bytes, unit_size);
    counter_add_shared(&shared_events.frees, 1);
  }
}

void complete_count_free(const void *object, size_t unit_size) {
  if (!is_counting()) return;
  KEEP_ERRNO;
  count_free(object, unit_size);
  if (object && monitors_listen()) monitors_freed(object, unit_size);
}

static struct pending_free pending_free_of(void *object, bool headed) {
  if (!is_counting()) return (struct pending_free){NULL, 0};
  if (size_source == SIZE_FROM_CHUNK) return (struct pending_free){object, glibc_usable_size(object)};
  if (size_source == SIZE_FROM_CALL) return (struct pending_free){object, next.usable_size(object)};
  /* An object without a header was allocated without a call of this library, so its allocation was not counted. */
  if (!headed || !header_counted(object)) return (struct pending_free){NULL, 0};
  return (struct pending_free){object, header_size(object)};
}

static struct live_sample sample_of(const void *object) {
  if (may_be_sampled(object)) return live_sample_remove(object);
  return NO_LIVE_SAMPLE;
}

static void count_pending(struct pending_free pending) {
  if (pending.object) complete_count_free(pending.object, pending.unit_size);
}

struct begun_free complete_begin_free(void *object) {
  return (struct begun_free){pending_free_of(object, false), sample_of(object)};
}

void complete_confirm_free(struct begun_free begun) {
  count_pending(begun.pending);
  call_sites_count_free(begun.sample);
}

void complete_cancel_free(void *object, struct begun_free begun) { call_sites_put_back(object, begun.sample); }

/* ---- The functions of malloc's family ----------------------------------------------------------------- */

void *complete_malloc(size_t size, struct origin origin) {
  if (!hook_ready()) return bootstrap_allocate(1, size);
  return count_new(uses_headers() ? header_malloc(size, is_counting()) : next.malloc(size), size, USUAL_ALIGNMENT,
                   origin);
}

/* Leaves it to the allocator to refuse a product of `count` and `size` that overflows. */
void *complete_calloc(size_t count, size_t size, struct origin origin) {
  size_t bytes;
  bool overflows = __builtin_mul_overflow(count, size, &bytes);
  if (overflows) bytes = SIZE_MAX;
  if (!hook_ready()) return bootstrap_allocate(1, bytes);
  void *object = uses_headers() && !overflows ? header_calloc(bytes, is_counting()) : next.calloc(count, size);
  return count_new(object, bytes, USUAL_ALIGNMENT, origin);
}

static void *complete_aligned(aligned_function *function, size_t alignment, size_t size, struct origin origin) {
  /* glibc's memalign rounds up an alignment that is not a power of two. The rounded value is not known here. The
   * object therefore gets no header, and it is not moved to pages of its own if it is sampled (leak/slots.h). */
  if (!is_power_of_two(alignment)) return count_new(function(alignment, size), size, 0, origin);
  void *object = uses_headers() ? header_memalign(function, alignment, size, is_counting()) : function(alignment, size);
  return count_new(object, size, alignment > USUAL_ALIGNMENT ? alignment : USUAL_ALIGNMENT, origin);
}

void *complete_memalign(size_t alignment, size_t size, struct origin origin) {
  if (!hook_ready()) return bootstrap_allocate(is_power_of_two(alignment) ? alignment : 1, size);
  return complete_aligned(next.memalign, alignment, size, origin);
}

void *complete_aligned_alloc(size_t alignment, size_t size, struct origin origin) {
  if (!hook_ready()) return bootstrap_allocate(is_power_of_two(alignment) ? alignment : 1, size);
  return complete_aligned(next.aligned_alloc, alignment, size, origin);
}

static void *posix_aligned(size_t alignment, size_t size) {
  void *object;
  return next.posix_memalign(&object, alignment, size) == 0 ? object : NULL;
}

void *complete_posix_memalign(size_t alignment, size_t size, struct origin origin) {
  if (!hook_ready()) return bootstrap_allocate(alignment, size);
  return complete_aligned(posix_aligned, alignment, size, origin);
}

/* Frees an object on pages of its own (leak/slots.h), and counts the size that was counted at its allocation. Ignores
 * a second free, and an address inside an object. */
static void free_slot(const void *object) {
  struct slot_object removed;
  if (!placement_take_out(object, &removed)) return;
  complete_count_free(object, removed.sample.bytes);
  call_sites_count_free(removed.sample);
  slot_give_back(&removed);
  struct thread_block *block = own_block();
  sampler_spend(is_thread_block(block) ? block : NULL, WORK_SLOT_BACK);
}

void complete_free(void *object) {
  if (!object || is_bootstrap(object)) return;
  if (!hook_ready())
    return; /* This thread is finding the allocator, and all its objects are in the bootstrap buffer. */
  if (is_in_slots(object)) {
    free_slot(object);
    return;
  }
  bool headed = uses_headers() && has_header(object);
  count_pending(pending_free_of(object, headed));
  call_sites_count_free(sample_of(object));
  if (headed) {
    header_free(object);
  } else {
    next.free(object);
  }
}

/* Moves an object of the bootstrap buffer to the allocator, where it counts as an allocation. */
static void *realloc_bootstrap(void *object, size_t size, struct origin origin) {
  size_t old_size = bootstrap_size(object);
  void *moved = complete_malloc(size, origin);
  if (moved) memcpy(moved, object, old_size < size ? old_size : size);
  return moved;
}

/* Moves an object from pages of its own (leak/slots.h) to the allocator. The sampler may move the new object to such
 * pages again. */
static void *realloc_slot(void *object, size_t size, struct origin origin) {
  if (size == 0) {
    free_slot(object);
    return NULL;
  }
  size_t room = slot_capacity(object);
  void *moved = next.malloc(size);
  if (moved) {
    memcpy(moved, object, room < size ? room : size);
    free_slot(object);
  }
  return complete_count_allocation(moved, size, origin);
}

void *complete_realloc(void *object, size_t size, struct origin origin) {
  if (!object) return complete_malloc(size, origin);
  if (is_bootstrap(object)) return realloc_bootstrap(object, size, origin);
  if (!hook_ready()) return NULL;
  if (is_in_slots(object)) return realloc_slot(object, size, origin);
  bool headed = uses_headers() && has_header(object);
  struct pending_free pending = pending_free_of(object, headed);
  struct live_sample sample = sample_of(object);
  if (headed && size == 0) {
    count_pending(pending);
    call_sites_count_free(sample);
    header_free(object);
    return NULL;
  }
  void *moved = headed ? header_realloc(object, size, is_counting()) : next.realloc(object, size);
  if (moved || size == 0) {
    call_sites_count_free(sample);
  } else {
    call_sites_put_back(object, sample);
  }
  if (uses_headers() && !headed) return moved; /* neither the old nor the new object is counted */
  /* The free is counted first: otherwise the peak would include both the old and the new object. */
  if (moved || size == 0) count_pending(pending);
  return moved || size > 0 ? complete_count_allocation(moved, size, origin) : NULL;
}

size_t complete_usable_size(void *object) {
  if (!object) return 0;
  if (is_bootstrap(object)) return bootstrap_size(object);
  if (!hook_ready()) return object == &hook_state; /* calls_arrive() (start.c) passes this address */
  if (is_in_slots(object)) return slot_usable(object);
  return uses_headers() && has_header(object) ? header_size(object) : next.usable_size(object);
}
