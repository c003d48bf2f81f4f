/* See given.h. */
#include "platform/given.h"

#include <errno.h>
#include <sys/mman.h>
#include <time.h>

#include "allocator/bootstrap.h"
#include "allocator/next.h"
#include "leak/watch.h"
#include "platform/clock.h"
#include "platform/interrupt.h"
#include "platform/memory.h"
#include "platform/readable_memory.h"

/* ---- The clock ----------------------------------------------------------------------------------------- */

uint64_t given_monotonic_ns, given_realtime_ns, given_cpu_ns;
bool given_clock_passes;

void clock_start(void) {}

uint64_t clock_ns(clockid_t clock) {
  return clock == CLOCK_MONOTONIC ? given_monotonic_ns : clock == CLOCK_REALTIME ? given_realtime_ns : given_cpu_ns;
}

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
#define LOW_BYTES ((size_t)272 << 20)

size_t given_page_bytes = 4096;
const char *given_limit, *given_shortage;
unsigned memory_requests;

static _Alignas(LARGEST_PAGE) char array[ARRAY_BYTES];
static size_t array_taken;
static unsigned requests_until_refusal;
static bool refused;

/* The linker puts it where the search for low addresses begins (CMakeLists.txt). */
static _Alignas(LARGEST_PAGE) char low_array[LOW_BYTES] __attribute__((section(".low,\"aw\",@nobits#")));
char *const low_memory = low_array;
const size_t low_memory_bytes = LOW_BYTES;

void refuse_memory_request(unsigned number) {
  requests_until_refusal = number;
  refused = false;
}

bool memory_was_refused(void) { return refused; }

size_t memory_taken(void) { return array_taken; }

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

/* What is not the last of it is lost to the test, as a hole would be. */
static void give(char *begin, size_t bytes) {
  size_t whole = memory_whole_pages(bytes);
  CHECK(begin >= array && (size_t)(begin - array) % given_page_bytes == 0);
  memset(begin, 0, whole);
  if (begin + whole == array + array_taken) array_taken -= whole;
}

size_t memory_whole_pages(size_t bytes) { return (bytes + given_page_bytes - 1) / given_page_bytes * given_page_bytes; }

void *memory_reserve(size_t bytes) { return take(bytes); }

void memory_give_back(void *memory, size_t bytes) { give(memory, bytes); }

const char *memory_limit(void) { return given_limit; }

const char *memory_shortage(size_t bytes) {
  (void)bytes;
  return given_shortage;
}

bool memory_is_locked(void) { return false; }

/* ---- Calls that reach the kernel directly -------------------------------------------------------------- */

static bool is_low(const char *begin, size_t bytes) {
  return begin >= low_array && bytes <= LOW_BYTES && (size_t)(begin - low_array) <= LOW_BYTES - bytes;
}

void *given_mmap(void *address, size_t bytes, int protection, int flags, int file, off_t offset) {
  (void)protection, (void)file, (void)offset;
  if (!address) {
    void *taken = take(bytes);
    return taken ? taken : MAP_FAILED;
  }
  if (!is_low(address, bytes)) {
    errno = EEXIST;
    return MAP_FAILED;
  }
  if (refuses()) return MAP_FAILED;
  if (flags & MAP_FIXED) memset(address, 0, bytes);
  return address;
}

int given_munmap(void *address, size_t bytes) {
  if (!is_low(address, bytes)) give(address, bytes);
  return 0;
}

int given_mprotect(void *address, size_t bytes, int protection) {
  (void)protection;
  CHECK(is_low(address, bytes));
  return refuses() ? -1 : 0;
}

/* Advice is only advice, and dropping pages needs no memory. */
int given_madvise(void *address, size_t bytes, int advice) {
  if (advice == MADV_DONTNEED) memset(address, 0, bytes);
  return 0;
}

int given_munlock(const void *address, size_t bytes) {
  (void)address, (void)bytes;
  return 0;
}

int given_page_size(void) { return (int)given_page_bytes; }

void *given_sbrk(intptr_t increment) {
  CHECK(increment == 0);
  return low_array + LOW_BYTES;
}

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

bool is_readable(uintptr_t begin, size_t bytes) {
  (void)begin, (void)bytes;
  return false;
}

/* ---- The allocator, and what stops the program --------------------------------------------------------- */

static void free_nothing(void *object) { (void)object; }

/* Objects are the test's; so much of each is usable. */
static size_t usable_bytes(void *object) {
  (void)object;
  return 1000;
}

struct next_allocator next = {.free = free_nothing, .usable_size = usable_bytes};

void glibc_free_unnoticed(void *object) { next.free(object); }

void low_range_extend(uintptr_t end) { (void)end; }

void watch_new_object(const struct slot_object *object) { (void)object; }
