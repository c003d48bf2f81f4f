/* The functions that replace those of a malloc zone. Each calls the zone's own function and counts the event once;
 * calls made inside of that function are not counted. See darwin_zone.h. */
#include "hooks/darwin_zone.h"

#include <string.h>

#include "account/thread_block.h"
#include "hooks/complete.h"
#include "platform/page_protection.h"

/* The call to the function in which this macro stands. The caller is the program or a function of libsystem_malloc. */
#define ORIGIN ((struct origin){__builtin_return_address(0), (const char *)__builtin_frame_address(0) + 16})

/* ---- The zones' own functions -------------------------------------------------------------------------- */

#define MOST_ZONES 64

/* The table of hooked zones. An entry stays when its zone is unhooked, for calls that are in progress. */
static struct hooked {
  struct zone *zone; /* NULL: this entry and all later ones are free */
  bool active;
  struct zone own;
} hooked[MOST_ZONES];

static struct hooked *find(const struct zone *zone) {
  for (unsigned i = 0; i < MOST_ZONES; i++) {
    struct zone *there = __atomic_load_n(&hooked[i].zone, __ATOMIC_ACQUIRE);
    if (!there) return NULL;
    if (there == zone) return &hooked[i];
  }
  return NULL;
}

/* Returns the zone's own functions. Called only from a hooked zone's function. */
static const struct zone *original(const struct zone *zone) { return &find(zone)->own; }

/* ---- Counting ------------------------------------------------------------------------------------------ */

static void *count_new(struct thread_block *block, void *object, size_t size, struct origin origin) {
  thread_block_return(block);
  return complete_count_new_allocation(object, size, origin);
}

static void count_free(void *object) {
  if (object) complete_confirm_free(complete_begin_free(object));
}

static void *count_move(struct thread_block *block, void *object, struct begun_free begun, void *result, size_t size,
                        struct origin origin) {
  thread_block_return(block);
  if (object && result) complete_confirm_free(begun);
  if (object && !result) complete_cancel_free(object, begun);
  return complete_count_allocation(result, size, origin);
}

static size_t product(size_t number, size_t size) {
  size_t bytes;
  return __builtin_mul_overflow(number, size, &bytes) ? SIZE_MAX : bytes;
}

/* ---- The functions that replace a zone's --------------------------------------------------------------- */

static void *our_malloc(struct zone *zone, size_t size) {
  struct thread_block *block = thread_block_leave();
  return count_new(block, original(zone)->malloc(zone, size), size, ORIGIN);
}

static void *our_calloc(struct zone *zone, size_t number, size_t size) {
  struct thread_block *block = thread_block_leave();
  return count_new(block, original(zone)->calloc(zone, number, size), product(number, size), ORIGIN);
}

static void *our_valloc(struct zone *zone, size_t size) {
  struct thread_block *block = thread_block_leave();
  return count_new(block, original(zone)->valloc(zone, size), size, ORIGIN);
}

static void our_free(struct zone *zone, void *object) {
  count_free(object);
  struct thread_block *block = thread_block_leave();
  original(zone)->free(zone, object);
  thread_block_return(block);
}

static void *our_realloc(struct zone *zone, void *object, size_t size) {
  struct begun_free begun = {0};
  if (object) begun = complete_begin_free(object);
  struct thread_block *block = thread_block_leave();
  return count_move(block, object, begun, original(zone)->realloc(zone, object, size), size, ORIGIN);
}

static unsigned our_batch_malloc(struct zone *zone, size_t size, void **objects, unsigned wanted) {
  struct thread_block *block = thread_block_leave();
  unsigned got = original(zone)->batch_malloc(zone, size, objects, wanted);
  thread_block_return(block);
  for (unsigned i = 0; i < got; i++) objects[i] = complete_count_new_allocation(objects[i], size, ORIGIN);
  return got;
}

static void our_batch_free(struct zone *zone, void **objects, unsigned number) {
  for (unsigned i = 0; i < number; i++) count_free(objects[i]);
  struct thread_block *block = thread_block_leave();
  original(zone)->batch_free(zone, objects, number);
  thread_block_return(block);
}

static void *our_memalign(struct zone *zone, size_t alignment, size_t size) {
  struct thread_block *block = thread_block_leave();
  return count_new(block, original(zone)->memalign(zone, alignment, size), size, ORIGIN);
}

static void our_free_definite_size(struct zone *zone, void *object, size_t size) {
  count_free(object);
  struct thread_block *block = thread_block_leave();
  original(zone)->free_definite_size(zone, object, size);
  thread_block_return(block);
}

/* The zone's own function also frees objects of other zones, so every call is counted as a free. */
static void our_try_free_default(struct zone *zone, void *object) {
  count_free(object);
  struct thread_block *block = thread_block_leave();
  original(zone)->try_free_default(zone, object);
  thread_block_return(block);
}

static void *our_malloc_with_options(struct zone *zone, size_t alignment, size_t size, uint64_t options) {
  struct thread_block *block = thread_block_leave();
  return count_new(block, original(zone)->malloc_with_options(zone, alignment, size, options), size, ORIGIN);
}

static void *our_malloc_type_malloc(struct zone *zone, size_t size, uint64_t type) {
  struct thread_block *block = thread_block_leave();
  return count_new(block, original(zone)->malloc_type_malloc(zone, size, type), size, ORIGIN);
}

static void *our_malloc_type_calloc(struct zone *zone, size_t number, size_t size, uint64_t type) {
  struct thread_block *block = thread_block_leave();
  return count_new(block, original(zone)->malloc_type_calloc(zone, number, size, type), product(number, size), ORIGIN);
}

static void *our_malloc_type_realloc(struct zone *zone, void *object, size_t size, uint64_t type) {
  struct begun_free begun = {0};
  if (object) begun = complete_begin_free(object);
  struct thread_block *block = thread_block_leave();
  return count_move(block, object, begun, original(zone)->malloc_type_realloc(zone, object, size, type), size, ORIGIN);
}

static void *our_malloc_type_memalign(struct zone *zone, size_t alignment, size_t size, uint64_t type) {
  struct thread_block *block = thread_block_leave();
  return count_new(block, original(zone)->malloc_type_memalign(zone, alignment, size, type), size, ORIGIN);
}

static void *our_malloc_type_malloc_with_options(struct zone *zone, size_t alignment, size_t size, uint64_t options,
                                                 uint64_t type) {
  struct thread_block *block = thread_block_leave();
  return count_new(block, original(zone)->malloc_type_malloc_with_options(zone, alignment, size, options, type), size,
                   ORIGIN);
}

/* ---- Hook and unhook ----------------------------------------------------------------------------------- */

/* Calls X(member, version) for each function pointer that is replaced. `version` is the first version of the struct
 * that has the member. */
#define EACH_MEMBER(X)        \
  X(malloc, 3)                \
  X(calloc, 3)                \
  X(valloc, 3)                \
  X(free, 3)                  \
  X(realloc, 3)               \
  X(batch_malloc, 3)          \
  X(batch_free, 3)            \
  X(memalign, 5)              \
  X(free_definite_size, 6)    \
  X(try_free_default, 13)     \
  X(malloc_with_options, 15)  \
  X(malloc_type_malloc, 16)   \
  X(malloc_type_calloc, 16)   \
  X(malloc_type_realloc, 16)  \
  X(malloc_type_memalign, 16) \
  X(malloc_type_malloc_with_options, 16)

#define HAS(zone, member, since) ((zone)->version >= (since) && (zone)->member)

static size_t bytes_of(unsigned version) {
  if (version >= 16) return sizeof(struct zone);
  if (version >= 15) return offsetof(struct zone, malloc_type_malloc);
  if (version >= 13) return offsetof(struct zone, malloc_with_options);
  if (version >= 10) return offsetof(struct zone, try_free_default);
  if (version >= 8) return offsetof(struct zone, claimed_address);
  if (version >= 6) return offsetof(struct zone, pressure_relief);
  if (version >= 5) return offsetof(struct zone, free_definite_size);
  return offsetof(struct zone, memalign);
}

static struct hooked *row_for(const struct zone *zone) {
  struct hooked *known = find(zone);
  for (unsigned i = 0; !known && i < MOST_ZONES; i++) {
    if (!hooked[i].zone) known = &hooked[i];
  }
  return known;
}

bool zone_is_hooked(const struct zone *zone) {
  const struct hooked *row = find(zone);
  return row && row->active;
}

unsigned zone_words(const struct zone *zone) {
  unsigned words = 0;
#define COUNT(member, since) words += HAS(zone, member, since);
  EACH_MEMBER(COUNT)
  return words;
}

bool zone_hook(struct zone *zone) {
  if (zone->version < OLDEST_KNOWN_ZONE || zone->version > NEWEST_KNOWN_ZONE || zone_is_hooked(zone)) return false;
  struct hooked *row = row_for(zone);
  size_t bytes = bytes_of(zone->version);
  int before;
  if (!row || !pages_open_for_change(zone, bytes, &before)) return false;
  if (!row->zone) {
    memcpy(&row->own, zone, bytes);
    __atomic_store_n(&row->zone, zone, __ATOMIC_RELEASE); /* published first, because our functions look it up */
  }
  /* Another tool may have replaced functions of the zone since an earlier attach. row->own then gets the tool's
   * function, which this library's function calls. A member that still is this library's function is skipped,
   * because row->own already has the function to call. */
#define TAKE(member, since)                                             \
  if (HAS(zone, member, since) && zone->member != our_##member) {       \
    __atomic_store_n(&row->own.member, zone->member, __ATOMIC_RELEASE); \
    __atomic_store_n(&zone->member, our_##member, __ATOMIC_RELEASE);    \
  }
  EACH_MEMBER(TAKE)
  row->active = true;
  return pages_close_after_change(zone, bytes, before);
}

bool zone_unhook(struct zone *zone) {
  struct hooked *row = find(zone);
  size_t bytes = bytes_of(zone->version);
  int before;
  bool all = true;
  if (!row || !row->active || !pages_open_for_change(zone, bytes, &before)) return false;
#define PUT_BACK(member, since)                                           \
  if (HAS(zone, member, since)) {                                         \
    if (zone->member == our_##member) {                                   \
      __atomic_store_n(&zone->member, row->own.member, __ATOMIC_RELEASE); \
    } else if (zone->member != row->own.member) {                         \
      all = false;                                                        \
    }                                                                     \
  }
  EACH_MEMBER(PUT_BACK)
  row->active = false;
  return pages_close_after_change(zone, bytes, before) && all;
}
