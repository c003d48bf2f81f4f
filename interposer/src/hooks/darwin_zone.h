/*
 * The attach on Darwin: this library's functions replace those of a malloc zone, the struct of function pointers
 * through which libsystem_malloc reaches each of its allocators.
 *
 * A zone may pass a request on to another zone, as the "nano" zone does with large requests. Each of this library's
 * functions counts its event, and calls made inside of the function are not counted. Each object is therefore counted
 * once.
 *
 * The members of struct zone have the order of the public header malloc/malloc.h. Members that version 15 of the struct
 * and later versions added have the order of libmalloc 521 and later. The build for Darwin checks the offsets against
 * its SDK's header. darwin_zone.c states which version of the struct added a member.
 */
#ifndef MALLOMETER_HOOKS_DARWIN_ZONE_H
#define MALLOMETER_HOOKS_DARWIN_ZONE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define OLDEST_KNOWN_ZONE 3u
#define NEWEST_KNOWN_ZONE 16u

struct zone {
  void *reserved[2];
  size_t (*size)(struct zone *zone, const void *object);
  void *(*malloc)(struct zone *zone, size_t size);
  void *(*calloc)(struct zone *zone, size_t number, size_t size);
  void *(*valloc)(struct zone *zone, size_t size);
  void (*free)(struct zone *zone, void *object);
  void *(*realloc)(struct zone *zone, void *object, size_t size);
  void (*destroy)(struct zone *zone);
  const char *name;
  unsigned (*batch_malloc)(struct zone *zone, size_t size, void **objects, unsigned wanted);
  void (*batch_free)(struct zone *zone, void **objects, unsigned number);
  void *introspection;
  unsigned version;
  void *(*memalign)(struct zone *zone, size_t alignment, size_t size);
  void (*free_definite_size)(struct zone *zone, void *object, size_t size);
  size_t (*pressure_relief)(struct zone *zone, size_t goal);
  int (*claimed_address)(struct zone *zone, void *object);
  void (*try_free_default)(struct zone *zone, void *object);
  void *(*malloc_with_options)(struct zone *zone, size_t alignment, size_t size, uint64_t options);
  void *(*malloc_type_malloc)(struct zone *zone, size_t size, uint64_t type);
  void *(*malloc_type_calloc)(struct zone *zone, size_t number, size_t size, uint64_t type);
  void *(*malloc_type_realloc)(struct zone *zone, void *object, size_t size, uint64_t type);
  void *(*malloc_type_memalign)(struct zone *zone, size_t alignment, size_t size, uint64_t type);
  void *(*malloc_type_malloc_with_options)(struct zone *zone, size_t alignment, size_t size, uint64_t options,
                                           uint64_t type);
};

/*
 * Replaces the functions by which a zone allocates and frees. Returns false, without a change, if the version is
 * unknown, the zone is hooked already, there are too many zones, or the zone's memory cannot be made writable
 * (platform/page_protection.h). Also returns false if the memory's protection cannot be restored afterwards.
 *
 * Only one thread may call this at a time; other threads may use the zone meanwhile.
 */
bool zone_hook(struct zone *zone);

/*
 * Restores the zone's own functions. Functions that another tool has set since are left in place: that tool still calls
 * this library, which forwards the calls. Returns false if another tool's function remains, or if the protection of the
 * memory cannot be changed or restored.
 */
bool zone_unhook(struct zone *zone);

bool zone_is_hooked(const struct zone *zone);

/* Returns the number of the zone's function pointers that a hook replaces. */
unsigned zone_words(const struct zone *zone);

#endif
