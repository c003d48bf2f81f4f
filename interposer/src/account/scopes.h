/*
 * Scopes: what a thread, or the process, does between two moments.
 *
 * Most figures of a scope are differences of counters that exist anyway, and cost nothing. Two are not: the peak and
 * the largest request within it. So a thread in a scope has no headroom: each of its events takes the slow path, which
 * compares the thread's net bytes with the peak of the innermost scope, and the request with its largest. Scopes nest,
 * so what does not exceed the innermost scope's exceeds that of no other; what does is passed on outward until one has
 * had more. The process's own peak is told as seldom as ever, by a headroom that the thread keeps beside
 * (thread_block.h). A thread outside of scopes pays nothing.
 *
 * A matched scope has a table of the addresses of its live objects too, by which it knows whether what is freed was
 * allocated within it. The table has room for MOST_MATCHED objects at a time; if it overflows, or if a signal handler
 * allocates while it changes, there are no matches.
 *
 * The scope of the process has the difference of two sums, and its peak is found as the process's is, with the same
 * error (totals.h).
 *
 * A scope is a record of a table, found by its number, which has a count of the record's uses in it. Its thread alone
 * links and unlinks it; any thread reads it and ends it. One that another thread has ended stays linked until its own
 * thread notices.
 */
#ifndef MALLOMETER_ACCOUNT_SCOPES_H
#define MALLOMETER_ACCOUNT_SCOPES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "account/thread_block.h"
#include "mallometer.h"

#define MOST_SCOPES 4096u
#define MOST_MATCHED 49152u

struct scope {
  /* In bytes, net of the thread since its block was carved. Written by the thread. */
  int64_t peak_net;
  uint64_t largest_doubled; /* doubled_size() */
  struct scope *outer;
  /* NULL: of the process. */
  struct thread_block *block;
  uint64_t state;
  uint32_t interruptions;
  uint32_t next_free;
  /* Addresses of live objects, and NULL where there are none. NULL: not matched. */
  uintptr_t *table;
  uint32_t in_table;
  /* The thread changes the table. */
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

/* The rare parts of what follows. The first two return the object. */
void *scope_raise(struct thread_block *block, void *object, size_t doubled);
void *scope_match_allocation(struct thread_block *block, void *object, size_t doubled);
void scope_match_free(struct thread_block *block, const void *object, size_t bytes);

/*
 * An allocation by a thread in a scope was counted. `object` is where it is for the program, and is returned; `doubled`
 * is the doubled_size() of the request, of 0 bytes 0. Where a thread's memory grows each allocation is a new peak of
 * the innermost scope, and of no other.
 */
static inline __attribute__((always_inline)) void *scope_allocation(struct thread_block *block, void *object,
                                                                    size_t doubled) {
  struct thread_scoping *scoping = thread_scoping(block);
  int64_t net = thread_net(block);
  if (doubled > scoping->largest_doubled) return scope_raise(block, object, doubled);
  if (net <= scoping->limit) return object;
  struct scope *innermost = scoping->innermost;
  int64_t before = innermost->peak_net;
  if (net > scoping->tell_at || net > innermost->outer->peak_net || net <= before ||
      !__atomic_compare_exchange_n(&innermost->peak_net, &before, net, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
    return scope_raise(block, object, doubled);
  }
  scoping->limit = net;
  return object;
}

/* An object is freed by a thread in a scope. `object`: NULL if it is not known. */
static inline void scope_free(struct thread_block *block, const void *object, size_t bytes) {
  if (block->reporting.scoped & SCOPED_MATCHED) scope_match_free(block, object, bytes);
}

/* Unlinks what others have ended: the own block is asked to. */
void scopes_tidy(struct thread_block *block);

/*
 * Opens a scope over the thread whose own block this is, which calls; NULL: over the process. Returns its number,
 * greater than 0. -EAGAIN: too many are open; -ENOMEM: there is no memory for the table. May change errno.
 */
int scope_open(struct thread_block *block, bool matched);

/*
 * From any thread. -EINVAL: no such scope is open. What another thread does meanwhile may be half in. May change errno.
 */
int scope_read(uint32_t number, struct mallometer_scope *out);
int scope_close(uint32_t number, struct mallometer_scope *out);

/*
 * The open scope, for what follows; of the calling thread, which has `block`. NULL, with *error: -EINVAL: there is
 * none; -EPERM: it is another's; -ENODATA: it has no matches.
 */
const struct scope *scope_of_own(uint32_t number, const struct thread_block *block, int *error);
bool scope_retains(const struct scope *scope, const void *object);

/* Counting was off: what came and went meanwhile is in no scope that is open now. */
void scopes_interrupt(void);

/* Whether a matched scope is open: the hook must then tell the addresses of all that is freed. */
bool scopes_match(void);

/* The calling thread ends, whose block this is. Its scopes keep what they have. */
void scopes_end(struct thread_block *block);

/* Bytes reserved; tables of matched scopes included. */
size_t scopes_footprint(void);

/* In the child of a fork, before thread_blocks_forked(): the scopes of threads that do not exist there end. */
void scopes_forked(void);

#endif
