/*
 * Tests the replacement of functions in macOS's malloc zones, on the test platform (platform/given.h). For each
 * version of zones, the test hooks a zone, calls its functions as libsystem_malloc does, and unhooks it. The zone is
 * in read-only memory, and the memory behind it is inaccessible.
 */
#include <malloc.h>
#include <pthread.h>
#include <sys/mman.h>

#include "account/thread_block.h"
#include "account/totals.h"
#include "allocator/next.h"
#include "hooks/darwin_zone.h"
#include "hooks/state.h"
#include "platform/given.h"
#include "platform/page_protection.h"

enum { PAGE = 4096, POISON = 0xee };

/* ---- The system ---------------------------------------------------------------------------------------- */

static void *page_with(void *address) { return (char *)address - (uintptr_t)address % PAGE; }

static bool pages_are_refused;
static int open_pages;

bool pages_open_for_change(void *begin, size_t bytes, int *before) {
  if (pages_are_refused) return false;
  CHECK(((uintptr_t)begin + bytes) % PAGE == 0);
  *before = PROT_READ;
  open_pages++;
  return mprotect(page_with(begin), PAGE, PROT_READ | PROT_WRITE) == 0;
}

bool pages_close_after_change(void *begin, size_t bytes, int before) {
  CHECK(((uintptr_t)begin + bytes) % PAGE == 0);
  open_pages--;
  return mprotect(page_with(begin), PAGE, before) == 0;
}

static size_t size_of(void *object) { return malloc_usable_size(object); }

/* ---- Zones ----------------------------------------------------------------------------------------------- */

static struct zone *helper; /* a second zone for requests above 256 bytes, or NULL */
static bool fails;
static unsigned calls;

static bool is_helped(const struct zone *zone, size_t size) { return helper && zone != helper && size > 256; }

static size_t z_size(struct zone *zone, const void *object) {
  (void)zone;
  return malloc_usable_size((void *)(uintptr_t)object);
}

static void *z_malloc(struct zone *zone, size_t size) {
  calls++;
  if (is_helped(zone, size)) return helper->malloc(helper, size);
  return fails ? NULL : malloc(size);
}

static void *z_calloc(struct zone *zone, size_t number, size_t size) {
  (void)zone;
  calls++;
  return calloc(number, size);
}

static void *z_memalign(struct zone *zone, size_t alignment, size_t size) {
  (void)zone;
  calls++;
  return memalign(alignment, size);
}

static void *z_valloc(struct zone *zone, size_t size) { return z_memalign(zone, PAGE, size); }

static void z_free(struct zone *zone, void *object) {
  (void)zone;
  calls++;
  free(object);
}

static void *z_realloc(struct zone *zone, void *object, size_t size) {
  calls++;
  if (fails) return NULL;
  if (is_helped(zone, size)) return helper->realloc(helper, object, size);
  return realloc(object, size);
}

static unsigned z_batch_malloc(struct zone *zone, size_t size, void **objects, unsigned wanted) {
  for (unsigned i = 0; i < wanted; i++) objects[i] = z_malloc(zone, size);
  return wanted;
}

static void z_batch_free(struct zone *zone, void **objects, unsigned number) {
  for (unsigned i = 0; i < number; i++) z_free(zone, objects[i]);
}

static void z_free_definite_size(struct zone *zone, void *object, size_t size) {
  CHECK(size <= z_size(zone, object));
  z_free(zone, object);
}

static void z_try_free_default(struct zone *zone, void *object) {
  calls++;
  if (is_helped(zone, z_size(zone, object))) {
    helper->free_definite_size(helper, object, z_size(zone, object));
  } else {
    free(object);
  }
}

static void *z_malloc_with_options(struct zone *zone, size_t alignment, size_t size, uint64_t options) {
  (void)options;
  return alignment ? z_memalign(zone, alignment, size) : z_malloc(zone, size);
}

static void *z_malloc_type_malloc(struct zone *zone, size_t size, uint64_t type) {
  (void)type;
  return z_malloc(zone, size);
}

static void *z_malloc_type_calloc(struct zone *zone, size_t number, size_t size, uint64_t type) {
  (void)type;
  return z_calloc(zone, number, size);
}

static void *z_malloc_type_realloc(struct zone *zone, void *object, size_t size, uint64_t type) {
  (void)type;
  return z_realloc(zone, object, size);
}

static void *z_malloc_type_memalign(struct zone *zone, size_t alignment, size_t size, uint64_t type) {
  (void)type;
  return z_memalign(zone, alignment, size);
}

static void *z_malloc_type_malloc_with_options(struct zone *zone, size_t alignment, size_t size, uint64_t options,
                                               uint64_t type) {
  (void)type;
  return z_malloc_with_options(zone, alignment, size, options);
}

static const struct zone all_members = {.size = z_size,
                                        .malloc = z_malloc,
                                        .calloc = z_calloc,
                                        .valloc = z_valloc,
                                        .free = z_free,
                                        .realloc = z_realloc,
                                        .name = "given",
                                        .batch_malloc = z_batch_malloc,
                                        .batch_free = z_batch_free,
                                        .memalign = z_memalign,
                                        .free_definite_size = z_free_definite_size,
                                        .try_free_default = z_try_free_default,
                                        .malloc_with_options = z_malloc_with_options,
                                        .malloc_type_malloc = z_malloc_type_malloc,
                                        .malloc_type_calloc = z_malloc_type_calloc,
                                        .malloc_type_realloc = z_malloc_type_realloc,
                                        .malloc_type_memalign = z_malloc_type_memalign,
                                        .malloc_type_malloc_with_options = z_malloc_type_malloc_with_options};

/* Returns the size of `struct zone` in a version of the interface, according to Apple's comments in malloc/malloc.h. */
static size_t end_of(unsigned version) {
  if (version >= 16) return 200;
  if (version >= 15) return 160;
  if (version >= 13) return 152;
  if (version >= 10) return 144;
  if (version >= 8) return 136;
  if (version >= 6) return 128;
  return version >= 5 ? 120 : 112;
}

static struct zone *zone_of(unsigned version) {
  char *page = mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  CHECK(page != MAP_FAILED && mprotect(page + PAGE, PAGE, PROT_NONE) == 0);
  memset(page, POISON, PAGE);
  struct zone whole = all_members;
  whole.version = version;
  struct zone *zone = (struct zone *)(void *)(page + PAGE - end_of(version));
  memcpy(zone, &whole, end_of(version));
  CHECK(mprotect(page, PAGE, PROT_READ) == 0);
  return zone;
}

static bool is_as_it_was(const struct zone *zone) {
  struct zone whole = all_members;
  whole.version = zone->version;
  const unsigned char *before = (const unsigned char *)zone - (uintptr_t)zone % PAGE;
  for (; before < (const unsigned char *)zone; before++) {
    if (*before != POISON) return false;
  }
  return memcmp(zone, &whole, end_of(zone->version)) == 0;
}

/* Frees an object by the zone's function that free() of libsystem_malloc calls. */
static void system_free(struct zone *zone, void *object) {
  if (zone->version >= 13 && zone->try_free_default) {
    zone->try_free_default(zone, object);
  } else if (zone->version >= 6 && zone->free_definite_size) {
    zone->free_definite_size(zone, object, zone->size(zone, object));
  } else {
    zone->free(zone, object);
  }
}

/* ---- Counts -------------------------------------------------------------------------------------------- */

static void begin_counting(void) {
  next.usable_size = size_of;
  next.free = free;
  thread_blocks_start(peak_flush);
  hook_state = HOOK_COUNTING;
}

struct sums {
  uint64_t allocations, frees, failed;
  int64_t live;
};

static struct sums sums(void) {
  struct mallometer_counters read = {0};
  totals_read(&read);
  return (struct sums){mallometer_allocations(&read), read.frees, read.failed, totals_net()};
}

static void check_sums(uint64_t allocations, uint64_t frees, int64_t live) {
  struct sums now = sums();
  CHECK_EQUAL(now.allocations, allocations);
  CHECK_EQUAL(now.frees, frees);
  CHECK_EQUAL(now.live, live);
}

static int64_t bytes(void *object) { return (int64_t)malloc_usable_size(object); }

/* ---- Versions of zones --------------------------------------------------------------------------------- */

static void counts_every_function_of(unsigned version) {
  begin_counting();
  struct zone *zone = zone_of(version);
  CHECK(zone_hook(zone) && !zone_hook(zone) && zone_is_hooked(zone));
  CHECK_EQUAL(open_pages, 0);
  CHECK_EQUAL(zone_words(zone),
              7 + (version >= 5) + (version >= 6) + (version >= 13) + (version >= 15) + 5 * (version >= 16));
  void *objects[16];
  unsigned count = 0;
  objects[count++] = zone->malloc(zone, 100);
  objects[count++] = zone->calloc(zone, 10, 20);
  objects[count++] = zone->valloc(zone, 300);
  CHECK_EQUAL(zone->batch_malloc(zone, 40, objects + count, 2), 2);
  count += 2;
  if (version >= 5) objects[count++] = zone->memalign(zone, 64, 500);
  if (version >= 15) objects[count++] = zone->malloc_with_options(zone, 32, 600, 0);
  if (version >= 16) {
    objects[count++] = zone->malloc_type_malloc(zone, 700, 1);
    objects[count++] = zone->malloc_type_calloc(zone, 8, 100, 1);
    objects[count++] = zone->malloc_type_memalign(zone, 64, 900, 1);
    objects[count++] = zone->malloc_type_malloc_with_options(zone, 0, 1000, 0, 1);
  }
  int64_t live = 0;
  for (unsigned i = 0; i < count; i++) live += bytes(objects[i]);
  check_sums(count, 0, live);
  live -= bytes(objects[0]);
  objects[0] = zone->realloc(zone, objects[0], 5000);
  if (version >= 16) {
    live -= bytes(objects[1]);
    objects[1] = zone->malloc_type_realloc(zone, objects[1], 6000, 1);
    live += bytes(objects[1]);
  }
  unsigned moves = version >= 16 ? 2 : 1;
  check_sums(count + moves, moves, live + bytes(objects[0]));
  zone->batch_free(zone, objects, 2);
  zone->free(zone, objects[2]);
  for (unsigned i = 3; i < count; i++) system_free(zone, objects[i]);
  check_sums(count + moves, count + moves, 0);
  CHECK(zone_unhook(zone) && !zone_is_hooked(zone) && is_as_it_was(zone));
  CHECK_EQUAL(open_pages, 0);
  system_free(zone, zone->malloc(zone, 100));
  check_sums(count + moves, count + moves, 0);
  CHECK(zone_hook(zone));
  system_free(zone, zone->malloc(zone, 100));
  check_sums(count + moves + 1, count + moves + 1, 0);
}

static int run_version(unsigned version) {
  counts_every_function_of(version);
  return REACHED;
}

/* ---- Failures ------------------------------------------------------------------------------------------ */

CASE(versions_that_nobody_knows_are_left_alone) {
  begin_counting();
  for (unsigned version = 0; version < 20; version++) {
    struct zone *zone = zone_of(version);
    CHECK_EQUAL(zone_hook(zone), version >= 3 && version <= 16);
    if (version < 3 || version > 16) CHECK(is_as_it_was(zone));
  }
  CHECK_EQUAL(open_pages, 0);
}

CASE(a_zone_that_cannot_be_opened_is_left_alone) {
  begin_counting();
  struct zone *zone = zone_of(13), *hooked = zone_of(16);
  CHECK(zone_hook(hooked));
  pages_are_refused = true;
  CHECK(!zone_hook(zone) && is_as_it_was(zone) && !zone_is_hooked(zone));
  CHECK(!zone_unhook(hooked) && zone_is_hooked(hooked));
  system_free(hooked, hooked->malloc(hooked, 10));
  check_sums(1, 1, 0);
}

CASE(members_that_a_zone_lacks_stay_empty) {
  begin_counting();
  struct zone *zone = zone_of(16);
  CHECK(mprotect(page_with(zone), PAGE, PROT_READ | PROT_WRITE) == 0);
  zone->batch_malloc = NULL;
  zone->try_free_default = NULL;
  zone->malloc_type_malloc_with_options = NULL;
  CHECK(mprotect(page_with(zone), PAGE, PROT_READ) == 0);
  CHECK(zone_hook(zone));
  CHECK(!zone->batch_malloc && !zone->try_free_default && !zone->malloc_type_malloc_with_options);
  system_free(zone, zone->malloc(zone, 10));
  check_sums(1, 1, 0);
}

CASE(more_zones_than_there_is_room_for_are_left_alone) {
  begin_counting();
  unsigned taken = 0;
  for (unsigned i = 0; i < 100; i++) {
    struct zone *zone = zone_of(13);
    if (zone_hook(zone)) {
      taken++;
    } else {
      CHECK(is_as_it_was(zone));
    }
  }
  CHECK_EQUAL(taken, 64);
}

CASE(a_failed_request_changes_no_live_bytes) {
  begin_counting();
  struct zone *zone = zone_of(16);
  CHECK(zone_hook(zone));
  void *object = zone->malloc(zone, 100);
  fails = true;
  CHECK(!zone->malloc(zone, 100));
  CHECK(!zone->realloc(zone, object, 200));
  CHECK(!zone->malloc_type_realloc(zone, object, 200, 1));
  check_sums(1, 0, bytes(object));
  CHECK_EQUAL(sums().failed, 3);
  fails = false;
  system_free(zone, object);
  system_free(zone, NULL);
  check_sums(1, 1, 0);
}

/* ---- Zones that serve each other ------------------------------------------------------------------------ */

CASE(what_one_zone_takes_from_another_counts_once) {
  begin_counting();
  struct zone *small = zone_of(13), *large = zone_of(13);
  helper = large;
  CHECK(zone_hook(small) && zone_hook(large));
  void *a = small->malloc(small, 100), *b = small->malloc(small, 1000);
  CHECK_EQUAL(calls, 3);
  check_sums(2, 0, bytes(a) + bytes(b));
  a = small->realloc(small, a, 2000);
  check_sums(3, 1, bytes(a) + bytes(b));
  small->try_free_default(small, a);
  large->free(large, b);
  check_sums(3, 3, 0);
}

/* ---- Hooks of other tools in a zone ---------------------------------------------------------------------- */

static void *(*before_another)(struct zone *zone, size_t size);

static void *anothers_malloc(struct zone *zone, size_t size) { return before_another(zone, size); }

CASE(a_tool_that_came_later_keeps_its_function) {
  begin_counting();
  struct zone *zone = zone_of(13);
  CHECK(zone_hook(zone));
  before_another = zone->malloc;
  CHECK(mprotect(page_with(zone), PAGE, PROT_READ | PROT_WRITE) == 0);
  zone->malloc = anothers_malloc;
  CHECK(mprotect(page_with(zone), PAGE, PROT_READ) == 0);
  CHECK(!zone_unhook(zone));
  CHECK(zone->malloc == anothers_malloc && zone->free == z_free);
  hook_state = HOOK_FORWARDING;
  system_free(zone, zone->malloc(zone, 100));
  check_sums(0, 0, 0);
}

CASE(counting_that_is_off_passes_calls_on) {
  begin_counting();
  struct zone *zone = zone_of(16);
  CHECK(zone_hook(zone));
  void *object = zone->malloc(zone, 100);
  int64_t live = bytes(object);
  hook_state = HOOK_FORWARDING;
  system_free(zone, zone->realloc(zone, object, 1000));
  check_sums(1, 0, live);
}

/* ---- Threads ------------------------------------------------------------------------------------------- */

static struct zone *of_threads;
static pthread_key_t late;

static void frees_late(void *object) { system_free(of_threads, object); }

static void *allocates(void *unused) {
  (void)unused;
  for (unsigned i = 0; i < 1000; i++) system_free(of_threads, of_threads->malloc(of_threads, i));
  CHECK(pthread_setspecific(late, of_threads->malloc(of_threads, 100)) == 0);
  return NULL;
}

/* The library's key is older than the key `late`, so its destructor runs first and returns the thread's counters.
 * The destructor of `late` then frees an object. */
CASE(a_thread_that_ends_hands_its_block_over) {
  enum { THREADS = 20 };
  begin_counting();
  of_threads = zone_of(16);
  CHECK(pthread_key_create(&late, frees_late) == 0);
  CHECK(zone_hook(of_threads));
  for (unsigned i = 0; i < THREADS; i++) {
    pthread_t thread;
    CHECK(pthread_create(&thread, NULL, allocates, NULL) == 0 && pthread_join(thread, NULL) == 0);
  }
  check_sums(THREADS * 1001, THREADS * 1001, 0);
  CHECK_EQUAL(thread_block_owners(), 0);
  CHECK_EQUAL(thread_block_count(), 1);
}

int main(void) {
  for (unsigned version = OLDEST_KNOWN_ZONE; version <= NEWEST_KNOWN_ZONE; version++)
    CHECK_EQUAL(apart(run_version, version), REACHED);
  RUN(versions_that_nobody_knows_are_left_alone);
  RUN(a_zone_that_cannot_be_opened_is_left_alone);
  RUN(members_that_a_zone_lacks_stay_empty);
  RUN(more_zones_than_there_is_room_for_are_left_alone);
  RUN(a_failed_request_changes_no_live_bytes);
  RUN(what_one_zone_takes_from_another_counts_once);
  RUN(a_tool_that_came_later_keeps_its_function);
  RUN(counting_that_is_off_passes_calls_on);
  RUN(a_thread_that_ends_hands_its_block_over);
  return 0;
}
