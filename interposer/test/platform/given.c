/* Implements the platform for tests. See given.h. */
#include "platform/given.h"

#include <errno.h>
#include <pthread.h>
#include <semaphore.h>

#include "allocator/bootstrap.h"
#include "allocator/glibc.h"
#include "allocator/next.h"
#include "leak/safety_test.h"
#include "leak/watch.h"
#include "platform/clock.h"
#include "platform/kernel.h"
#include "platform/libc.h"
#include "platform/loaded_objects.h"
#include "platform/mappings.h"
#include "platform/memory.h"
#include "platform/memory_probes.h"
#include "platform/page_range.h"
#include "platform/page_use.h"
#include "platform/readable_memory.h"
#include "platform/resident_memory.h"
#include "platform/thread.h"
#include "platform/wait.h"

/* ---- The clock ----------------------------------------------------------------------------------------- */

uint64_t given_monotonic_ns, given_cpu_ns;
bool given_clock_passes;

void clock_start(void) {}

uint64_t monotonic_ns(void) { return given_monotonic_ns; }

uint64_t realtime_ns(void) { return 0; }

uint64_t thread_cpu_ns(void) { return given_cpu_ns; }

uint64_t coarse_monotonic_ns(void) { return given_monotonic_ns; }

uint64_t coarse_realtime_ns(void) { return 0; }

void coarse_clock_advance(uint64_t ns) {
  if (given_clock_passes) given_monotonic_ns += ns;
}

/* ---- Interruptions ------------------------------------------------------------------------------------- */

static unsigned points_left;
static void (*interruption)(void);
static bool interrupted;

void interrupt_at(unsigned point, void (*meanwhile)(void)) {
  points_left = point;
  interruption = meanwhile;
  interrupted = false;
}

bool was_interrupted(void) {
  points_left = 0;
  return interrupted;
}

void point_of_interruption(void) {
  if (points_left == 0 || --points_left > 0) return;
  interrupted = true;
  interruption();
}

/* ---- Memory -------------------------------------------------------------------------------------------- */

#define SMALLEST_PAGE_BYTES 4096u
#define LARGEST_PAGE_BYTES 65536u
#define ARRAY_BYTES ((size_t)160 << 20)

size_t given_page_bytes = SMALLEST_PAGE_BYTES;
const char *given_limit, *given_shortage;
bool given_lock_of_all;
uint64_t given_resident_bytes = (uint64_t)1 << 30;

static _Alignas(LARGEST_PAGE_BYTES) char array[ARRAY_BYTES];
static size_t array_end, array_taken;
static unsigned requests_until_refusal;
static bool refused;

void refuse_memory_request(unsigned number) {
  requests_until_refusal = number;
  refused = false;
}

bool memory_was_refused(void) { return refused; }

size_t memory_taken(void) { return array_taken; }

static bool refuses(void) {
  if (requests_until_refusal == 0 || --requests_until_refusal > 0) return false;
  errno = ENOMEM;
  return refused = true;
}

size_t memory_page_bytes(void) { return given_page_bytes; }

size_t memory_whole_pages(size_t bytes) { return (bytes + given_page_bytes - 1) / given_page_bytes * given_page_bytes; }

static struct { uintptr_t begin, end; } own_ranges[MOST_OWN_RANGES];

bool memory_own_range(unsigned number, uintptr_t *begin, uintptr_t *end) {
  *begin = own_ranges[number].begin;
  *end = own_ranges[number].end;
  return *begin != 0;
}

void memory_own_add(uintptr_t begin, size_t bytes) {
  for (unsigned i = 0; i < MOST_OWN_RANGES; i++) {
    if (own_ranges[i].begin != 0) continue;
    own_ranges[i].begin = begin;
    own_ranges[i].end = begin + bytes;
    return;
  }
}

void memory_own_remove(uintptr_t begin) {
  for (unsigned i = 0; i < MOST_OWN_RANGES; i++) {
    if (own_ranges[i].begin == begin) own_ranges[i].begin = 0;
  }
}

void *memory_reserve(size_t bytes) {
  size_t whole = memory_whole_pages(bytes);
  if (refuses()) return NULL;
  CHECK(whole <= ARRAY_BYTES - array_end);
  char *begin = array + array_end;
  array_end += whole;
  array_taken += whole;
  memory_own_add((uintptr_t)begin, whole);
  return begin;
}

/* Clears the memory. The block can be reserved again if it was the last in the reserved memory; otherwise it is
 * lost. */
void memory_give_back(void *memory, size_t bytes) {
  char *begin = memory;
  size_t whole = memory_whole_pages(bytes);
  CHECK(begin >= array && (size_t)(begin - array) % given_page_bytes == 0 && whole <= array_taken);
  memset(begin, 0, whole);
  memory_own_remove((uintptr_t)begin);
  array_taken -= whole;
  if (begin + whole == array + array_end) array_end -= whole;
}

void *memory_map(void *wish, size_t bytes) {
  (void)wish;
  return memory_reserve(bytes);
}

void memory_unmap(void *memory, size_t bytes) { memory_give_back(memory, bytes); }

const char *memory_limit(void) { return given_limit; }

const char *memory_shortage(size_t bytes) {
  (void)bytes;
  return given_shortage;
}

bool memory_is_locked(void) { return given_lock_of_all; }

struct process_memory process_memory(void) {
  return (struct process_memory){.resident = given_resident_bytes};
}

/* ---- The process's memory ------------------------------------------------------------------------------ */

const struct mapping *given_rows;
size_t given_row_count;
uint8_t (*given_page_state)(uintptr_t address);
void (*given_while_copying)(void);
const char *given_trials_of_copying[2], *given_trial_of_mincore;
int given_copying = -1;
bool given_no_pagemap;
uint64_t given_swapped_bytes;

bool mappings_read(struct mappings *mappings) {
  *mappings = (struct mappings){(struct mapping *)(uintptr_t)given_rows, given_row_count};
  return given_rows != NULL;
}

void mappings_forget(struct mappings *mappings) { *mappings = (struct mappings){0}; }

bool mapping_is_readable(const struct mapping *mapping) { return mapping->protection & 1; }

bool mapping_is_writable(const struct mapping *mapping) { return mapping->protection & 2; }

bool page_states(enum memory_telling by, uintptr_t begin, size_t count, uint8_t states[]) {
  CHECK_EQUAL(by, given_no_pagemap ? TELL_BY_MINCORE : TELL_BY_PAGEMAP);
  for (size_t i = 0; i < count; i++) {
    uintptr_t page = begin + i * given_page_bytes;
    states[i] = given_page_state ? given_page_state(page) : (uint8_t)PAGE_IN_MEMORY;
    if (states[i] == PAGE_UNKNOWN) return false;
  }
  return true;
}

bool pagemap_is_readable(void) { return !given_no_pagemap; }

size_t memory_copy(enum memory_copying by, uintptr_t from, void *to, size_t bytes) {
  given_copying = (int)by;
  if (given_while_copying) given_while_copying();
  memcpy(to, (const void *)from, bytes);
  return bytes;
}

bool random_bytes(void *to, size_t bytes) {
  memset(to, 0x5a, bytes);
  return true;
}

uintptr_t memory_break(void) { return 0; }

uint64_t process_swapped_bytes(void) { return given_swapped_bytes; }

const char *safety_test_copying(enum memory_copying by) { return given_trials_of_copying[by]; }

const char *safety_test_mincore(void) { return given_trial_of_mincore; }

/* ---- A range of pages ---------------------------------------------------------------------------------- */

#define RANGE_BYTES ((size_t)720 << 20)

size_t given_range_bytes = RANGE_BYTES;

static _Alignas(LARGEST_PAGE_BYTES) char range[RANGE_BYTES];
char *const given_range = range;
static size_t range_taken;

static struct page {
  bool open, used, locked, unmapped;
  uint8_t mark;
} pages[RANGE_BYTES / SMALLEST_PAGE_BYTES];

/* Returns the states of pages. `begin` and `bytes` must be multiples of the page size. */
static struct page *pages_at(uintptr_t begin, size_t bytes) {
  size_t offset = begin - (uintptr_t)range;
  CHECK(offset <= range_taken && bytes <= range_taken - offset);
  CHECK(offset % given_page_bytes == 0 && bytes % given_page_bytes == 0);
  return &pages[offset / given_page_bytes];
}

static struct page *page_with(uintptr_t address) { return pages_at(address / given_page_bytes * given_page_bytes, 0); }

uintptr_t page_range_reserve(size_t bytes, const char **why) {
  CHECK(range_taken == 0 && bytes % given_page_bytes == 0);
  *why = "there is no such range";
  if (bytes > given_range_bytes || refuses()) return 0;
  range_taken = bytes;
  return (uintptr_t)range;
}

bool pages_open(uintptr_t begin, size_t bytes) {
  if (refuses()) return false;
  struct page *first = pages_at(begin, bytes);
  for (size_t i = 0; i < bytes / given_page_bytes; i++) first[i].open = true;
  return true;
}

static bool any_is_locked(const struct page *first, size_t bytes) {
  for (size_t i = 0; i < bytes / given_page_bytes; i++) {
    if (first[i].locked) return true;
  }
  return false;
}

bool pages_clear(uintptr_t begin, size_t bytes) {
  if (any_is_locked(pages_at(begin, bytes), bytes)) return false;
  memset((void *)begin, 0, bytes);
  return true;
}

void pages_unlock(uintptr_t begin, size_t bytes) { given_lock((const void *)begin, bytes, false); }

bool pages_mark(uintptr_t begin, size_t bytes, enum pages_mark mark) {
  if (refuses()) return false;
  struct page *first = pages_at(begin, bytes);
  for (size_t i = 0; i < bytes / given_page_bytes; i++) first[i].mark = (uint8_t)mark;
  return true;
}

bool pages_renew(uintptr_t begin, size_t bytes) {
  struct page *first = pages_at(begin, bytes);
  bool renewed = !refuses();
  memset((void *)begin, 0, bytes);
  for (size_t i = 0; i < bytes / given_page_bytes; i++) first[i] = (struct page){.open = renewed, .mark = PAGES_MERGED};
  return renewed;
}

void pages_separate(uintptr_t begin, size_t bytes) {
  struct page *first = pages_at(begin, bytes);
  for (size_t i = 0; i < bytes / given_page_bytes; i += 2) first[i].open = true;
}

bool memory_is_unmapped(const void *page) { return page_with((uintptr_t)page)->unmapped; }

/* ---- Accessed bits of pages ---------------------------------------------------------------------------- */

void (*given_uses)(void);
unsigned given_failing_readings, given_readings_before;
int given_error;
uint64_t given_reading_ns;
bool given_clearing_refused;
size_t given_mappings = 100, given_most_mappings = 65530;

void given_use(const void *begin, size_t bytes) {
  for (struct page *page = page_with((uintptr_t)begin); page <= page_with((uintptr_t)begin + bytes - 1); page++) {
    CHECK(page->open && !page->unmapped);
    page->used = true;
  }
}

void given_lock(const void *begin, size_t bytes, bool locked) {
  for (struct page *page = page_with((uintptr_t)begin); page <= page_with((uintptr_t)begin + bytes - 1); page++) {
    page->locked = locked;
  }
}

void given_unmap(const void *begin, size_t bytes) {
  for (struct page *page = page_with((uintptr_t)begin); page <= page_with((uintptr_t)begin + bytes - 1); page++) {
    *page = (struct page){.unmapped = true};
  }
}

static bool are_one_mapping(const struct page *page, const struct page *other) {
  return page->open == other->open && page->locked == other->locked && page->unmapped == other->unmapped &&
         page->mark == other->mark;
}

static bool reading_fails(void) {
  if (given_readings_before > 0) {
    given_readings_before--;
    return false;
  }
  if (given_failing_readings == 0) return false;
  given_failing_readings--;
  errno = given_error;
  return true;
}

/* Calls `mapping` for each mapping of the range; `used` is whether any page of the mapping was accessed. Also
 * reports two accessed mappings that stand for memory of the program: one before the range, and one after it. */
bool page_use_read(bool (*mapping)(uintptr_t begin, bool used)) {
  size_t count = range_taken / given_page_bytes, end;
  given_cpu_ns += given_reading_ns;
  if (given_uses) given_uses();
  if (reading_fails()) return false;
  if (!mapping(given_page_bytes, true)) return true;
  for (size_t first = 0; first < count; first = end) {
    bool used = false;
    for (end = first; end < count && are_one_mapping(&pages[first], &pages[end]); end++) used |= pages[end].used;
    if (!pages[first].unmapped && !mapping((uintptr_t)range + first * given_page_bytes, used)) return true;
  }
  mapping((uintptr_t)range + range_taken, true);
  return true;
}

bool page_use_clear(void *begin, size_t bytes) {
  struct page *first = pages_at((uintptr_t)begin, bytes);
  bool cleared = !given_clearing_refused;
  if (!cleared) errno = EINVAL;
  for (size_t i = 0; i < bytes / given_page_bytes; i++) {
    if (first[i].locked) {
      errno = EINVAL;
      cleared = false;
    } else if (!given_clearing_refused) {
      first[i].used = false;
    }
  }
  return cleared;
}

bool page_use_clear_all(void) {
  for (size_t i = 0; i < range_taken / given_page_bytes; i++) pages[i].used = false;
  return true;
}

const char *page_use_read_name(void) { return "the given use"; }

const char *page_use_clear_name(void) { return "clearing some"; }

const char *page_use_clear_all_name(void) { return "clearing all"; }

size_t mappings_count(void) { return given_mappings; }

size_t mappings_most(void) { return given_most_mappings; }

/* ---- Threads ------------------------------------------------------------------------------------------- */

bool thread_keys_exist(void) { return true; }

bool given_threads_refused;
void (*given_while_waiting)(void);

/* The thread that the code under test has started. Either the test or this thread runs, never both. */
static struct {
  enum { NOT_STARTED, STARTED, WAITS, RUNS, ENDED } state;
  void *(*run)(void *);
  const uint32_t *word;
  uint32_t seen;
  uint64_t until;
  sem_t may_go_on, has_stopped;
} thread;

static void *runs_step_by_step(void *unused) {
  thread.run(NULL);
  thread.state = ENDED;
  sem_post(&thread.has_stopped);
  return unused;
}

size_t thread_start(void *(*run)(void *), size_t stack_bytes) {
  if (given_threads_refused) return 0;
  CHECK(thread.state == NOT_STARTED || thread.state == ENDED);
  thread.run = run;
  thread.state = STARTED;
  return memory_whole_pages(stack_bytes);
}

void thread_goes_on(void) {
  pthread_t id;
  bool begins = thread.state == STARTED;
  CHECK(begins || thread.state == WAITS);
  thread.state = RUNS;
  if (begins) {
    CHECK(sem_init(&thread.may_go_on, 0, 0) == 0 && sem_init(&thread.has_stopped, 0, 0) == 0);
    CHECK(pthread_create(&id, NULL, runs_step_by_step, NULL) == 0);
  } else {
    sem_post(&thread.may_go_on);
  }
  sem_wait(&thread.has_stopped);
}

static bool has_what_it_waits_for(void) { return thread.state == WAITS && *thread.word != thread.seen; }

void time_passes(uint64_t ns) {
  uint64_t end = given_monotonic_ns + ns;
  for (;;) {
    if (!has_what_it_waits_for()) {
      if (thread.state != WAITS || thread.until > end) break;
      if (thread.until > given_monotonic_ns) given_monotonic_ns = thread.until;
    }
    thread_goes_on();
  }
  given_monotonic_ns = end;
}

void wait_for_change(const uint32_t *word, uint32_t seen, uint64_t longest_ns) {
  CHECK(thread.state == RUNS);
  if (*word != seen) return;
  thread.word = word;
  thread.seen = seen;
  thread.until = longest_ns == WAIT_WITHOUT_LIMIT ? UINT64_MAX : given_monotonic_ns + longest_ns;
  thread.state = WAITS;
  sem_post(&thread.has_stopped);
  sem_wait(&thread.may_go_on);
}

/* Does nothing, because time_passes() itself checks whether the word has changed. */
void wait_wake(const uint32_t *word) { (void)word; }

void wait_until(uint64_t moment_ns) {
  if (moment_ns > given_monotonic_ns) given_monotonic_ns = moment_ns;
  if (given_while_waiting) given_while_waiting();
}

uint32_t thread_id(void) { return 1; }

uint32_t thread_id_known(void) { return 1; }

struct given_thread given_threads[2];
size_t given_thread_count;

/* Writes the ids of the calling thread (1) and of given_threads. */
size_t thread_ids(uint32_t *ids, size_t capacity) {
  size_t count = 0;
  for (; count <= given_thread_count && count < capacity; count++) ids[count] = (uint32_t)count + 1;
  return count;
}

bool thread_waits(uint32_t id, struct waiting_thread *thread) {
  *thread = given_threads[id - 2].waiting;
  return given_threads[id - 2].waits;
}

bool thread_has_stored_registers(const struct waiting_thread *thread, const uintptr_t *words, size_t count) {
  return count > 0 && words[0] == thread->pc;
}

void thread_name(char name[THREAD_NAME_BYTES]) {
  point_of_interruption();
  strcpy(name, "given");
}

void thread_set_name(const char *name) { (void)name; }

/* ---- Stacks and objects -------------------------------------------------------------------------------- */

struct own_stack given_stack;
uintptr_t given_frame_pointer;

void own_stacks_start(void) {}

bool own_stack_at(uintptr_t stack, struct own_stack *own) {
  *own = given_stack;
  return stack >= own->begin && stack < own->end;
}

size_t own_stack_left(uintptr_t stack) {
  struct own_stack own;
  return own_stack_at(stack, &own) ? stack - own.begin : 0;
}

bool loaded_objects_start(bool kernel_tells) {
  (void)kernel_tells;
  return false;
}

bool loaded_object_remains(const struct loaded_object *object) { return object->unwind_table || !object->mark; }

bool loaded_object_at(uintptr_t address, struct loaded_object *object) {
  (void)address, (void)object;
  return false;
}

uint32_t loaded_object_build_id(const struct loaded_object *object, uint8_t *id, uint32_t capacity) {
  (void)object, (void)id, (void)capacity;
  return 0;
}

/* Returns true for each page but the first, because the code under test asks only for memory of the test. */
bool page_is_readable(uintptr_t page) { return page != 0; }

/* ---- The allocator, and safety tests -------------------------------------------------------------------- */

static void free_nothing(void *object) { (void)object; }

static size_t usable_bytes(void *object) {
  (void)object;
  return 1000;
}

struct next_allocator next = {.free = free_nothing, .usable_size = usable_bytes};

void glibc_free_unnoticed(void *object) { next.free(object); }

/* Writes the two words that glibc stores before an object that it has mapped singly: the object's offset in the
 * mapping, and the mapping's size. */
void glibc_write_mapped_chunk(uintptr_t begin, size_t offset, size_t bytes) {
  size_t *object = (size_t *)(begin + offset);
  object[-2] = offset;
  object[-1] = bytes;
}

size_t glibc_mapped_bytes(const void *object, size_t offset) {
  const size_t *words = object;
  return words[-2] == offset ? words[-1] : 0;
}

void low_range_extend(uintptr_t end) { (void)end; }

/* The tests never call this function, because the library needs it only until it knows the allocator. */
void *bootstrap_allocate(size_t alignment, size_t size) {
  (void)alignment, (void)size;
  return NULL;
}

bool is_bootstrap(const void *object) {
  (void)object;
  return false;
}

size_t bootstrap_size(const void *object) {
  (void)object;
  return 0;
}

const char *given_trial_of_slots;

const char *safety_test_slots(void) { return given_trial_of_slots; }

const char *safety_test_watchpoints(void) { return NULL; }

void watch_new_object(const struct slot_object *object) { (void)object; }

const char *watch_sites(const uint32_t *sites, uint32_t count) {
  (void)sites, (void)count;
  return NULL;
}

const char *watch_look_after_signal(void) { return NULL; }

bool watch_is_on(void) { return false; }

void watch_forked(void) {}

/* ---- Probes -------------------------------------------------------------------------------------------- */

unsigned given_announced, given_announced_free;
const void *given_announced_object;
uint64_t given_announced_size, given_announced_weight;

void probe_allocation(const void *object, size_t requested, uint64_t weighted_bytes) {
  given_announced++;
  given_announced_object = object;
  given_announced_size = requested;
  given_announced_weight = weighted_bytes;
}

void probe_free(const void *object) {
  (void)object;
  given_announced_free++;
}
