/*
 * The entry on Darwin. dyld reads pairs of functions in the section __DATA,__interpose of each library in
 * DYLD_INSERT_LIBRARIES, and redirects calls of a pair's second function to its first. This library's own calls still
 * reach the original. The pairs have no effect in a library that is loaded later (hooks/darwin_zone.h).
 *
 * Until the library's constructor has run, calls are forwarded uncounted, because libSystem allocates before it is
 * ready. Afterwards malloc, calloc, realloc, reallocf and free take the complete route (hooks/complete.h). The other
 * functions call the original and count its result.
 */
#include <malloc/malloc.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

#include "hooks/complete.h"
#include "hooks/darwin_arrival.h"
#include "hooks/state.h"

/* The program's call: its return address, and the canonical frame address, 16 bytes above the frame record. */
#define ORIGIN ((struct origin){__builtin_return_address(0), (const char *)__builtin_frame_address(0) + 16})

#ifndef INTERPOSE /* tests define this macro, because they call the functions themselves */
#define INTERPOSE(function)                                                  \
  __attribute__((used, section("__DATA,__interpose"))) static const struct { \
    const void *ours, *theirs;                                               \
  } interpose_##function = {(const void *)(uintptr_t)our_##function, (const void *)(uintptr_t)function};
#endif

/* Records that a call reached this library. Returns false until the library's constructor has run; the caller must
 * then forward the call. */
static inline bool is_counted(void) {
  /* Stores the flag only once, because all threads share its cache line. */
  if (!__atomic_load_n(&calls_have_arrived, __ATOMIC_RELAXED))
    __atomic_store_n(&calls_have_arrived, true, __ATOMIC_RELAXED);
  return __atomic_load_n(&hook_state, __ATOMIC_ACQUIRE) >= HOOK_COUNTING;
}

static void *count(void *object, size_t size, struct origin origin) {
  return is_counted() ? complete_count_new_allocation(object, size, origin) : object;
}

static size_t product(size_t count, size_t size) {
  size_t bytes;
  return __builtin_mul_overflow(count, size, &bytes) ? SIZE_MAX : bytes;
}

/* ---- malloc's family ----------------------------------------------------------------------------------- */

static void *our_malloc(size_t size) { return is_counted() ? complete_malloc(size, ORIGIN) : malloc(size); }

static void *our_calloc(size_t number, size_t size) {
  return is_counted() ? complete_calloc(number, size, ORIGIN) : calloc(number, size);
}

static void *our_valloc(size_t size) { return count(valloc(size), size, ORIGIN); }

static void *our_aligned_alloc(size_t alignment, size_t size) {
  return count(aligned_alloc(alignment, size), size, ORIGIN);
}

static int our_posix_memalign(void **object, size_t alignment, size_t size) {
  int error = posix_memalign(object, alignment, size);
  if (error == 0) {
    *object = count(*object, size, ORIGIN);
  } else if (is_counted()) {
    complete_count_failure();
  }
  return error;
}

static void our_free(void *object) {
  if (is_counted()) {
    complete_free(object);
  } else {
    free(object);
  }
}

static void *our_realloc(void *object, size_t size) {
  return is_counted() ? complete_realloc(object, size, ORIGIN) : realloc(object, size);
}

static void *our_reallocf(void *object, size_t size) {
  if (!is_counted()) return reallocf(object, size);
  void *moved = complete_realloc(object, size, ORIGIN);
  if (!moved && object && size > 0) complete_free(object);
  return moved;
}

INTERPOSE(malloc)
INTERPOSE(calloc)
INTERPOSE(valloc)
INTERPOSE(aligned_alloc)
INTERPOSE(posix_memalign)
INTERPOSE(free)
INTERPOSE(realloc)
INTERPOSE(reallocf)

/* ---- Functions that take a zone ------------------------------------------------------------------------ */

static void *our_malloc_zone_malloc(malloc_zone_t *zone, size_t size) {
  return count(malloc_zone_malloc(zone, size), size, ORIGIN);
}

static void *our_malloc_zone_calloc(malloc_zone_t *zone, size_t number, size_t size) {
  return count(malloc_zone_calloc(zone, number, size), product(number, size), ORIGIN);
}

static void *our_malloc_zone_valloc(malloc_zone_t *zone, size_t size) {
  return count(malloc_zone_valloc(zone, size), size, ORIGIN);
}

static void *our_malloc_zone_memalign(malloc_zone_t *zone, size_t alignment, size_t size) {
  return count(malloc_zone_memalign(zone, alignment, size), size, ORIGIN);
}

static void count_free(void *object) {
  if (object && is_counted()) complete_confirm_free(complete_begin_free(object));
}

static void our_malloc_zone_free(malloc_zone_t *zone, void *object) {
  count_free(object);
  malloc_zone_free(zone, object);
}

static void *count_move(void *object, struct begun_free begun, void *result, size_t size, struct origin origin) {
  if (!result) { /* a zone's realloc that fails frees nothing */
    if (object) complete_cancel_free(object, begun);
    return complete_count_allocation(NULL, size, origin);
  }
  if (object) complete_confirm_free(begun);
  return complete_count_allocation(result, size, origin);
}

static void *our_malloc_zone_realloc(malloc_zone_t *zone, void *object, size_t size) {
  if (!is_counted()) return malloc_zone_realloc(zone, object, size);
  struct begun_free begun = {0};
  if (object) begun = complete_begin_free(object);
  return count_move(object, begun, malloc_zone_realloc(zone, object, size), size, ORIGIN);
}

static unsigned our_malloc_zone_batch_malloc(malloc_zone_t *zone, size_t size, void **objects, unsigned wanted) {
  unsigned got = malloc_zone_batch_malloc(zone, size, objects, wanted);
  for (unsigned i = 0; i < got; i++) objects[i] = count(objects[i], size, ORIGIN);
  return got;
}

static void our_malloc_zone_batch_free(malloc_zone_t *zone, void **objects, unsigned number) {
  for (unsigned i = 0; i < number; i++) count_free(objects[i]);
  malloc_zone_batch_free(zone, objects, number);
}

INTERPOSE(malloc_zone_malloc)
INTERPOSE(malloc_zone_calloc)
INTERPOSE(malloc_zone_valloc)
INTERPOSE(malloc_zone_memalign)
INTERPOSE(malloc_zone_free)
INTERPOSE(malloc_zone_realloc)
INTERPOSE(malloc_zone_batch_malloc)
INTERPOSE(malloc_zone_batch_free)

/* ---- Functions that take a type ------------------------------------------------------------------------ */

/* The SDK's headers and older systems lack these functions. dyld ignores a pair whose original is missing. */
typedef unsigned long long type_id;

#ifndef WEAK
#define WEAK __attribute__((weak_import))
#endif
extern WEAK void *malloc_type_malloc(size_t size, type_id type);
extern WEAK void *malloc_type_calloc(size_t number, size_t size, type_id type);
extern WEAK void *malloc_type_valloc(size_t size, type_id type);
extern WEAK void *malloc_type_aligned_alloc(size_t alignment, size_t size, type_id type);
extern WEAK int malloc_type_posix_memalign(void **object, size_t alignment, size_t size, type_id type);
extern WEAK void malloc_type_free(void *object, type_id type);
extern WEAK void *malloc_type_realloc(void *object, size_t size, type_id type);
extern WEAK void *malloc_type_zone_malloc(malloc_zone_t *zone, size_t size, type_id type);
extern WEAK void *malloc_type_zone_calloc(malloc_zone_t *zone, size_t number, size_t size, type_id type);
extern WEAK void *malloc_type_zone_valloc(malloc_zone_t *zone, size_t size, type_id type);
extern WEAK void *malloc_type_zone_memalign(malloc_zone_t *zone, size_t alignment, size_t size, type_id type);
extern WEAK void malloc_type_zone_free(malloc_zone_t *zone, void *object, type_id type);
extern WEAK void *malloc_type_zone_realloc(malloc_zone_t *zone, void *object, size_t size, type_id type);

static void *our_malloc_type_malloc(size_t size, type_id type) {
  return count(malloc_type_malloc(size, type), size, ORIGIN);
}

static void *our_malloc_type_calloc(size_t number, size_t size, type_id type) {
  return count(malloc_type_calloc(number, size, type), product(number, size), ORIGIN);
}

static void *our_malloc_type_valloc(size_t size, type_id type) {
  return count(malloc_type_valloc(size, type), size, ORIGIN);
}

static void *our_malloc_type_aligned_alloc(size_t alignment, size_t size, type_id type) {
  return count(malloc_type_aligned_alloc(alignment, size, type), size, ORIGIN);
}

static int our_malloc_type_posix_memalign(void **object, size_t alignment, size_t size, type_id type) {
  int error = malloc_type_posix_memalign(object, alignment, size, type);
  if (error == 0) {
    *object = count(*object, size, ORIGIN);
  } else if (is_counted()) {
    complete_count_failure();
  }
  return error;
}

static void our_malloc_type_free(void *object, type_id type) {
  count_free(object);
  malloc_type_free(object, type);
}

/* Counts the result of realloc as an allocation even if the size is 0 and the object is freed. */
static void *our_malloc_type_realloc(void *object, size_t size, type_id type) {
  if (!is_counted()) return malloc_type_realloc(object, size, type);
  struct begun_free begun = {0};
  if (object) begun = complete_begin_free(object);
  return count_move(object, begun, malloc_type_realloc(object, size, type), size, ORIGIN);
}

static void *our_malloc_type_zone_malloc(malloc_zone_t *zone, size_t size, type_id type) {
  return count(malloc_type_zone_malloc(zone, size, type), size, ORIGIN);
}

static void *our_malloc_type_zone_calloc(malloc_zone_t *zone, size_t number, size_t size, type_id type) {
  return count(malloc_type_zone_calloc(zone, number, size, type), product(number, size), ORIGIN);
}

static void *our_malloc_type_zone_valloc(malloc_zone_t *zone, size_t size, type_id type) {
  return count(malloc_type_zone_valloc(zone, size, type), size, ORIGIN);
}

static void *our_malloc_type_zone_memalign(malloc_zone_t *zone, size_t alignment, size_t size, type_id type) {
  return count(malloc_type_zone_memalign(zone, alignment, size, type), size, ORIGIN);
}

static void our_malloc_type_zone_free(malloc_zone_t *zone, void *object, type_id type) {
  count_free(object);
  malloc_type_zone_free(zone, object, type);
}

static void *our_malloc_type_zone_realloc(malloc_zone_t *zone, void *object, size_t size, type_id type) {
  if (!is_counted()) return malloc_type_zone_realloc(zone, object, size, type);
  struct begun_free begun = {0};
  if (object) begun = complete_begin_free(object);
  return count_move(object, begun, malloc_type_zone_realloc(zone, object, size, type), size, ORIGIN);
}

INTERPOSE(malloc_type_malloc)
INTERPOSE(malloc_type_calloc)
INTERPOSE(malloc_type_valloc)
INTERPOSE(malloc_type_aligned_alloc)
INTERPOSE(malloc_type_posix_memalign)
INTERPOSE(malloc_type_free)
INTERPOSE(malloc_type_realloc)
INTERPOSE(malloc_type_zone_malloc)
INTERPOSE(malloc_type_zone_calloc)
INTERPOSE(malloc_type_zone_valloc)
INTERPOSE(malloc_type_zone_memalign)
INTERPOSE(malloc_type_zone_free)
INTERPOSE(malloc_type_zone_realloc)
