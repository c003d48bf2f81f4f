/* See given.h. */
#include "platform/given.h"

#include <errno.h>

#include "allocator/bootstrap.h"
#include "allocator/glibc.h"
#include "allocator/next.h"
#include "platform/clock.h"
#include "platform/kernel.h"
#include "platform/memory.h"
#include "platform/page_range.h"
#include "platform/page_use.h"
#include "platform/readable_memory.h"
#include "platform/thread.h"
#include "platform/wait.h"

/* ---- The clock ----------------------------------------------------------------------------------------- */

uint64_t given_monotonic_ns, given_realtime_ns, given_cpu_ns;
bool given_clock_passes;

void clock_start(void) {}

uint64_t monotonic_ns(void) { return given_monotonic_ns; }

uint64_t realtime_ns(void) { return given_realtime_ns; }

uint64_t thread_cpu_ns(void) { return given_cpu_ns; }

uint64_t coarse_monotonic_ns(void) { return given_monotonic_ns; }

uint64_t coarse_realtime_ns(void) { return given_realtime_ns; }

void coarse_clock_passes(uint64_t ns) {
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

#define LARGEST_PAGE 65536u
#define ARRAY_BYTES ((size_t)160 << 20)
#define LOW_BYTES ((size_t)600 << 20) /* the smaller layout of slots, with pages of 64 KiB */

size_t given_page_bytes = 4096;
const char *given_limit, *given_shortage;
unsigned memory_requests;

static _Alignas(LARGEST_PAGE) char array[ARRAY_BYTES];
static size_t array_taken, array_holes;
static unsigned requests_until_refusal;
static bool refused;

static _Alignas(LARGEST_PAGE) char low_array[LOW_BYTES];
char *const low_memory = low_array;
const size_t low_memory_bytes = LOW_BYTES;

void refuse_memory_request(unsigned number) {
  requests_until_refusal = number;
  refused = false;
}

bool memory_was_refused(void) { return refused; }

size_t memory_taken(void) { return array_taken; }

size_t memory_given_back(void) { return array_holes; }

static bool refuses(void) {
  memory_requests++;
  if (requests_until_refusal == 0 || --requests_until_refusal > 0) return false;
  errno = ENOMEM;
  return refused = true;
}

static void *take(size_t bytes) {
  size_t whole = memory_whole_pages(bytes);
  if (refuses()) return NULL;
  CHECK(whole <= ARRAY_BYTES - array_taken);
  char *begin = array + array_taken;
  array_taken += whole;
  return begin;
}

static void give(char *begin, size_t bytes) {
  size_t whole = memory_whole_pages(bytes);
  CHECK(begin >= array && (size_t)(begin - array) % given_page_bytes == 0);
  memset(begin, 0, whole);
  if (begin + whole == array + array_taken) {
    array_taken -= whole;
  } else {
    array_holes += whole;
  }
}

size_t memory_whole_pages(size_t bytes) { return (bytes + given_page_bytes - 1) / given_page_bytes * given_page_bytes; }

size_t memory_page_bytes(void) { return given_page_bytes; }

void *memory_map(void *wish, size_t bytes) {
  CHECK(!wish);
  return take(bytes);
}

void memory_unmap(void *memory, size_t bytes) { give(memory, bytes); }

void *memory_reserve(size_t bytes) { return take(bytes); }

void memory_give_back(void *memory, size_t bytes) { give(memory, bytes); }

const char *memory_limit(void) { return given_limit; }

const char *memory_shortage(size_t bytes) {
  (void)bytes;
  return given_shortage;
}

bool memory_is_locked(void) { return false; }

/* ---- Pages that come and go ---------------------------------------------------------------------------- */

static void check_pages(uintptr_t begin, size_t bytes) {
  CHECK(begin >= (uintptr_t)low_array && begin - (uintptr_t)low_array <= LOW_BYTES - bytes);
  CHECK(begin % given_page_bytes == 0 && bytes % given_page_bytes == 0);
}

uintptr_t page_range_reserve(size_t bytes, const char **why) {
  *why = "no addresses are free";
  return bytes > LOW_BYTES || refuses() ? 0 : (uintptr_t)low_array;
}

bool pages_open(uintptr_t begin, size_t bytes) {
  check_pages(begin, bytes);
  return !refuses();
}

/* Gives back: needs no memory. */
bool pages_clear(uintptr_t begin, size_t bytes) {
  check_pages(begin, bytes);
  memset((void *)begin, 0, bytes);
  return true;
}

void pages_unlock(uintptr_t begin, size_t bytes) { check_pages(begin, bytes); }

bool pages_mark(uintptr_t begin, size_t bytes, enum pages_mark mark) {
  (void)mark;
  check_pages(begin, bytes);
  return !refuses();
}

bool pages_renew(uintptr_t begin, size_t bytes) {
  check_pages(begin, bytes);
  memset((void *)begin, 0, bytes);
  return !refuses();
}

void pages_separate(uintptr_t begin, size_t bytes) { check_pages(begin, bytes); }

bool memory_is_unmapped(const void *page) { return given_page_unmapped((uintptr_t)page); }

/* ---- Threads and waiting ------------------------------------------------------------------------------- */

void *(*given_thread)(void *);
void (*given_wait)(void);

size_t thread_start(void *(*run)(void *), size_t stack_bytes) {
  given_thread = run;
  return stack_bytes;
}

uint32_t thread_id(void) { return 1; }

void thread_name(char name[THREAD_NAME_BYTES]) { strcpy(name, "given"); }

void thread_set_name(const char *name) { (void)name; }

void wait_for_change(const uint32_t *word, uint32_t seen, uint64_t longest_ns) {
  if (*word != seen) return;
  if (longest_ns != WAIT_WITHOUT_LIMIT) given_monotonic_ns += longest_ns;
  given_wait();
}

void wait_wake(const uint32_t *word) { (void)word; }

/* ---- Use of pages -------------------------------------------------------------------------------------- */

bool (*given_page_uses)(bool (*mapping)(uintptr_t begin, bool used));
bool (*given_page_clear)(uintptr_t begin);
bool (*given_page_unmapped)(uintptr_t begin);
size_t given_mappings;

bool page_use_read(bool (*mapping)(uintptr_t begin, bool used)) { return given_page_uses(mapping); }

bool page_use_clear(void *pages, size_t bytes) {
  check_pages((uintptr_t)pages, memory_whole_pages(bytes));
  return given_page_clear((uintptr_t)pages);
}

bool page_use_clear_all(void) { return false; }

const char *page_use_read_name(void) { return "the use of pages"; }

const char *page_use_clear_name(void) { return "clearing a page"; }

const char *page_use_clear_all_name(void) { return "clearing all pages"; }

size_t mappings_count(void) { return given_mappings; }

size_t mappings_most(void) { return 65530; }

struct process_memory process_memory(void) { return (struct process_memory){.resident = (uint64_t)1 << 30}; }

/* ---- Stacks and objects -------------------------------------------------------------------------------- */

struct own_stack given_stack;
const struct loaded_object *given_objects;
size_t given_object_count;
uintptr_t given_frame_pointer;

void own_stacks_start(void) {}

bool own_stack_holds(uintptr_t stack, struct own_stack *own) {
  *own = given_stack;
  return stack >= own->begin && stack < own->end;
}

size_t own_stack_left(uintptr_t stack) {
  struct own_stack own;
  return own_stack_holds(stack, &own) ? stack - own.begin : 0;
}

bool loaded_objects_start(void) { return given_objects != NULL; }

bool loaded_object_at(uintptr_t address, struct loaded_object *object) {
  for (size_t i = 0; i < given_object_count; i++) {
    if (address < given_objects[i].begin || address >= given_objects[i].end) continue;
    *object = given_objects[i];
    return true;
  }
  return false;
}

/* What is of the test can be read; nobody else's is asked for. */
bool page_is_readable(uintptr_t page) { return page != 0; }

size_t readable_pages(uintptr_t page, size_t pages) { return page != 0 ? pages : 0; }

bool is_readable(uintptr_t begin, size_t bytes) { return readable_pages(begin, bytes) != 0; }

uint32_t loaded_object_build_id(const struct loaded_object *object, uint8_t *id, uint32_t capacity) {
  (void)object, (void)id, (void)capacity;
  return 0;
}

/* ---- The allocator, and what stops the program --------------------------------------------------------- */

static void free_nothing(void *object) { (void)object; }

/* Objects are the test's; so much of each is usable. */
static size_t usable_bytes(void *object) {
  (void)object;
  return 1000;
}

struct next_allocator next = {.free = free_nothing, .usable_size = usable_bytes};

/* In front of each object that the allocator is to take for one of its own. */
struct mapped {
  size_t offset, bytes;
};

void glibc_write_mapped_chunk(uintptr_t begin, size_t offset, size_t bytes) {
  ((struct mapped *)(begin + offset))[-1] = (struct mapped){offset, bytes};
}

size_t glibc_mapped_bytes(const void *object, size_t offset) {
  const struct mapped *mapped = (const struct mapped *)object - 1;
  return mapped->offset == offset ? mapped->bytes : 0;
}

void glibc_free_unnoticed(void *object) { next.free(object); }

void low_range_extend(uintptr_t end) { (void)end; }
