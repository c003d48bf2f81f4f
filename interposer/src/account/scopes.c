/* Has the table of scopes, begins and ends scopes, and matches frees with allocations by address. See scopes.h. */
#include "account/scopes.h"

#include <errno.h>

#include "account/huge_requests.h"
#include "account/totals.h"
#include "platform/memory.h"
#include "platform/shared_words.h"

/* The end of each thread's list of scopes, and the innermost scope of a thread without scopes. No event exceeds the
 * peak or the largest request of no_scope. */
static struct scope no_scope = {.outer = &no_scope, .peak_net = INT64_MAX, .largest_doubled = UINT64_MAX};

/* ---- The table of records ----------------------------------------------------------------------------- */

/*
 * The lowest bits of scope.state. The higher bits count how often the record was used.
 *
 * - CLOSING: a thread reads the scope's counts and will then free the record.
 * - ABANDONED: the scope is closed, and its thread has yet to unlink and free the record.
 * - ENDED: the scope's thread has ended, and the record has its last counters.
 * - ORPHANED: the scope's thread ended while another thread was closing the scope.
 */
enum state { FREE, TAKEN, OPEN, CLOSING, ABANDONED, ENDED, ORPHANED, STATE_BITS = 3 };

/* A scope's number is positive. It consists of its record's index and the lowest bits of the record's use count. */
enum { INDEX_BITS = 12, USE_BITS = 31 - INDEX_BITS };
_Static_assert(MOST_SCOPES == 1u << INDEX_BITS, "INDEX_BITS must hold the index of each record");

static struct scope *records;
static uint32_t records_taken;
static free_list free_records;
static uint32_t interruptions;
static uint32_t matched_open;
static uint64_t table_bytes_mapped;

static enum state state_of(uint64_t word) { return (enum state)(word & ((1u << STATE_BITS) - 1)); }

static uint64_t with_state(uint64_t word, enum state state) { return (word >> STATE_BITS << STATE_BITS) | state; }

static uint64_t state_word(const struct scope *scope) { return __atomic_load_n(&scope->state, __ATOMIC_ACQUIRE); }

static bool change_state(struct scope *scope, uint64_t from, enum state to) {
  return __atomic_compare_exchange_n(&scope->state, &from, with_state(from, to), false, __ATOMIC_ACQ_REL,
                                     __ATOMIC_RELAXED);
}

static uint32_t number_by(const struct scope *scope, uint64_t word) {
  uint32_t use = (uint32_t)(word >> STATE_BITS) & ((1u << USE_BITS) - 1);
  return use << INDEX_BITS | (uint32_t)(scope - records);
}

/* Returns the scope with this number, or NULL. Sets *word to the scope's state or to FREE. */
static struct scope *scope_of(uint32_t number, uint64_t *word) {
  struct scope *all = __atomic_load_n(&records, __ATOMIC_ACQUIRE);
  uint32_t index = number & (MOST_SCOPES - 1);
  *word = FREE;
  if (!all || index >= __atomic_load_n(&records_taken, __ATOMIC_ACQUIRE)) return NULL;
  uint64_t found = state_word(&all[index]);
  if (number_by(&all[index], found) != number) return NULL;
  *word = found;
  return &all[index];
}

static bool reserve_records(void) {
  if (__atomic_load_n(&records, __ATOMIC_ACQUIRE)) return true;
  const size_t bytes = MOST_SCOPES * sizeof(struct scope);
  struct scope *fresh = memory_shortage(bytes) ? NULL : memory_reserve(bytes), *expected = NULL;
  if (!fresh) return false;
  if (!__atomic_compare_exchange_n(&records, &expected, fresh, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) {
    memory_give_back(fresh, bytes); /* another thread has stored its table first */
  }
  return true;
}

static uint32_t *next_free(uint32_t index) { return &records[index].next_free; }

static struct scope *pop_free(void) {
  uint32_t index = free_list_pop(&free_records, next_free);
  return index == UINT32_MAX ? NULL : &records[index];
}

static struct scope *take_new_record(void) {
  uint32_t index = reserve_numbers(&records_taken, 1, MOST_SCOPES);
  return index == MOST_SCOPES ? NULL : &records[index];
}

/* ---- Tables of addresses ------------------------------------------------------------------------------- */

/* A power of two. At least a quarter of the slots stay empty, to keep linear probing short. */
enum { TABLE_SLOTS = 65536 };
_Static_assert(MOST_MATCHED <= TABLE_SLOTS * 3 / 4, "at least a quarter of the slots stay empty");

static uint32_t home_of(uintptr_t address) { return (uint32_t)(address >> 4) * 0x9e3779b1u >> 16; }

static uint32_t next_slot(uint32_t slot) { return (slot + 1) % TABLE_SLOTS; }

/* Returns the slot of an address, or the empty slot where it belongs. */
static uint32_t slot_of(const uintptr_t *table, uintptr_t address) {
  uint32_t slot = home_of(address);
  while (table[slot] != 0 && table[slot] != address) slot = next_slot(slot);
  return slot;
}

/* Clears a slot. Also moves later addresses back into the gap, because a search stops at an empty slot and would
 * otherwise miss them. */
static void clear_slot(uintptr_t *table, uint32_t slot) {
  for (uint32_t other = next_slot(slot); table[other] != 0; other = next_slot(other)) {
    uint32_t distance = (other - home_of(table[other])) % TABLE_SLOTS;
    if (distance < (other - slot) % TABLE_SLOTS) continue;
    table[slot] = table[other];
    slot = other;
  }
  table[slot] = 0;
}

static bool map_table(struct scope *scope, bool matched) {
  const size_t bytes = TABLE_SLOTS * sizeof(uintptr_t);
  scope->table = matched ? memory_map(NULL, bytes) : NULL;
  if (!matched) return true;
  if (!scope->table) return false;
  __atomic_fetch_add(&table_bytes_mapped, bytes, __ATOMIC_RELAXED);
  return true;
}

static void unmap_table(struct scope *scope) {
  const size_t bytes = TABLE_SLOTS * sizeof(uintptr_t);
  if (!scope->table) return;
  memory_unmap(scope->table, bytes);
  scope->table = NULL;
  __atomic_fetch_sub(&table_bytes_mapped, bytes, __ATOMIC_RELAXED);
}

/* Marks that the thread is using its list of scopes, or a scope's table of addresses. Signal handlers then leave
 * closed scopes in the list, and the thread removes them afterwards. Returns whether the mark was set before. */
static bool hold_chain(struct thread_block *block) {
  struct thread_scoping *scoping = thread_scoping(block);
  bool before = scoping->is_held;
  scoping->is_held = true;
  __atomic_signal_fence(__ATOMIC_SEQ_CST);
  return before;
}

static void release_chain(struct thread_block *block, bool before) {
  __atomic_signal_fence(__ATOMIC_SEQ_CST);
  thread_scoping(block)->is_held = before;
}

/*
 * Begins a change of the scope's table of objects. Returns false if there is no table, or if it has overflowed. If a
 * signal handler calls this while the interrupted code changes the table, the table counts as overflowed from then
 * on.
 */
static bool begin_change(struct scope *scope) {
  if (!scope->table || scope->overflowed) return false;
  if (scope->is_changing) {
    scope->overflowed = true;
    return false;
  }
  scope->is_changing = true;
  __atomic_signal_fence(__ATOMIC_SEQ_CST);
  return true;
}

static void end_change(struct scope *scope) {
  __atomic_signal_fence(__ATOMIC_SEQ_CST);
  scope->is_changing = false;
}

static void match_allocation(struct scope *scope, const void *object) {
  if (!begin_change(scope)) return;
  uint32_t slot = slot_of(scope->table, (uintptr_t)object);
  if (scope->table[slot] != 0) {
    /* Another thread freed the earlier object at this address. That object counts as retained. */
  } else if (scope->in_table == MOST_MATCHED) {
    scope->overflowed = true;
  } else {
    scope->table[slot] = (uintptr_t)object;
    scope->in_table++;
  }
  end_change(scope);
}

static void match_free(struct scope *scope, const void *object, size_t bytes) {
  if (!begin_change(scope)) return;
  uint32_t slot = slot_of(scope->table, (uintptr_t)object);
  if (scope->table[slot] != 0) {
    clear_slot(scope->table, slot);
    scope->in_table--;
    local_add(&scope->temporary, 1);
    local_add(&scope->temporary_bytes, bytes);
  }
  end_change(scope);
}

void scope_match_free(struct thread_block *block, const void *object, size_t bytes) {
  bool before = hold_chain(block);
  for (struct scope *s = thread_scoping(block)->innermost; s != &no_scope; s = s->outer) match_free(s, object, bytes);
  release_chain(block, before);
}

bool scopes_include_matched(void) { return __atomic_load_n(&matched_open, __ATOMIC_SEQ_CST) > 0; }

/* ---- A thread's chain of scopes ------------------------------------------------------------------------ */

static void free_record(struct scope *scope) {
  unmap_table(scope);
  uint64_t word = state_word(scope), use = (word >> STATE_BITS) + 1;
  if ((use & ((1u << USE_BITS) - 1)) == 0) use++; /* keeps the scope's number from becoming 0 */
  __atomic_store_n(&scope->state, use << STATE_BITS | FREE, __ATOMIC_RELEASE);
  free_list_push(&free_records, (uint32_t)(scope - records), &scope->next_free);
}

/* A thread in a scope gets no headroom (bytes that it may allocate without a report), so that each of its events is
 * reported. */
static void choose_reports(struct thread_block *block) {
  const struct scope *innermost = thread_scoping(block)->innermost;
  uint8_t scoped = innermost == &no_scope ? 0 : SCOPED;
  for (const struct scope *s = innermost; s != &no_scope; s = s->outer) {
    if (s->table) scoped |= SCOPED_MATCHED;
  }
  block->reporting.scoped = scoped;
  __atomic_signal_fence(__ATOMIC_SEQ_CST);
  thread_scoping(block)->limit = INT64_MIN;
  thread_scoping(block)->largest_doubled = 0;
  if (scoped) {
    headroom_withdraw(block);
  } else {
    peak_flush(block); /* lets the thread's events take the fast path again */
  }
}

static void request_unlinking(struct thread_block *block) {
  __atomic_fetch_or(&block->reporting.requests, REQUEST_UNLINKING, __ATOMIC_RELEASE);
}

static bool take_unlinking_request(struct thread_block *block) {
  return __atomic_fetch_and(&block->reporting.requests, (uint8_t)~REQUEST_UNLINKING, __ATOMIC_ACQUIRE) &
         REQUEST_UNLINKING;
}

static void unlink_abandoned(struct thread_block *block) {
  struct scope **place = &thread_scoping(block)->innermost, *scope;
  while ((scope = *place) != &no_scope) {
    struct scope *expected = scope;
    if (state_of(state_word(scope)) != ABANDONED) {
      place = &scope->outer;
    } else if (__atomic_compare_exchange_n(place, &expected, scope->outer, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
      free_record(scope);
    } else {
      place = &thread_scoping(block)->innermost; /* a signal handler has linked a scope in front of this one */
    }
  }
}

/*
 * Unlinks the calling thread's closed scopes. In two cases the function only sets a request, and the thread unlinks the
 * scopes later:
 *
 * - The caller is a signal handler that interrupted an event. choose_reports() would set block->headroom (the bytes
 *   that the thread may allocate without a report), and the interrupted event would overwrite the new value.
 * - The caller is a signal handler that interrupted code that uses the thread's list of scopes.
 */
static void unlink_or_postpone(struct thread_block *block) {
  if (thread_scoping(block)->is_held || is_in_event(block)) {
    request_unlinking(block);
    return;
  }
  do {
    bool before = hold_chain(block);
    unlink_abandoned(block);
    choose_reports(block);
    release_chain(block, before);
  } while (take_unlinking_request(block));
}

void scopes_unlink_closed(struct thread_block *block) {
  if (block->reporting.scoped) unlink_or_postpone(block);
}

/* Raises the scope's peak and largest request. Returns whether the enclosing scope may have to be raised, too. */
static bool raise(struct scope *scope, int64_t net, uint64_t doubled) {
  bool larger = doubled > scope->largest_doubled;
  if (larger) scope->largest_doubled = doubled;
  return raise_to(&scope->peak_net, net) || larger;
}

/* Raises the peaks and largest requests of the thread's scopes, from the innermost scope outward. An outer scope's
 * values are at least as high as those of an inner scope, so the loop stops at the first scope whose values the
 * event does not raise. */
void *scope_raise(struct thread_block *block, void *object, size_t doubled) {
  struct thread_scoping *scoping = thread_scoping(block);
  int64_t net = thread_net(block);
  if (net > __atomic_load_n(&scoping->report_peak_at, __ATOMIC_RELAXED)) peak_flush(block);
  bool before = hold_chain(block);
  struct scope *scope = scoping->innermost;
  while (scope != &no_scope && raise(scope, net, doubled)) scope = scope->outer;
  int64_t peak_net = scoping->innermost->peak_net,
          report_at = __atomic_load_n(&scoping->report_peak_at, __ATOMIC_RELAXED);
  scoping->largest_doubled = scoping->innermost->largest_doubled;
  scoping->limit = peak_net < report_at ? peak_net : report_at;
  release_chain(block, before);
  return object;
}

void *scope_match_allocation(struct thread_block *block, void *object, size_t doubled) {
  (void)scope_raise(block, object, doubled);
  bool before = hold_chain(block);
  for (struct scope *s = thread_scoping(block)->innermost; s != &no_scope; s = s->outer) match_allocation(s, object);
  release_chain(block, before);
  return object;
}

/* ---- The beginning of a scope -------------------------------------------------------------------------- */

static void begin_in_thread(struct scope *scope, struct thread_block *block) {
  struct thread_scoping *scoping = thread_scoping(block);
  if (!scoping->innermost) scoping->innermost = &no_scope;
  if (scoping->innermost != &no_scope) unlink_or_postpone(block);
  /* Withdraws the thread's headroom, the bytes that it may allocate without a report, before the scope's start is
   * read. With headroom, a signal handler might allocate after the start, and the scope's peak would miss that. */
  if (!block->reporting.scoped) {
    scoping->report_peak_at = scoping->limit = INT64_MIN; /* the first event calls peak_flush(), which sets both */
    block->reporting.scoped = SCOPED;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    headroom_withdraw(block);
  }
  do {
    scope->start = block->events;
    scope->peak_net = (int64_t)(scope->start.allocated_bytes.value - scope->start.freed_bytes.value);
    scope->outer = scoping->innermost;
    __atomic_store_n(&scope->state, with_state(state_word(scope), OPEN), __ATOMIC_RELEASE);
  } while (!__atomic_compare_exchange_n(&scoping->innermost, &scope->outer, scope, false, __ATOMIC_RELEASE,
                                        __ATOMIC_RELAXED));
  bool before = hold_chain(block);
  choose_reports(block);
  release_chain(block, before);
  if (!before && take_unlinking_request(block)) unlink_or_postpone(block);
}

static int begin_in_process(struct scope *scope) {
  scope->start_of_process = (struct mallometer_counters){0};
  totals_read_whole(&scope->start_of_process);
  int window = peak_window_open(&scope->start_of_process);
  if (window < 0) return -EAGAIN;
  scope->window = (uint32_t)window;
  __atomic_store_n(&scope->state, with_state(state_word(scope), OPEN), __ATOMIC_RELEASE);
  return 0;
}

/* Frees the records of scopes that were still open when their threads ended. Returns one of them, or NULL. */
static struct scope *reclaim(void) {
  for (uint32_t i = 0; i < MOST_SCOPES; i++) {
    uint64_t word = state_word(&records[i]);
    if (state_of(word) == ENDED && change_state(&records[i], word, CLOSING)) free_record(&records[i]);
  }
  return pop_free();
}

static struct scope *take_record(void) {
  struct scope *scope = pop_free();
  if (!scope) scope = take_new_record();
  if (!scope) scope = reclaim();
  if (!scope) return NULL;
  uint64_t use = state_word(scope) >> STATE_BITS;
  if (use == 0) use = 1;
  __atomic_store_n(&scope->state, use << STATE_BITS | TAKEN, __ATOMIC_RELAXED);
  return scope;
}

int scope_open(struct thread_block *block, bool matched) {
  if (!reserve_records()) return -ENOMEM;
  struct scope *scope = take_record();
  if (!scope) return -EAGAIN;
  int result = map_table(scope, matched) ? 0 : -ENOMEM;
  __atomic_store_n(&scope->block, block, __ATOMIC_RELAXED);
  scope->largest_doubled = 0;
  scope->in_table = 0;
  scope->is_changing = scope->overflowed = scope->interrupted = false;
  scope->temporary = scope->temporary_bytes = 0;
  scope->interruptions = __atomic_load_n(&interruptions, __ATOMIC_ACQUIRE);
  if (result == 0 && !block) result = begin_in_process(scope);
  if (result != 0) {
    free_record(scope);
    return result;
  }
  if (matched) __atomic_fetch_add(&matched_open, 1, __ATOMIC_SEQ_CST);
  uint32_t number = number_by(scope, state_word(scope));
  if (block) begin_in_thread(scope, block);
  return (int)number;
}

/* ---- Reading a scope ----------------------------------------------------------------------------------- */

void scopes_interrupt(void) { __atomic_fetch_add(&interruptions, 1, __ATOMIC_RELEASE); }

static bool was_interrupted(const struct scope *scope) {
  return scope->interruptions != __atomic_load_n(&interruptions, __ATOMIC_ACQUIRE);
}

static void copy_events(const struct mallometer_counters *events, struct mallometer_scope *out) {
  for (unsigned i = 0; i < MALLOMETER_SIZE_CLASSES; i++) out->allocations[i] = events->allocations[i];
  out->frees = events->frees;
  out->failed = events->failed;
  out->requested_bytes = events->requested_bytes;
  out->allocated_bytes = events->allocated_bytes;
  out->freed_bytes = events->freed_bytes;
}

static void read_matches(const struct scope *scope, uint64_t temporary, uint64_t temporary_bytes,
                         struct mallometer_scope *out) {
  out->flags |= scope->overflowed ? MALLOMETER_SCOPE_OVERFLOWED : MALLOMETER_SCOPE_HAS_MATCHES;
  if (scope->overflowed) return;
  out->temporary_allocations = temporary;
  out->temporary_bytes = temporary_bytes;
  uint64_t allocations = 0;
  for (unsigned i = 0; i < MALLOMETER_SIZE_CLASSES; i++) allocations += out->allocations[i];
  out->retained_allocations = allocations - out->temporary_allocations;
  out->retained_bytes = out->allocated_bytes - out->temporary_bytes;
  out->foreign_frees = out->frees - out->temporary_allocations;
  out->foreign_freed_bytes = out->freed_bytes - out->temporary_bytes;
}

static void read_thread(const struct scope *scope, const struct thread_block *block, bool ended,
                        struct mallometer_scope *out) {
  /* Reads `temporary` and `temporary_bytes` before the counters from which read_matches() subtracts them. Because of
   * events during the reading, the differences may then be too large, but not negative. */
  uint64_t temporary = __atomic_load_n(&scope->temporary, __ATOMIC_ACQUIRE);
  uint64_t temporary_bytes = __atomic_load_n(&scope->temporary_bytes, __ATOMIC_ACQUIRE);
  struct mallometer_counters start = {0}, now = {0};
  totals_copy(&scope->start, &start);
  totals_copy(ended ? &scope->end : &block->events, &now);
  mallometer_difference(&start, &now, &now);
  copy_events(&now, out);
  int64_t net_of_start = (int64_t)(start.allocated_bytes - start.freed_bytes);
  out->net_bytes = (int64_t)(out->allocated_bytes - out->freed_bytes);
  int64_t peak = __atomic_load_n(&scope->peak_net, __ATOMIC_RELAXED) - net_of_start;
  out->peak_bytes = peak > 0 ? (uint64_t)peak : 0;
  uint64_t largest_doubled = __atomic_load_n(&scope->largest_doubled, __ATOMIC_RELAXED);
  out->largest_bytes = largest_doubled ? size_of_doubled(largest_doubled) : 0;
  if (ended) out->flags |= MALLOMETER_SCOPE_ENDED;
  if (scope->table) read_matches(scope, temporary, temporary_bytes, out);
}

static void bound_largest(struct mallometer_scope *out) {
  unsigned class = MALLOMETER_SIZE_CLASSES;
  while (class > 0 && out->allocations[class - 1] == 0) class --;
  if (class == 0) return;
  uint64_t at_most = mallometer_class_limit(class - 1), ever = largest_request();
  if (ever > 0 && ever < at_most) at_most = ever;
  uint64_t less = class > 1 ? mallometer_class_limit(class - 2) + 1 : 0;
  out->largest_bytes = at_most;
  out->largest_error_bytes = at_most - less;
}

static void read_process(const struct scope *scope, struct mallometer_scope *out) {
  struct mallometer_counters now = {0};
  (void)totals_raise_peak(&now);
  now = (struct mallometer_counters){0};
  totals_read_whole(&now);
  mallometer_difference(&scope->start_of_process, &now, &now);
  copy_events(&now, out);
  struct peak_window window = peak_window_read(scope->window, &now);
  out->net_bytes = window.net;
  out->peak_bytes = window.peak;
  out->peak_error_bytes = peak_error();
  bound_largest(out);
}

static void read_figures(const struct scope *scope, bool ended, struct mallometer_scope *out) {
  /* Loads `block` only once. The scope may be closed meanwhile, and its record reused for a scope over the process,
   * which has no block. */
  const struct thread_block *block = __atomic_load_n(&scope->block, __ATOMIC_RELAXED);
  if (block) {
    read_thread(scope, block, ended, out);
  } else {
    read_process(scope, out);
  }
  if (ended ? !scope->interrupted : !was_interrupted(scope)) return;
  out->flags = (out->flags & MALLOMETER_SCOPE_ENDED) | MALLOMETER_SCOPE_INCOMPLETE;
  out->net_bytes = 0;
  out->peak_bytes = out->peak_error_bytes = 0;
  out->temporary_allocations = out->temporary_bytes = out->retained_allocations = out->retained_bytes = 0;
  out->foreign_frees = out->foreign_freed_bytes = 0;
}

int scope_read(uint32_t number, struct mallometer_scope *out) {
  for (;;) {
    uint64_t word;
    const struct scope *scope = scope_of(number, &word);
    enum state state = state_of(word);
    if (state != OPEN && state != ENDED) return -EINVAL;
    struct mallometer_scope figures = {0};
    /*
     * Another thread may reuse the record for a new scope while read_figures() copies it. free_record() changes the
     * state before such a reuse. If the copy contains a write of the other thread, the fence makes the changed state
     * visible to the load below, and the loop reads again (test/litmus/reused-sample).
     */
    read_figures(scope, state == ENDED, &figures);
    __atomic_thread_fence(__ATOMIC_ACQUIRE);
    if (state_word(scope) != word) continue; /* the scope was closed, or its thread ended, during the reading */
    *out = figures;
    return 0;
  }
}

const struct scope *scope_find_own(uint32_t number, const struct thread_block *block, int *error) {
  uint64_t word;
  const struct scope *scope = scope_of(number, &word);
  enum state state = state_of(word);
  *error = 0;
  if (state != OPEN && state != ENDED) {
    *error = -EINVAL;
  } else if (state == ENDED || (scope->block && scope->block != block)) {
    *error = -EPERM;
  } else if (!scope->table || scope->overflowed || was_interrupted(scope)) {
    *error = -ENODATA;
  }
  return *error ? NULL : scope;
}

bool scope_retains(const struct scope *scope, const void *object) {
  struct thread_block *block = scope->block;
  if (!block || !object) return false;
  bool before = hold_chain(block);
  bool retained = scope->table && scope->table[slot_of(scope->table, (uintptr_t)object)] != 0;
  release_chain(block, before);
  return retained;
}

/* ---- The end of a scope -------------------------------------------------------------------------------- */

/* Leaves a closed scope to the measured thread, which may be in the middle of an event. If that thread has ended,
 * frees the scope here. */
static void abandon(struct scope *scope, uint64_t closing, struct mallometer_scope *out) {
  struct thread_block *block = scope->block;
  if (!change_state(scope, closing, ABANDONED)) {
    /*
     * The change fails for one of two reasons. If the measured thread has ended, the state is ORPHANED, and the record
     * is freed below. Otherwise a signal handler of this thread has forked, and this is the child, where
     * scopes_forked() has already freed or abandoned the record.
     */
    if (!change_state(scope, with_state(closing, ORPHANED), CLOSING)) return;
    *out = (struct mallometer_scope){0};
    read_figures(scope, true, out);
    free_record(scope);
  } else if (block == own_block()) {
    unlink_or_postpone(block);
  } else {
    request_unlinking(block);
  }
}

int scope_close(uint32_t number, struct mallometer_scope *out) {
  struct scope *scope;
  uint64_t word;
  enum state state;
  do {
    scope = scope_of(number, &word);
    state = state_of(word);
    if (state != OPEN && state != ENDED) return -EINVAL;
  } while (!change_state(scope, word, CLOSING));
  *out = (struct mallometer_scope){0};
  read_figures(scope, state == ENDED, out);
  if (scope->table && state == OPEN) __atomic_fetch_sub(&matched_open, 1, __ATOMIC_SEQ_CST);
  /* The change of the state fails in one case: a signal handler of this thread forked meanwhile, and this is the
   * child. Then scopes_forked() has freed the record. */
  if ((!scope->block || state == ENDED) && !change_state(scope, with_state(word, CLOSING), TAKEN)) return 0;
  if (!scope->block) peak_window_close(scope->window);
  if (state == OPEN && scope->block) {
    abandon(scope, with_state(word, CLOSING), out);
  } else {
    free_record(scope);
  }
  return 0;
}

static void end(struct scope *scope) {
  scope->end = scope->block->events;
  scope->interrupted = was_interrupted(scope);
  for (;;) {
    uint64_t word = state_word(scope);
    switch (state_of(word)) {
      case OPEN:
        if (!change_state(scope, word, ENDED)) continue;
        if (scope->table) __atomic_fetch_sub(&matched_open, 1, __ATOMIC_SEQ_CST);
        return;
      case CLOSING:
        if (!change_state(scope, word, ORPHANED)) continue;
        return;
      case ABANDONED:
        free_record(scope);
        return;
      default:
        return;
    }
  }
}

void scopes_end(struct thread_block *block) {
  if (!block->reporting.scoped) return;
  struct thread_scoping *scoping = thread_scoping(block);
  struct scope *scope = scoping->innermost;
  scoping->innermost = &no_scope;
  scoping->is_held = false; /* may be true after a signal handler left an event by longjmp */
  block->reporting.scoped = 0;
  while (scope != &no_scope) {
    struct scope *outer = scope->outer;
    end(scope);
    scope = outer;
  }
}

size_t scopes_footprint(void) {
  size_t bytes = __atomic_load_n(&records, __ATOMIC_RELAXED) ? MOST_SCOPES * sizeof(struct scope) : 0;
  return bytes + __atomic_load_n(&table_bytes_mapped, __ATOMIC_RELAXED);
}

static void free_closing_record(struct scope *scope, uint64_t word) {
  if (!scope->block) peak_window_close(scope->window);
  if (scope->block != own_block()) {
    free_record(scope);
  } else if (change_state(scope, word, ABANDONED)) {
    request_unlinking(scope->block);
  }
}

void scopes_forked(void) {
  uint32_t taken = __atomic_load_n(&records_taken, __ATOMIC_RELAXED), matched = 0;
  for (uint32_t i = 0; i < taken; i++) {
    struct scope *scope = &records[i];
    uint64_t word = state_word(scope);
    enum state state = state_of(word);
    if (state != OPEN && state != ABANDONED && state != CLOSING) continue;
    if (scope->block && scope->block != own_block()) {
      thread_scoping(scope->block)->innermost = &no_scope;
      thread_scoping(scope->block)->is_held = false;
      scope->block->reporting.scoped = 0;
      if (state != CLOSING) end(scope);
    }
    if (state == CLOSING) free_closing_record(scope, word);
    if (state_of(state_word(scope)) == OPEN && scope->table) matched++;
  }
  __atomic_store_n(&matched_open, matched, __ATOMIC_SEQ_CST);
}
