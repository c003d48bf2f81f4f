/*
 * What lies below the hook: the allocator that would have served the process without us.
 *
 * All its functions are found through RTLD_NEXT, so they belong together: mixing them with the C library's own
 * names aborts under a foreign allocator. Calling one of them is all that the hook ever asks of the system.
 */
#ifndef MALLOMETER_ALLOCATOR_NEXT_H
#define MALLOMETER_ALLOCATOR_NEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "platform/visibility.h"

/* memalign and its younger relatives. */
typedef void *aligned_function(size_t alignment, size_t size);

struct next_allocator {
  void *(*malloc)(size_t size);
  void (*free)(void *object);
  void *(*calloc)(size_t count, size_t size);
  void *(*realloc)(void *object, size_t size);
  aligned_function *memalign;
  aligned_function *aligned_alloc;
  int (*posix_memalign)(void **object, size_t alignment, size_t size);
  size_t (*usable_size)(void *object);
};

extern HIDDEN struct next_allocator next;

/*
 * What comes after this library, where the program's malloc, and so `next`, stands before it. Such a malloc may pass
 * its calls on to what follows it, which is this library: those are for `after`, or they would come back without end.
 * Used while `after_serves`.
 */
extern HIDDEN struct next_allocator after;
extern HIDDEN bool after_serves;

/*
 * Fills `next` with the functions that come after this library in the search order. With `ours`, the functions of the
 * hook, because the program's malloc is another's: with those that serve the program now; a function that the program
 * would find in this library is replaced by the next one; and fills `after`. Enters the loader, which may allocate: the
 * caller answers that from the bootstrap buffer. False if a function is missing (then `next` must not be used).
 */
bool next_allocator_find(const struct next_allocator *ours);

/*
 * Has `next` lead to definitions. An executable that is linked to fixed addresses and takes a function's address seems
 * to contain it; what is there goes on by a word that a redirection changes (hooks/redirection.h). With the loader's
 * lock. False if a function has no definition that can be told; `next` is as it was then.
 */
bool next_allocator_bypass_executable(void);

/*
 * Whether a function of `next` stands before this library and may pass its calls on to it: then nothing that leads here
 * may be passed on to `next`. Its object looks functions up by their names. With the loader's lock.
 */
bool next_allocator_may_come_back(void);

/* malloc or one of its older relatives as the program would find it; NULL if there is none. Enters the loader. */
void *program_function(const char *name);

/*
 * Calls the functions once that prepare themselves at their first call; tcmalloc's malloc_usable_size allocates then.
 * What they allocate comes from the bootstrap buffer. Replaces those of `next` that call malloc's family by its names,
 * which lead here.
 */
void next_allocator_warm_up(void);

/* Whether its objects have tags: no memory in front of one may be read then. It serves. */
bool next_allocator_tags_memory(void);

/*
 * Whether a malloc is that of a sanitizer's runtime. While the runtime starts, no function that it intercepts may be
 * called: most of the C library.
 */
bool is_of_sanitizer(const void *function);

/* Writes the name of the file that serves, such as "libjemalloc.so.2", NUL-terminated. */
void next_allocator_name(char *name, size_t capacity);

/*
 * C++'s operator new of the given mangled name, other than ours: below us, in the object that contains `caller` (JNI
 * libraries often bring the C++ library in themselves), or in a C++ library that was loaded later and locally. The
 * allocator's own if that comes first and `of_allocator`. NULL if there is none. Enters the loader.
 */
void *next_operator(const char *mangled_name, const void *caller, bool of_allocator);

/* Whether a function belongs to the object that malloc belongs to. Enters the loader. */
bool next_allocator_contains(const void *function);

/* Finds a function in the object that malloc belongs to and sets a pointer to it. False, and NULL, if there is none. */
bool next_allocator_function(void *function, const char *name);

#endif
