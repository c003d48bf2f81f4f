/* The thread that searches memory, and the results of the search. See search.h. */
#include "leak/search.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "account/own_thread.h"
#include "allocator/glibc_free.h"
#include "leak/observation.h"
#include "leak/safety_test.h"
#include "leak/search_targets.h"
#include "leak/slots.h"
#include "platform/clock.h"
#include "platform/kernel.h"
#include "platform/mappings.h"
#include "platform/memory.h"
#include "platform/resident_memory.h"
#include "platform/thread.h"
#include "platform/wait.h"

#define SECOND UINT64_C(1000000000)
#define MILLISECOND UINT64_C(1000000)
/* The thread takes a tenth of one processor: it sleeps for 9 times the CPU time since its last sleep. */
#define TIMES_COST 10u
#define WORK_BETWEEN_PAUSES (2 * MILLISECOND)
#define COPIED_AT_ONCE ((size_t)128 << 10)
#define PAGES_AT_ONCE ((size_t)32768)
#define MOST_THREADS ((size_t)16384)
/* The searched bytes after which the mappings are read again, to find new ones. */
#define BYTES_BETWEEN_MAPPINGS ((uint64_t)256 << 20)
/* A search fails if it would cover more bytes of addresses. Large mappings such as the shadow memory of a sanitizer
 * would take seconds to pass over. */
#define MOST_ADDRESSES ((uint64_t)4 << 40)
/*
 * An upper bound of the bytes that a search takes for its tables, its buffer and the list of mappings. A search fails
 * if RLIMIT_AS or RLIMIT_DATA leaves less than 64 times this size (memory_shortage()).
 */
#define MOST_RESERVED ((size_t)16 << 20)
/* The longest wait until the observing thread reads the slots (pages of one sampled object each) at the end of an
 * epoch, a period of observation. Epochs exceed a minute only if accessed bits cannot be read, or if a reading takes
 * more than some 60 ms of CPU time. */
#define LONGEST_WAIT_FOR_LOOK (180 * SECOND)

static int state = MALLOMETER_SEARCH_NONE;
static bool forked;
static const char *reason = "";
static uint32_t number, left_out, unread_threads, wanted_count;
static uint32_t wanted[MOST_SEARCHED_SITES];
static uint64_t most_bytes, began_ns, ended_ns, cpu_ns, cpu_of_slots_ns, searched, resident, swapped;
static uint64_t rested_cpu_ns;
static uint64_t overhead_ns, overhead_before_ns;
static size_t stack_bytes, buffer_bytes;
static const struct heap_parts *heap;
static uintptr_t mapping_begin, mapping_end;
static struct free_chunk free_chunk;
static enum memory_copying copying;
static enum memory_telling telling;
static bool slots_are_told;      /* whether the kernel reports which pages of slots are in memory */
static uint32_t slots_were_read; /* 1 after the slots were read; a futex word */

static struct buffer {
  uintptr_t words[COPIED_AT_ONCE / sizeof(uintptr_t)];
  uint8_t states[PAGES_AT_ONCE];
  uint32_t threads[MOST_THREADS];
} * buffer;

/* The searching thread stores the state after the results, so a reader that sees the state DONE or FAILED sees the
 * results of that search. */
static uint64_t get(const uint64_t *figure) { return __atomic_load_n(figure, __ATOMIC_RELAXED); }

static void set(uint64_t *figure, uint64_t value) { __atomic_store_n(figure, value, __ATOMIC_RELAXED); }

static void add(uint64_t *figure, uint64_t more) { set(figure, get(figure) + more); }

static void set_cpu(uint64_t now) {
  set(&cpu_ns, now);
  set(&overhead_ns, overhead_before_ns + now);
}

/* ---- Pauses, which limit the search to a tenth of one processor -------------------------------------------- */

/* Sleeps if this thread has used 2 ms of CPU time since its last sleep. More frequent pauses would empty the
 * processor's caches more often. */
static void pause_when_due(void) {
  uint64_t now = thread_cpu_ns(), took = now - rested_cpu_ns;
  set_cpu(now);
  if (took < WORK_BETWEEN_PAUSES) return;
  wait_until(monotonic_ns() + (TIMES_COST - 1) * took);
  rested_cpu_ns = thread_cpu_ns();
}

/* Returns how many words of a range lie before the free part of a Java heap. Lowers *bytes if a region or space of
 * the heap ends within the range. */
static size_t used_words(uintptr_t begin, size_t *bytes) {
  uintptr_t end = begin + *bytes;
  uintptr_t used = heap ? heap->used(copying, begin, &end) : end;
  *bytes = end - begin;
  return (used - begin) / sizeof(uintptr_t);
}

/* Compares the words outside of glibc's free chunks with the sought addresses. A free chunk may extend into the next
 * copied piece. Its state is then checked again, because the program may use the chunk by that time. */
static void compare_used(size_t count, uintptr_t begin) {
  const uintptr_t *words = buffer->words;
  uintptr_t at = begin, end = begin + count * sizeof *words;
  if (!glibc_has_chunks_at(copying, begin, mapping_begin, mapping_end)) {
    targets_compare(words, count, begin);
    return;
  }
  if (free_chunk.end > begin && !glibc_chunk_is_free(copying, &free_chunk)) free_chunk.end = 0;
  while (at < end) {
    if (free_chunk.begin < at && at < free_chunk.end) at = free_chunk.end < end ? free_chunk.end : end;
    const uintptr_t *rest = words + (at - begin) / sizeof *words;
    size_t left = (end - at) / sizeof *words;
    bool found = glibc_free_chunk_in(copying, rest, left, at, &free_chunk);
    size_t used = found ? (free_chunk.begin - at) / sizeof *words + 1 : left;
    targets_compare(rest, used, at);
    at += used * sizeof *words;
  }
}

/* Copies the resident pages from `begin` to `end` and compares their words with the sought addresses. Skips a page
 * that cannot be copied because the program has unmapped it meanwhile. */
static void compare_run(uintptr_t begin, uintptr_t end, bool pauses) {
  while (begin < end && get(&searched) < most_bytes) {
    size_t wanted_bytes = end - begin < COPIED_AT_ONCE ? end - begin : COPIED_AT_ONCE;
    size_t used = used_words(begin, &wanted_bytes);
    size_t copied = memory_copy(copying, begin, buffer->words, wanted_bytes), words = copied / sizeof *buffer->words;
    if (used > words) used = words;
    compare_used(used, begin);
    targets_compare_free(buffer->words + used, words - used, begin + used * sizeof *buffer->words);
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
  for (unsigned i = 0; i < MOST_PRIVATE_RANGES; i++) {
    if (memory_own_range(i, &from, &to)) leave_out(from, to, begin, pages);
  }
  leave_out((uintptr_t)slots_pages_before(), slots_begin + slots_bytes, begin, pages);
}

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
    size_t pages = slot_read(i, &object) ? slot_opened(i) / memory_page_bytes() : 0;
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

/* Makes the observing thread call read_slots(), or calls it here if that thread does not run. Returns false after a
 * wait of LONGEST_WAIT_FOR_LOOK. */
static bool have_slots_read(void) {
  uint64_t begin = monotonic_ns();
  __atomic_store_n(&slots_were_read, 0, __ATOMIC_RELAXED);
  observation_read_slots(read_slots);
  while (!__atomic_load_n(&slots_were_read, __ATOMIC_ACQUIRE)) {
    bool too_long = monotonic_ns() - begin > LONGEST_WAIT_FOR_LOOK;
    if ((too_long || !observation_looks()) && observation_does_not_read_slots()) {
      if (too_long) return false;
      read_slots();
      set(&cpu_of_slots_ns, 0); /* cpu_ns includes the time of this thread already */
    } else {
      wait_for_change(&slots_were_read, 0, SECOND);
    }
  }
  return true;
}

/* ---- Mappings ----------------------------------------------------------------------------------------- */

static bool is_searched(const struct mapping *row) {
  return mapping_is_readable(row) && mapping_is_writable(row) && !row->is_device;
}

/*
 * Returns whether the pages of a mapping are searched. Shared memory is searched only if pagemap tells which pages this
 * process has accessed. mincore also reports pages that only other processes have accessed, and reading such pages
 * would add them to this process. Private mappings of files are always searched, because they contain the variables of
 * loaded objects.
 */
static bool is_told(const struct mapping *row) { return telling == TELL_BY_PAGEMAP || !row->is_shared; }

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
    mapping_begin = row->begin;
    mapping_end = row->end;
    if (is_told(row)) compare_pages(begin, pages, true);
    if (get(&searched) - read_at < BYTES_BETWEEN_MAPPINGS) continue;
    read_at = get(&searched);
    next = 0;
    mappings_forget(mappings);
    if (!mappings_read(mappings)) return "the mappings of the process can no longer be read";
  }
  return NULL;
}

/* ---- Registers of waiting threads ---------------------------------------------------------------------- */

/* Looks for the sought addresses in the arguments of a thread's system call and in the first page of its stack, where
 * functions have stored registers. Returns false if the thread's registers could not be read. */
static bool compare_thread(uint32_t id) {
  struct waiting_thread thread;
  if (!thread_waits(id, &thread)) return false;
  size_t copied = memory_copy(copying, thread.stack_pointer, buffer->words, memory_page_bytes());
  size_t count = copied / sizeof *buffer->words;
  targets_compare(thread.arguments, sizeof thread.arguments / sizeof *thread.arguments, 0);
  targets_compare(buffer->words, count, thread.stack_pointer);
  return thread_has_stored_registers(&thread, buffer->words, count);
}

static void compare_threads(void) {
  size_t count = thread_ids(buffer->threads, MOST_THREADS);
  unread_threads = count > 0 && count < MOST_THREADS ? 0 : UINT32_MAX;
  for (size_t i = 0; i < count; i++) {
    if (buffer->threads[i] == thread_id()) continue;
    if (!compare_thread(buffer->threads[i]) && unread_threads != UINT32_MAX) unread_threads++;
    pause_when_due();
  }
}

/* ---- A search ------------------------------------------------------------------------------------------ */

/*
 * Looks for the sought addresses in all memory, and then in the registers of waiting threads. If a collection moves
 * Java objects meanwhile, the search may see an object only at its old place, in a free part of the heap. Words in free
 * parts then count, too.
 */
static const char *compare_all(void) {
  struct mappings mappings;
  if (!have_slots_read()) return "accesses to observed objects could not be read for three minutes";
  if (!slots_are_told) return not_told;
  if (!mappings_read(&mappings)) return "the mappings of the process cannot be read";
  bool is_known = heap && heap->begin(copying);
  const char *why = compare_mappings(&mappings);
  if (!is_known || !heap->is_unmoved(copying)) targets_add_free_parts();
  if (mappings.rows) mappings_forget(&mappings);
  compare_threads();
  if (why || telling == TELL_BY_PAGEMAP) return why;
  uint64_t bytes = process_swapped_bytes();
  if (bytes == UINT64_MAX) return "the kernel does not report how much of the process is swapped out";
  set(&swapped, bytes);
  return NULL;
}

static const char *find_way_to_copy(void) {
  copying = COPY_BY_READV;
  const char *why = safety_test_copying(copying);
  if (!why) return NULL;
  copying = COPY_BY_PIPE;
  return safety_test_copying(copying);
}

static const char *find_way_to_tell(void) {
  telling = pagemap_is_readable() ? TELL_BY_PAGEMAP : TELL_BY_MINCORE;
  return telling == TELL_BY_PAGEMAP ? NULL : safety_test_mincore();
}

static const char *look(void) {
  const char *why = memory_shortage(MOST_RESERVED);
  if (!why) why = find_way_to_copy();
  if (!why) why = find_way_to_tell();
  if (why) return why;
  left_out = targets_choose(wanted, wanted_count);
  buffer = memory_reserve(sizeof *buffer);
  if (!buffer) return "no memory for the buffer of the search";
  buffer_bytes = memory_whole_pages(sizeof *buffer);
  free_chunk.end = mapping_begin = mapping_end = 0;
  why = compare_all();
  targets_mark_freed();
  memory_give_back(buffer, sizeof *buffer);
  buffer_bytes = 0;
  return why;
}

static void *search(void *unused) {
  own_thread_begin("mallometer-search");
  rested_cpu_ns = thread_cpu_ns();
  const char *why = look();
  reason = why ? why : "";
  set(&ended_ns, monotonic_ns());
  set_cpu(thread_cpu_ns());
  __atomic_store_n(&state, why ? MALLOMETER_SEARCH_FAILED : MALLOMETER_SEARCH_DONE, __ATOMIC_RELEASE);
  own_thread_end();
  return unused;
}

/* ---- The interface ------------------------------------------------------------------------------------ */

static int fails(const char *why, int error) {
  reason = why;
  __atomic_store_n(&state, MALLOMETER_SEARCH_FAILED, __ATOMIC_RELEASE);
  return error;
}

static bool begins(void) {
  int before = __atomic_load_n(&state, __ATOMIC_ACQUIRE);
  return before != MALLOMETER_SEARCH_RUNNING && __atomic_compare_exchange_n(&state, &before, MALLOMETER_SEARCH_RUNNING,
                                                                            false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED);
}

int search_start(const uint32_t *sites, uint32_t count, uint64_t most, const struct heap_parts *of_heap) {
  if (forked) return -ECHILD;
  if (!begins()) return -EBUSY;
  __atomic_thread_fence(__ATOMIC_RELEASE); /* a reader that sees one of the following stores also sees the new state */
  overhead_before_ns = get(&overhead_ns);
  uint64_t *const figures[] = {&cpu_ns, &cpu_of_slots_ns, &ended_ns, &searched, &resident, &swapped};
  for (size_t i = 0; i < sizeof figures / sizeof *figures; i++) set(figures[i], 0);
  memcpy(wanted, sites, count * sizeof *sites);
  wanted_count = count;
  most_bytes = most;
  heap = of_heap;
  __atomic_store_n(&number, number + 1, __ATOMIC_RELAXED);
  set(&began_ns, monotonic_ns());
  if (!targets_start()) return fails("no memory for the list of objects", -EAGAIN);
  stack_bytes = own_thread_start(search);
  return stack_bytes ? 0 : fails("a thread cannot be started", -EAGAIN);
}

uint32_t search_describe(struct mallometer_searched *out, struct mallometer_sought *rows, uint32_t capacity) {
  int now = __atomic_load_n(&state, __ATOMIC_ACQUIRE);
  uint32_t of = __atomic_load_n(&number, __ATOMIC_RELAXED);
  uint32_t copied = now == MALLOMETER_SEARCH_DONE ? targets_copy(rows, capacity) : 0;
  out->state = (uint32_t)now;
  out->number = of;
  out->began_ns = get(&began_ns);
  out->ended_ns = get(&ended_ns);
  out->cpu_ns = get(&cpu_ns) + get(&cpu_of_slots_ns);
  out->searched_bytes = get(&searched);
  out->resident_bytes = get(&resident);
  out->swapped_bytes = get(&swapped);
  out->objects = now == MALLOMETER_SEARCH_DONE ? targets_count() : 0;
  out->left_out = left_out;
  out->unread_threads = unread_threads;
  snprintf(out->reason, sizeof out->reason, "%s", now == MALLOMETER_SEARCH_FAILED ? reason : "");
  __atomic_thread_fence(__ATOMIC_ACQUIRE);
  bool is_same = __atomic_load_n(&state, __ATOMIC_ACQUIRE) == now && __atomic_load_n(&number, __ATOMIC_RELAXED) == of;
  if (is_same) return copied;
  out->state = MALLOMETER_SEARCH_RUNNING; /* a new search has begun */
  return 0;
}

void search_forked(void) {
  forked = true;
  buffer_bytes = 0;
  if (state == MALLOMETER_SEARCH_RUNNING) fails("a forked child does not search", 0);
}

size_t search_footprint(void) {
  bool runs = __atomic_load_n(&state, __ATOMIC_RELAXED) == MALLOMETER_SEARCH_RUNNING;
  return targets_footprint() + buffer_bytes + (runs ? stack_bytes : 0);
}

uint64_t search_overhead_ns(void) { return get(&overhead_ns); }
