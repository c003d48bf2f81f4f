/*
 * The next allocator, which would serve the process if this library were absent.
 *
 * All its functions are found in the loader's search order, so that they belong to one allocator. The C library's
 * free would abort the process if it got an object of another allocator. Apart from these functions, the hooked
 * functions call no function of the system.
 */
#ifndef MALLOMETER_ALLOCATOR_NEXT_H
#define MALLOMETER_ALLOCATOR_NEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "platform/visibility.h"

/* memalign, or a function with its parameters. */
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
 * `after` is the allocator behind this library in the search order. `after_serves` is set if a library in front of
 * this one has the program's malloc, which is then in `next`. If that malloc calls this library, the call must be
 * passed to `after`, because `next` would call this library again without end.
 */
extern HIDDEN struct next_allocator after;
extern HIDDEN bool after_serves;

/*
 * Fills `next` with the functions that come after this library in the search order. Returns false if a function is
 * missing, and `next` must then not be used. Enters the loader, which may allocate; the caller serves these
 * allocations from the bootstrap buffer.
 *
 * If the program's malloc is another library's, the caller passes the functions of the hook as `ours`. `next` then
 * gets the functions that the program calls. Where that is a function of this library, `next` gets the next
 * definition. `after` is filled, too.
 */
bool next_allocator_find(const struct next_allocator *ours);

/*
 * Makes the pointers in `next` lead to the real definitions. In an executable that is linked to fixed addresses and
 * takes a function's address, the loader finds the executable's PLT entry instead. That entry jumps through a word
 * that a redirection changes (hooks/redirection.h). The caller must hold the loader's lock. Returns false, and leaves
 * `next` unchanged, if a definition cannot be found.
 */
bool next_allocator_bypass_executable(void);

/*
 * Returns whether the functions in `next` may call functions of this library, which must then not pass those calls
 * back to them. They are assumed to do so if they are in an object that comes before this library and that looks up
 * functions by name. The caller must hold the loader's lock.
 */
bool next_allocator_may_call_back(void);

/* Returns a function of malloc's family, in malloc's symbol version, as the program would find it, or NULL. Enters
 * the loader. */
void *program_function(const char *name);

/*
 * Calls each function that may allocate at its first call, as tcmalloc's malloc_usable_size does, so that the
 * bootstrap buffer serves these allocations. Replaces functions of `next` that call malloc's family by name and so
 * reach this library.
 */
void next_allocator_warm_up(void);

/* Returns whether objects of the next allocator have memory tags. Memory before a tagged object must not be read. May
 * be called only when `next` serves. */
bool next_allocator_tags_memory(void);

/* Returns whether a malloc belongs to a sanitizer's runtime. While the runtime starts, none of the functions that it
 * intercepts, which are most functions of the C library, may be called. */
bool is_of_sanitizer(const void *function);

/* Writes the name of the allocator's file, such as "libjemalloc.so.2", NUL-terminated. */
void next_allocator_name(char *name, size_t capacity);

/*
 * Returns an operator new that is not this library's, by its mangled name, or NULL. It may be behind this library, in
 * the object that contains `caller` (JNI libraries often contain the C++ library), or in a C++ library that was
 * loaded later with RTLD_LOCAL. Skips the allocator's own unless `of_allocator` is set. Enters the loader.
 */
void *next_operator(const char *mangled_name, const void *caller, bool of_allocator);

/* Returns whether a function belongs to the object that defines malloc. Enters the loader. */
bool next_allocator_contains(const void *function);

/* Sets a pointer to a function of the object that defines malloc. If there is none, sets NULL and returns false. */
bool next_allocator_function(void *function, const char *name);

#endif
