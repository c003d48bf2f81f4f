/*
 * Scopes: the events of a thread, or of the process, between two points in time.
 *
 * Most values are differences of counters that exist anyway. The peak and the largest request need a look at each
 * event. The fast path of malloc and free does not look, so a thread in a scope has no headroom, which is the number of
 * bytes that it may allocate on the fast path (thread_block.h). The slow path compares an event first with the
 * innermost scope. An outer scope's peak and largest request are at least as high as an inner scope's, so an event that
 * does not exceed the inner scope's values is not compared with the outer scope.
 *
 * A matched scope also has a table with the addresses of up to MOST_MATCHED live objects, which shows whether a freed
 * object was allocated within the scope. If the table overflows, or a signal handler allocates while the table changes,
 * the scope reports no matches.
 *
 * The peak of a scope over the process is found like the process's peak, with the same error (totals.h).
 *
 * A scope is a record in a table. Its number contains the record's index and use count. Any thread may read and close a
 * scope, but only the measured thread changes its own list of scopes. A closed scope may therefore stay in the list for
 * some time.
 */
#ifndef MALLOMETER_ACCOUNT_SCOPES_H
#define MALLOMETER_ACCOUNT_SCOPES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "account/size_class.h"
#include "account/thread_block.h"
#include "mallometer.h"

#define MOST_SCOPES 4096u
#define MOST_MATCHED 49152u

struct scope {
  /* The highest thread_net() (allocated minus freed bytes) of the measured thread during the scope. That thread
   * writes this field. */
  int64_t peak_net;
  uint64_t largest_doubled;
  struct scope *outer;
  /* NULL for a scope over the process. */
  struct thread_block *block;
  uint64_t state;
  uint32_t interruptions;
  uint32_t next_free;
  /* The addresses of live objects, with 0 in empty slots. NULL if the scope does not match frees with allocations. */
  uintptr_t *table;
  uint32_t in_table;
  bool is_changing;
  bool overflowed;
  bool interrupted;
  uint32_t window;
  uint64_t temporary, temporary_bytes;
  union {
    struct {
      struct event_counters start, end;
    };
    struct mallometer_counters start_of_process;
  };
};

/* Bits of thread_block.reporting.scoped. SCOPED: the thread is in a scope. SCOPED_MATCHED: the thread is in a scope
 * that matches frees with allocations. */
enum { SCOPED = 1, SCOPED_MATCHED = 2 };

void *scope_raise(struct thread_block *block, void *object, size_t doubled);
void *scope_match_allocation(struct thread_block *block, void *object, size_t doubled);
void scope_match_free(struct thread_block *block, const void *object, size_t bytes);

/* Reports a counted allocation to the scopes of its thread, and returns `object`. `doubled` is the doubled_size() of
 * the request, or 0 for 0 bytes. Raises the innermost scope's peak itself, and calls scope_raise() if anything else
 * must change. */
static inline __attribute__((always_inline)) void *scope_allocation(struct thread_block *block, void *object,
                                                                    size_t doubled) {
  struct thread_scoping *scoping = thread_scoping(block);
  int64_t net = thread_net(block);
  if (doubled > scoping->largest_doubled) return scope_raise(block, object, doubled);
  if (net <= scoping->limit) return object;
  struct scope *innermost = scoping->innermost;
  int64_t before = innermost->peak_net;
  if (net > scoping->report_peak_at || net > innermost->outer->peak_net || net <= before ||
      !__atomic_compare_exchange_n(&innermost->peak_net, &before, net, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
    return scope_raise(block, object, doubled);
  }
  scoping->limit = net;
  return object;
}

/* Does what scope_allocation() does, and also serves scopes that match frees with allocations. */
static inline void *scope_report(struct thread_block *block, void *object, size_t requested) {
  size_t doubled = requested ? doubled_size(requested) : 0;
  if (block->reporting.scoped & SCOPED_MATCHED) return scope_match_allocation(block, object, doubled);
  return scope_allocation(block, object, doubled);
}

/* `object` is NULL if the address is unknown. */
static inline void scope_free(struct thread_block *block, const void *object, size_t bytes) {
  if (block->reporting.scoped & SCOPED_MATCHED) scope_match_free(block, object, bytes);
}

/* Unlinks the calling thread's scopes that other threads have closed. */
void scopes_unlink_closed(struct thread_block *block);

/*
 * Opens a scope over the calling thread, which owns `block`, or over the process if `block` is NULL. A `matched`
 * scope matches frees with allocations. Returns the scope's number, which is positive. Returns -EAGAIN if too many
 * scopes are open, or -ENOMEM if there is no memory for a table. May change errno.
 */
int scope_open(struct thread_block *block, bool matched);

/* Read or close a scope, in any thread. A concurrent event may be counted in part. Return -EINVAL if no scope with
 * this number is open. May change errno. */
int scope_read(uint32_t number, struct mallometer_scope *out);
int scope_close(uint32_t number, struct mallometer_scope *out);

/*
 * Returns the open scope with this number, for scope_retains(). The scope must measure the calling thread, which owns
 * `block`, and must have a table of its live objects. On failure returns NULL and sets *error: -EINVAL if there is no
 * such scope, -EPERM if it measures another thread, -ENODATA if it has no table, the table has overflowed, or counting
 * was off for some time.
 */
const struct scope *scope_find_own(uint32_t number, const struct thread_block *block, int *error);
bool scope_retains(const struct scope *scope, const void *object);

/* Marks all open scopes as incomplete, because counting was off. */
void scopes_interrupt(void);

/* Returns whether the hooks must report the address of each free, because an open scope matches frees with
 * allocations. */
bool scopes_include_matched(void);

/* Must be called when the calling thread, which owns `block`, ends. The counts of its scopes can still be read. */
void scopes_end(struct thread_block *block);

size_t scopes_footprint(void);

/*
 * Ends the scopes of threads that do not exist in the child of a fork. Must be called before thread_blocks_forked().
 */
void scopes_forked(void);

#endif
