/* Tests the functions that replace those of libsystem_malloc on macOS, on the test platform (platform/given.h). Each
 * call must count once. glibc's malloc serves in place of libsystem_malloc. */
#include <errno.h>
#include <malloc.h>

/* Replaces two macros that exist for macOS only: INTERPOSE, which makes dyld replace a function, and WEAK, which
 * marks functions that older systems lack. */
#define INTERPOSE(function) _Static_assert(sizeof &our_##function > 0, #function);
#define WEAK
#include "account/thread_block.h"
#include "account/totals.h"
#include "allocator/next.h"
#include "hooks/darwin_interposing.c"
#include "platform/given.h"
#include "sample/call_sites.h"
#include "sample/live_samples.h"

bool calls_have_arrived;

/* ---- Functions in place of libsystem_malloc's ---------------------------------------------------------- */

static bool fails;

void *reallocf(void *object, size_t size) {
  void *moved = realloc(object, size);
  if (!moved && size > 0) free(object);
  return moved;
}

void *malloc_zone_malloc(malloc_zone_t *zone, size_t size) { return (void)zone, fails ? NULL : malloc(size); }

void *malloc_zone_calloc(malloc_zone_t *zone, size_t number, size_t size) { return (void)zone, calloc(number, size); }

void *malloc_zone_valloc(malloc_zone_t *zone, size_t size) { return (void)zone, valloc(size); }

void *malloc_zone_memalign(malloc_zone_t *zone, size_t alignment, size_t size) {
  return (void)zone, memalign(alignment, size);
}

void malloc_zone_free(malloc_zone_t *zone, void *object) { (void)zone, free(object); }

void *malloc_zone_realloc(malloc_zone_t *zone, void *object, size_t size) {
  return (void)zone, fails ? NULL : realloc(object, size);
}

unsigned malloc_zone_batch_malloc(malloc_zone_t *zone, size_t size, void **objects, unsigned wanted) {
  for (unsigned i = 0; i + 1 < wanted; i++) objects[i] = malloc_zone_malloc(zone, size);
  return wanted - 1;
}

void malloc_zone_batch_free(malloc_zone_t *zone, void **objects, unsigned number) {
  for (unsigned i = 0; i < number; i++) {
    malloc_zone_free(zone, objects[i]);
    objects[i] = NULL;
  }
}

void *malloc_type_malloc(size_t size, type_id type) { return (void)type, fails ? NULL : malloc(size); }

void *malloc_type_calloc(size_t number, size_t size, type_id type) { return (void)type, calloc(number, size); }

void *malloc_type_valloc(size_t size, type_id type) { return (void)type, valloc(size); }

void *malloc_type_aligned_alloc(size_t alignment, size_t size, type_id type) {
  return (void)type, aligned_alloc(alignment, size);
}

int malloc_type_posix_memalign(void **object, size_t alignment, size_t size, type_id type) {
  return (void)type, fails ? ENOMEM : posix_memalign(object, alignment, size);
}

void malloc_type_free(void *object, type_id type) { (void)type, free(object); }

void *malloc_type_realloc(void *object, size_t size, type_id type) {
  return (void)type, fails ? NULL : realloc(object, size);
}

void *malloc_type_zone_malloc(malloc_zone_t *zone, size_t size, type_id type) {
  return (void)zone, malloc_type_malloc(size, type);
}

void *malloc_type_zone_calloc(malloc_zone_t *zone, size_t number, size_t size, type_id type) {
  return (void)zone, malloc_type_calloc(number, size, type);
}

void *malloc_type_zone_valloc(malloc_zone_t *zone, size_t size, type_id type) {
  return (void)zone, malloc_type_valloc(size, type);
}

void *malloc_type_zone_memalign(malloc_zone_t *zone, size_t alignment, size_t size, type_id type) {
  return (void)zone, (void)type, memalign(alignment, size);
}

void malloc_type_zone_free(malloc_zone_t *zone, void *object, type_id type) {
  (void)zone, malloc_type_free(object, type);
}

void *malloc_type_zone_realloc(malloc_zone_t *zone, void *object, size_t size, type_id type) {
  return (void)zone, malloc_type_realloc(object, size, type);
}

static void *next_memalign(size_t alignment, size_t size) { return memalign(alignment, size); }

/* ---- Counts -------------------------------------------------------------------------------------------- */

enum { ANY_TYPE = 7 };

static void begin_counting(void) {
  next = (struct next_allocator){malloc,        free,          calloc,         realloc,
                                 next_memalign, next_memalign, posix_memalign, malloc_usable_size};
  thread_blocks_start(peak_flush);
  hook_state = HOOK_COUNTING;
}

static struct mallometer_counters sums(void) {
  struct mallometer_counters read = {0};
  totals_read(&read);
  return read;
}

static void check_sums(uint64_t allocations, uint64_t frees) {
  struct mallometer_counters now = sums();
  CHECK_EQUAL(mallometer_allocations(&now), allocations);
  CHECK_EQUAL(now.frees, frees);
}

/* Checks that the allocation of an object of `requested` bytes and its free by `release` are each counted once. */
static void check_object(void *object, size_t requested, void (*release)(void *object)) {
  static uint64_t before, allocations, frees;
  struct mallometer_counters now = sums();
  CHECK(object);
  CHECK_EQUAL(mallometer_allocations(&now), ++allocations);
  CHECK_EQUAL(now.requested_bytes - before, requested);
  CHECK_EQUAL(totals_net(), malloc_usable_size(object));
  before = now.requested_bytes;
  release(object);
  check_sums(allocations, ++frees);
  CHECK_EQUAL(totals_net(), 0);
}

static void release_typed(void *object) { our_malloc_type_free(object, ANY_TYPE); }

static void release_by_zone(void *object) { our_malloc_zone_free(NULL, object); }

static void release_typed_by_zone(void *object) { our_malloc_type_zone_free(NULL, object, ANY_TYPE); }

CASE(each_function_counts_what_it_returns_once) {
  void *object;
  begin_counting();
  check_object(our_malloc(100), 100, our_free);
  check_object(our_calloc(10, 20), 200, our_free);
  check_object(our_valloc(300), 300, our_free);
  check_object(our_aligned_alloc(64, 640), 640, our_free);
  CHECK(our_posix_memalign(&object, 64, 500) == 0);
  check_object(object, 500, our_free);
  check_object(our_realloc(NULL, 50), 50, our_free);
  check_object(our_reallocf(NULL, 60), 60, our_free);
  check_object(our_malloc_zone_malloc(NULL, 100), 100, release_by_zone);
  check_object(our_malloc_zone_calloc(NULL, 3, 100), 300, release_by_zone);
  check_object(our_malloc_zone_valloc(NULL, 400), 400, release_by_zone);
  check_object(our_malloc_zone_memalign(NULL, 64, 70), 70, release_by_zone);
  check_object(our_malloc_zone_realloc(NULL, NULL, 80), 80, release_by_zone);
  check_object(our_malloc_type_malloc(100, ANY_TYPE), 100, release_typed);
  check_object(our_malloc_type_calloc(2, 50, ANY_TYPE), 100, release_typed);
  check_object(our_malloc_type_valloc(90, ANY_TYPE), 90, release_typed);
  check_object(our_malloc_type_aligned_alloc(32, 320, ANY_TYPE), 320, release_typed);
  CHECK(our_malloc_type_posix_memalign(&object, 64, 600, ANY_TYPE) == 0);
  check_object(object, 600, release_typed);
  check_object(our_malloc_type_realloc(NULL, 30, ANY_TYPE), 30, release_typed);
  check_object(our_malloc_type_zone_malloc(NULL, 100, ANY_TYPE), 100, release_typed_by_zone);
  check_object(our_malloc_type_zone_calloc(NULL, 2, 50, ANY_TYPE), 100, release_typed_by_zone);
  check_object(our_malloc_type_zone_valloc(NULL, 90, ANY_TYPE), 90, release_typed_by_zone);
  check_object(our_malloc_type_zone_memalign(NULL, 32, 320, ANY_TYPE), 320, release_typed_by_zone);
  check_object(our_malloc_type_zone_realloc(NULL, NULL, 30, ANY_TYPE), 30, release_typed_by_zone);
}

CASE(batches_count_each_object_that_came) {
  void *objects[5];
  begin_counting();
  CHECK_EQUAL(our_malloc_zone_batch_malloc(NULL, 100, objects, 5), 4);
  check_sums(4, 0);
  our_malloc_zone_batch_free(NULL, objects, 4);
  check_sums(4, 4);
  CHECK_EQUAL(totals_net(), 0);
}

CASE(a_move_is_a_free_and_an_allocation) {
  begin_counting();
  void *object = our_malloc(100);
  object = our_realloc(object, 1000);
  object = our_reallocf(object, 2000);
  object = our_malloc_zone_realloc(NULL, object, 3000);
  object = our_malloc_type_realloc(object, 4000, ANY_TYPE);
  object = our_malloc_type_zone_realloc(NULL, object, 5000, ANY_TYPE);
  check_sums(6, 5);
  CHECK_EQUAL(totals_net(), malloc_usable_size(object));
  our_free(object);
  check_sums(6, 6);
}

CASE(what_fails_is_counted_as_failed_and_changes_nothing) {
  void *object = NULL;
  begin_counting();
  void *kept = our_malloc(100);
  fails = true;
  CHECK(!our_malloc_zone_malloc(NULL, 10) && !our_malloc_type_malloc(10, ANY_TYPE));
  CHECK(!our_malloc_zone_realloc(NULL, kept, 10) && !our_malloc_type_realloc(kept, 10, ANY_TYPE));
  CHECK_EQUAL(our_malloc_type_posix_memalign(&object, 64, 10, ANY_TYPE), ENOMEM);
  CHECK_EQUAL(our_posix_memalign(&object, 3, 10), EINVAL);
  CHECK(!our_malloc(SIZE_MAX / 2) && !our_calloc(SIZE_MAX, 2));
  CHECK_EQUAL(sums().failed, 8);
  check_sums(1, 0);
  CHECK(!our_reallocf(kept, SIZE_MAX / 2)); /* reallocf frees the object if it fails */
  check_sums(1, 1);
  CHECK_EQUAL(totals_net(), 0);
}

CASE(null_is_nothing) {
  begin_counting();
  our_free(NULL);
  our_malloc_zone_free(NULL, NULL);
  our_malloc_type_free(NULL, ANY_TYPE);
  our_malloc_type_zone_free(NULL, NULL, ANY_TYPE);
  check_sums(0, 0);
}

CASE(until_the_library_has_started_calls_are_passed_on) {
  begin_counting();
  hook_state = HOOK_UNRESOLVED;
  CHECK(!calls_have_arrived);
  void *object = our_realloc(our_malloc(10), 20);
  CHECK(calls_have_arrived);
  our_free(object);
  our_malloc_zone_free(NULL, our_malloc_zone_realloc(NULL, our_malloc_zone_malloc(NULL, 5), 6));
  our_malloc_type_free(our_malloc_type_realloc(our_malloc_type_malloc(5, ANY_TYPE), 6, ANY_TYPE), ANY_TYPE);
  our_free(our_reallocf(our_calloc(2, 3), 8));
  check_sums(0, 0);
  CHECK_EQUAL(sums().failed, 0);
}

CASE(samples_go_with_their_objects) {
  begin_counting();
  sampler_set_interval(1);
  CHECK(!call_sites_start());
  call_sites_open();
  void *objects[] = {our_malloc(100), our_malloc_zone_malloc(NULL, 100), our_malloc_type_malloc(100, ANY_TYPE),
                     our_malloc_type_zone_malloc(NULL, 100, ANY_TYPE)};
  CHECK_EQUAL(live_samples_count(), 4);
  objects[1] = our_malloc_zone_realloc(NULL, objects[1], 500);
  objects[2] = our_malloc_type_realloc(objects[2], 500, ANY_TYPE);
  CHECK_EQUAL(live_samples_count(), 4);
  fails = true;
  CHECK(!our_malloc_zone_realloc(NULL, objects[0], 500));
  CHECK_EQUAL(live_samples_count(), 4);
  our_malloc_zone_free(NULL, objects[0]);
  our_malloc_type_free(objects[1], ANY_TYPE);
  our_free(objects[2]);
  our_malloc_type_zone_free(NULL, objects[3], ANY_TYPE);
  CHECK_EQUAL(live_samples_count(), 0);
}

int main(void) {
  RUN(each_function_counts_what_it_returns_once);
  RUN(batches_count_each_object_that_came);
  RUN(a_move_is_a_free_and_an_allocation);
  RUN(what_fails_is_counted_as_failed_and_changes_nothing);
  RUN(null_is_nothing);
  RUN(until_the_library_has_started_calls_are_passed_on);
  RUN(samples_go_with_their_objects);
  return 0;
}
