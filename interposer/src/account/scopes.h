/*
 * Scopes: the events of a thread, or of the process, between two points in time.
 *
 * Most values of a scope are differences of counters that exist anyway, and cost nothing. The peak and the largest
 * request are not. A thread in a scope therefore has no headroom (thread_block.h): each of its events takes the slow
 * path, which compares the thread's net bytes and the request with the figures of the innermost scope. Scopes nest, so
 * an event that does not exceed these figures exceeds those of no outer scope; otherwise the outer scopes are compared
 * in turn.
 *
 * A matched scope also has a table of the addresses of its live objects, which shows whether a freed object was
 * allocated within the scope. The table has room for MOST_MATCHED objects at a time. If the table overflows, or a
 * signal handler allocates while the table is changing, the scope reports no matches.
 *
 * A scope over the process is the difference of two sums, and its peak is found in the same way as the process's peak,
 * with the same error (totals.h).
 *
 * A scope is a record in a table. Its number contains the record's index and how often the record was used. Only the
 * thread that the scope measures links the record into its chain and unlinks it; any thread may read and close the
 * scope. A scope that another thread has closed stays linked until the thread that it measures unlinks it.
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
  /* The peak of the thread's net bytes, which are counted from the first use of the thread's block. Written by the
   * thread. */
  int64_t peak_net;
  uint64_t largest_doubled; /* doubled_size() of the largest request */
  struct scope *outer;
  /* NULL for a scope over the process. */
  struct thread_block *block;
  uint64_t state;
  uint32_t interruptions;
  uint32_t next_free;
  /* Addresses of live objects; 0 in empty slots. NULL if the scope does not match frees with allocations. */
  uintptr_t *table;
  uint32_t in_table;
  /* Whether the thread is changing the table. */
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

/* Bits of thread_block.reporting.scoped: the thread is in a scope; it is in a scope that matches frees with
 * allocations. */
enum { SCOPED = 1, SCOPED_MATCHED = 2 };

/* The slow paths of the functions below. The first two return the object. */
void *scope_raise(struct thread_block *block, void *object, size_t doubled);
void *scope_match_allocation(struct thread_block *block, void *object, size_t doubled);
void scope_match_free(struct thread_block *block, const void *object, size_t bytes);

/*
 * Reports a counted allocation to the scopes of its thread. Returns `object`, the address that the program receives;
 * `doubled` is the doubled_size() of the request, 0 for 0 bytes. Handles the usual case itself: while a thread's memory
 * grows, each allocation is a new peak of the innermost scope only.
 */
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

/* Reports a counted allocation to the scopes of its thread, including those that match frees with allocations.
 * `requested` is the size that the program requested. */
static inline void *scope_report(struct thread_block *block, void *object, size_t requested) {
  size_t doubled = requested ? doubled_size(requested) : 0;
  if (block->reporting.scoped & SCOPED_MATCHED) return scope_match_allocation(block, object, doubled);
  return scope_allocation(block, object, doubled);
}

/* Reports a free to those scopes of its thread that match frees with allocations. `object` is NULL if the address is
 * unknown. */
static inline void scope_free(struct thread_block *block, const void *object, size_t bytes) {
  if (block->reporting.scoped & SCOPED_MATCHED) scope_match_free(block, object, bytes);
}

/* Unlinks the calling thread's scopes that other threads have closed. */
void scopes_unlink_closed(struct thread_block *block);

/*
 * Opens a scope over the calling thread, which owns `block`, or over the process if `block` is NULL. With `matched`,
 * the scope matches frees with allocations. Returns the scope's number, greater than 0. -EAGAIN: too many scopes are
 * open; -ENOMEM: there is no memory for a table. May change errno.
 */
int scope_open(struct thread_block *block, bool matched);

/*
 * Read or close a scope; may be called from any thread. -EINVAL: no scope with this number is open. A concurrent event
 * may be counted in part. May change errno.
 */
int scope_read(uint32_t number, struct mallometer_scope *out);
int scope_close(uint32_t number, struct mallometer_scope *out);

/*
 * Returns the open scope with this number for scope_retains(). The scope must be over the calling thread, which owns
 * `block`. Returns NULL and sets *error otherwise. -EINVAL: there is no such scope; -EPERM: the scope is another
 * thread's; -ENODATA: the scope does not match frees, its table has overflowed, or counting was off for some time.
 */
const struct scope *scope_find_own(uint32_t number, const struct thread_block *block, int *error);
bool scope_retains(const struct scope *scope, const void *object);

/* Marks all open scopes as incomplete, because they missed the events while counting was off. */
void scopes_interrupt(void);

/* Returns whether a scope is open that matches frees with allocations. The hooks must then report the address of each
 * free. */
bool scopes_include_matched(void);

/* Ends the scopes of the calling thread, which is ending and owns `block`. Their counts can still be read. */
void scopes_end(struct thread_block *block);

/* Returns the bytes reserved for scopes, including the tables of matched scopes. */
size_t scopes_footprint(void);

/* Ends the scopes of threads that do not exist in a forked child. Call this before thread_blocks_forked(). */
void scopes_forked(void);

#endif
