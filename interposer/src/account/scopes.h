/*
 * Scopes: the events of a thread, or of the process, between two points in time.
 *
 * Most figures of a scope are differences of counters that exist anyway, and cost nothing. Two are not: the peak and
 * the largest request within it. A thread in a scope therefore has no headroom: each of its events takes the slow path,
 * which compares the thread's net bytes with the peak of the innermost scope, and the request with its largest. Scopes
 * nest, so an event that does not exceed the innermost scope's figures exceeds no others; otherwise the next outer
 * scope is compared until one is not exceeded. The process's own peak costs no more reports than without scopes, by a
 * limit of its own (thread_scoping.tell_at). A thread outside of scopes pays nothing.
 *
 * A matched scope also has a table of the addresses of its live objects, which tells whether a freed object was
 * allocated within it. The table has room for MOST_MATCHED objects at a time; if it overflows, or if a signal handler
 * allocates while it changes, there are no matches.
 *
 * A scope over the process is the difference of two sums, and its peak is found as the process's is, with the same
 * error (totals.h).
 *
 * A scope is a record of a table. Its number contains the record's index and number of uses. Only its own thread links
 * and unlinks it; any thread reads and ends it. A scope that another thread has ended stays linked until its own thread
 * unlinks it.
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
  /* Peak of the thread's net bytes since its block was carved. Written by the thread. */
  int64_t peak_net;
  uint64_t largest_doubled; /* the largest doubled_size() */
  struct scope *outer;
  /* NULL: a scope over the process. */
  struct thread_block *block;
  uint64_t state;
  uint32_t interruptions;
  uint32_t next_free;
  /* Addresses of live objects; 0 in empty slots. NULL: not matched. */
  uintptr_t *table;
  uint32_t in_table;
  /* The thread is changing the table. */
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

/* Bits of reporting.scoped. */
enum { SCOPED = 1, SCOPED_MATCHED = 2 };

/* The rare parts of the functions below. The first two return the object. */
void *scope_raise(struct thread_block *block, void *object, size_t doubled);
void *scope_match_allocation(struct thread_block *block, void *object, size_t doubled);
void scope_match_free(struct thread_block *block, const void *object, size_t bytes);

/*
 * Reports a counted allocation of a thread in a scope. `object` is its address for the program, and is returned;
 * `doubled` is the doubled_size() of the request, 0 for 0 bytes. Usually, while a thread's memory grows, each
 * allocation is a new peak of the innermost scope, and of no other.
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

/* Reports a counted allocation of a thread whose scopes may match objects, of the size that the program asked for. */
static inline void *scope_report(struct thread_block *block, void *object, size_t requested) {
  size_t doubled = requested ? doubled_size(requested) : 0;
  if (block->reporting.scoped & SCOPED_MATCHED) return scope_match_allocation(block, object, doubled);
  return scope_allocation(block, object, doubled);
}

/* Reports a free of a thread in a scope. `object`: NULL if unknown. */
static inline void scope_free(struct thread_block *block, const void *object, size_t bytes) {
  if (block->reporting.scoped & SCOPED_MATCHED) scope_match_free(block, object, bytes);
}

/* Unlinks scopes of the own block that other threads have ended. */
void scopes_unlink_closed(struct thread_block *block);

/*
 * Opens a scope over the calling thread, which owns the block; NULL: over the process. Returns its number, greater than
 * 0. -EAGAIN: too many are open; -ENOMEM: there is no memory for the table. May change errno.
 */
int scope_open(struct thread_block *block, bool matched);

/*
 * Reads or closes a scope, from any thread. -EINVAL: no such scope is open. A concurrent event may be counted in part.
 * May change errno.
 */
int scope_read(uint32_t number, struct mallometer_scope *out);
int scope_close(uint32_t number, struct mallometer_scope *out);

/*
 * Returns the open scope for scope_retains(), which must be the calling thread's, with `block`. NULL, with *error:
 * -EINVAL: there is none; -EPERM: it is another thread's; -ENODATA: it has no matches.
 */
const struct scope *scope_find_own(uint32_t number, const struct thread_block *block, int *error);
bool scope_retains(const struct scope *scope, const void *object);

/* Marks all open scopes as incomplete: counting was off, so they miss events. */
void scopes_interrupt(void);

/* Returns whether a matched scope is open: the hook must then report the addresses of all frees. */
bool scopes_include_matched(void);

/* Ends the scopes of the calling thread, which ends and owns the block. They keep their figures. */
void scopes_end(struct thread_block *block);

/* Returns the reserved bytes, including tables of matched scopes. */
size_t scopes_footprint(void);

/* Ends the scopes of threads that do not exist in a forked child. Before thread_blocks_forked(). */
void scopes_forked(void);

#endif
