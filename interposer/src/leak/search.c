/* The thread that reads memory, piece by piece, and what it found. See search.h. */
#include "leak/search.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "account/own_thread.h"
#include "leak/observation.h"
#include "leak/slots.h"
#include "leak/sought.h"
#include "leak/trial.h"
#include "platform/clock.h"
#include "platform/kernel.h"
#include "platform/mappings.h"
#include "platform/memory.h"
#include "platform/resident_memory.h"
#include "platform/wait.h"

#define SECOND UINT64_C(1000000000)
#define MILLISECOND UINT64_C(1000000)
/* The thread sleeps for so many times the processor time since it last slept, less one. */
#define TIMES_COST 10u
#define WORK_BETWEEN_PAUSES (2 * MILLISECOND)
#define COPIED_AT_ONCE ((size_t)128 << 10)
#define PAGES_AT_ONCE ((size_t)32768)
/* New mappings are noticed after so much. */
#define BYTES_BETWEEN_MAPPINGS ((uint64_t)256 << 20)
/* Mappings that nobody can fill, such as a sanitizer's shadow, would take seconds to pass over. */
#define MOST_ADDRESSES ((uint64_t)4 << 40)
/* More than the objects, the buffer and the rows of mappings are. */
#define MOST_RESERVED ((size_t)16 << 20)
/* An epoch lasts a minute at most, unless slots cannot be read. */
#define LONGEST_WAIT_FOR_LOOK (180 * SECOND)

static int state = MALLOMETER_SEARCH_NONE;
static bool forked;
static const char *reason = "";
static uint32_t number, left_out, wanted_count;
static uint32_t wanted[MOST_SOUGHT_SITES];
static uint64_t most_bytes, began_ns, ended_ns, cpu_ns, cpu_of_slots_ns, searched, resident, swapped;
static uint64_t rested_cpu_ns; /* processor time of the thread when it last slept */
static uint64_t overhead_ns, overhead_before_ns;
static size_t stack_bytes, buffer_bytes;
static enum memory_copying copying;
static enum memory_telling telling;
static bool slots_are_told;      /* which of their pages are in memory */
static uint32_t slots_were_read; /* the thread waits for a change */

static struct buffer {
  uintptr_t words[COPIED_AT_ONCE / sizeof(uintptr_t)];
  uint8_t states[PAGES_AT_ONCE];
} * buffer;

/* Written by the searching thread. The state, which is released, tells whether figures belong together. */
static uint64_t get(const uint64_t *figure) { return __atomic_load_n(figure, __ATOMIC_RELAXED); }

static void set(uint64_t *figure, uint64_t value) { __atomic_store_n(figure, value, __ATOMIC_RELAXED); }

static void add(uint64_t *figure, uint64_t more) { set(figure, get(figure) + more); }

static void set_cpu(uint64_t now) {
  set(&cpu_ns, now);
  set(&overhead_ns, overhead_before_ns + now);
}

/* ---- Pieces -------------------------------------------------------------------------------------------- */

/* Each pause costs time too: what the processor's caches held is gone after it. */
static void pause_when_due(void) {
  uint64_t now = thread_cpu_ns(), took = now - rested_cpu_ns;
  set_cpu(now);
  if (took < WORK_BETWEEN_PAUSES) return;
  wait_until(monotonic_ns() + (TIMES_COST - 1) * took);
  rested_cpu_ns = thread_cpu_ns();
}

/* Pages in memory. What is gone by now is passed over. */
static void compare_run(uintptr_t begin, uintptr_t end, bool pauses) {
  while (begin < end && get(&searched) < most_bytes) {
    size_t wanted_bytes = end - begin < COPIED_AT_ONCE ? end - begin : COPIED_AT_ONCE;
    size_t copied = memory_copy(copying, begin, buffer->words, wanted_bytes);
    sought_compare(buffer->words, copied / sizeof *buffer->words, begin);
    add(&searched, copied);
    begin += copied == wanted_bytes ? copied : copied / memory_page_bytes() * memory_page_bytes() + memory_page_bytes();
    if (pauses) pause_when_due();
  }
}

static void leave_out(uintptr_t from, uintptr_t to, uintptr_t begin, size_t pages) {
  size_t page = memory_page_bytes();
  for (uintptr_t at = from > begin ? from : begin; at < to && at < begin + pages * page; at += page) {
    buffer->states[(at - begin) / page] = PAGE_UNTOUCHED;
  }
}

static void leave_out_own(uintptr_t begin, size_t pages) {
  uintptr_t from, to;
  for (unsigned i = 0; i < MOST_OWN_RANGES; i++) {
    if (memory_own_range(i, &from, &to)) leave_out(from, to, begin, pages);
  }
  leave_out((uintptr_t)slots_pages_before(), slots_begin + slots_bytes, begin, pages);
}

/* Of as many pages as buffer->states tells of. */
static void count_pages(size_t pages) {
  size_t count[PAGE_UNKNOWN + 1] = {0};
  for (size_t i = 0; i < pages; i++) count[buffer->states[i]]++;
  add(&resident, count[PAGE_IN_MEMORY] * memory_page_bytes());
  add(&swapped, count[PAGE_SWAPPED] * memory_page_bytes());
}

static void compare_pages(uintptr_t begin, size_t pages, bool pauses) {
  size_t page = memory_page_bytes(), end;
  for (size_t first = 0; first < pages; first = end) {
    uint8_t of_run = buffer->states[first];
    for (end = first; end < pages && buffer->states[end] == of_run; end++) continue;
    if (of_run == PAGE_IN_MEMORY) compare_run(begin + first * page, begin + end * page, pauses);
  }
}

/* ---- Slots --------------------------------------------------------------------------------------------- */

static void read_slots(void) {
  uint64_t begin_cpu_ns = thread_cpu_ns();
  slots_are_told = true;
  for (uint32_t i = 0; slots_reserved() > 0 && i < SLOTS; i++) {
    struct slot_object object;
    size_t pages = slot_look(i, &object) ? slot_opened(i) / memory_page_bytes() : 0;
    if (pages == 0) continue;
    slots_are_told &= page_states(telling, slot_address(i), pages, buffer->states);
    if (!slots_are_told) continue;
    count_pages(pages);
    compare_pages(slot_address(i), pages, false);
  }
  set(&cpu_of_slots_ns, thread_cpu_ns() - begin_cpu_ns);
  __atomic_store_n(&slots_were_read, 1, __ATOMIC_RELEASE);
  wait_wake(&slots_were_read);
}

/* False if that takes too long. */
static bool have_slots_read(void) {
  uint64_t begin = monotonic_ns();
  __atomic_store_n(&slots_were_read, 0, __ATOMIC_RELAXED);
  observation_read_slots(read_slots);
  while (!__atomic_load_n(&slots_were_read, __ATOMIC_ACQUIRE)) {
    bool too_long = monotonic_ns() - begin > LONGEST_WAIT_FOR_LOOK;
    if ((too_long || !observation_looks()) && observation_does_not_read_slots()) {
      if (too_long) return false;
      read_slots();
      set(&cpu_of_slots_ns, 0); /* this thread's own */
    } else {
      wait_for_change(&slots_were_read, 0, SECOND);
    }
  }
  return true;
}

/* ---- All memory ---------------------------------------------------------------------------------------- */

static bool is_searched(const struct mapping *row) {
  return mapping_is_readable(row) && mapping_is_writable(row) && !row->is_device;
}

/* Of shared memory mincore tells what anybody has in memory: to read it would add to what the process
 * has. So it is with private mappings of files, but those are loaded objects' variables, which hold addresses. */
static bool is_told(const struct mapping *row) { return telling == TELL_BY_PAGEMAP || !row->is_shared; }

/* From a row and an address on; NULL if there is none. */
static const struct mapping *next_mapping(const struct mappings *mappings, size_t *row, uintptr_t from) {
  for (; *row < mappings->count; ++*row) {
    if (mappings->rows[*row].end > from && is_searched(&mappings->rows[*row])) return &mappings->rows[*row];
  }
  return NULL;
}

static const char not_told[] = "the kernel stopped reporting which pages are in memory";

static const char *compare_mappings(struct mappings *mappings) {
  uint64_t passed = 0, read_at = 0;
  const struct mapping *row;
  size_t next = 0;
  for (uintptr_t from = 0; (row = next_mapping(mappings, &next, from));) {
    uintptr_t begin = row->begin > from ? row->begin : from;
    size_t pages = (row->end - begin) / memory_page_bytes();
    if (pages > PAGES_AT_ONCE) pages = PAGES_AT_ONCE;
    from = begin + pages * memory_page_bytes();
    passed += pages * memory_page_bytes();
    if (passed > MOST_ADDRESSES) return "the program may write more than 4 TiB of addresses";
    if (!page_states(telling, begin, pages, buffer->states)) return not_told;
    leave_out_own(begin, pages);
    pause_when_due();
    count_pages(pages);
    if (is_told(row)) compare_pages(begin, pages, true);
    if (get(&searched) - read_at < BYTES_BETWEEN_MAPPINGS) continue;
    read_at = get(&searched);
    next = 0;
    mappings_forget(mappings);
    if (!mappings_read(mappings)) return "the mappings of the process can no longer be read";
  }
  return NULL;
}

static const char *compare_all(void) {
  struct mappings mappings;
  if (!have_slots_read()) return "accesses to observed objects could not be read for three minutes";
  if (!slots_are_told) return not_told;
  if (!mappings_read(&mappings)) return "the mappings of the process cannot be read";
  const char *why = compare_mappings(&mappings);
  if (mappings.rows) mappings_forget(&mappings);
  if (why || telling == TELL_BY_PAGEMAP) return why;
  uint64_t bytes = process_swapped_bytes();
  if (bytes == UINT64_MAX) return "the kernel does not report how much of the process is swapped out";
  set(&swapped, bytes);
  return NULL;
}

/* ---- A search ------------------------------------------------------------------------------------------ */

static const char *find_way_to_copy(void) {
  copying = COPY_BY_READV;
  const char *why = trial_of_copying(copying);
  if (!why) return NULL;
  copying = COPY_BY_PIPE;
  return trial_of_copying(copying);
}

static const char *find_way_to_tell(void) {
  telling = pagemap_tells() ? TELL_BY_PAGEMAP : TELL_BY_MINCORE;
  return telling == TELL_BY_PAGEMAP ? NULL : trial_of_mincore();
}

static const char *look(void) {
  const char *why = memory_shortage(MOST_RESERVED);
  if (!why) why = find_way_to_copy();
  if (!why) why = find_way_to_tell();
  if (why) return why;
  left_out = sought_choose(wanted, wanted_count);
  buffer = memory_reserve(sizeof *buffer);
  if (!buffer) return "no memory for the buffer of the search";
  buffer_bytes = memory_whole_pages(sizeof *buffer);
  why = compare_all();
  sought_mark_freed();
  memory_give_back(buffer, sizeof *buffer);
  buffer_bytes = 0;
  return why;
}

static void *search(void *unused) {
  own_thread_begins("mallometer-search");
  rested_cpu_ns = thread_cpu_ns();
  const char *why = look();
  reason = why ? why : "";
  set(&ended_ns, monotonic_ns());
  set_cpu(thread_cpu_ns());
  __atomic_store_n(&state, why ? MALLOMETER_SEARCH_FAILED : MALLOMETER_SEARCH_DONE, __ATOMIC_RELEASE);
  own_thread_ends();
  return unused;
}

/* ---- From outside -------------------------------------------------------------------------------------- */

static int fails(const char *why, int error) {
  reason = why;
  __atomic_store_n(&state, MALLOMETER_SEARCH_FAILED, __ATOMIC_RELEASE);
  return error;
}

/* The state becomes RUNNING, by one thread. */
static bool begins(void) {
  int before = __atomic_load_n(&state, __ATOMIC_ACQUIRE);
  return before != MALLOMETER_SEARCH_RUNNING && __atomic_compare_exchange_n(&state, &before, MALLOMETER_SEARCH_RUNNING,
                                                                            false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED);
}

int search_start(const uint32_t *sites, uint32_t count, uint64_t most) {
  if (forked) return -ECHILD;
  if (!begins()) return -EBUSY;
  __atomic_thread_fence(__ATOMIC_RELEASE); /* who reads what follows sees that the state has changed */
  overhead_before_ns = get(&overhead_ns);
  uint64_t *const figures[] = {&cpu_ns, &cpu_of_slots_ns, &ended_ns, &searched, &resident, &swapped};
  for (size_t i = 0; i < sizeof figures / sizeof *figures; i++) set(figures[i], 0);
  memcpy(wanted, sites, count * sizeof *sites);
  wanted_count = count;
  most_bytes = most;
  __atomic_store_n(&number, number + 1, __ATOMIC_RELAXED);
  set(&began_ns, monotonic_ns());
  if (!sought_start()) return fails("no memory for the list of objects", -EAGAIN);
  stack_bytes = own_thread_start(search);
  return stack_bytes ? 0 : fails("a thread cannot be started", -EAGAIN);
}

uint32_t search_describe(struct mallometer_searched *out, struct mallometer_sought *rows, uint32_t capacity) {
  int now = __atomic_load_n(&state, __ATOMIC_ACQUIRE);
  uint32_t of = __atomic_load_n(&number, __ATOMIC_RELAXED);
  uint32_t copied = now == MALLOMETER_SEARCH_DONE ? sought_copy(rows, capacity) : 0;
  out->state = (uint32_t)now;
  out->number = of;
  out->began_ns = get(&began_ns);
  out->ended_ns = get(&ended_ns);
  out->cpu_ns = get(&cpu_ns) + get(&cpu_of_slots_ns);
  out->searched_bytes = get(&searched);
  out->resident_bytes = get(&resident);
  out->swapped_bytes = get(&swapped);
  out->objects = now == MALLOMETER_SEARCH_DONE ? sought_count() : 0;
  out->left_out = left_out;
  snprintf(out->reason, sizeof out->reason, "%s", now == MALLOMETER_SEARCH_FAILED ? reason : "");
  __atomic_thread_fence(__ATOMIC_ACQUIRE);
  bool is_same = __atomic_load_n(&state, __ATOMIC_ACQUIRE) == now && __atomic_load_n(&number, __ATOMIC_RELAXED) == of;
  if (is_same) return copied;
  out->state = MALLOMETER_SEARCH_RUNNING; /* another one has begun: nothing is known of it */
  return 0;
}

void search_forked(void) {
  forked = true;
  buffer_bytes = 0;
  if (state == MALLOMETER_SEARCH_RUNNING) fails("a forked child does not search", 0);
}

size_t search_footprint(void) {
  bool runs = __atomic_load_n(&state, __ATOMIC_RELAXED) == MALLOMETER_SEARCH_RUNNING;
  return sought_footprint() + buffer_bytes + (runs ? stack_bytes : 0);
}

uint64_t search_overhead_ns(void) { return get(&overhead_ns); }
