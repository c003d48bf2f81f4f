/*
 * The next allocator, which would serve the process if this library were absent.
 *
 * The allocator's functions are all looked up in the loader's search order, so that they belong to one allocator. The C
 * library's free would abort the process if it got an object of another allocator. The functions by which this library
 * replaces malloc and its family call no functions of the system except the next allocator's.
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
 * `after` is the allocator behind this library in the loader's search order. `after_serves` is set if a library in
 * front of this one defines the program's malloc. `next` then has the malloc of that library, which may call this
 * library. Such a call must be passed to `after`, because `next` would call this library again without end.
 */
extern HIDDEN struct next_allocator after;
extern HIDDEN bool after_serves;

/*
 * Finds the functions to which this library passes calls, and stores them in `next`. Returns false if a function is
 * missing, and `next` must then not be used. Enters the loader, which may allocate; the caller serves these allocations
 * from the bootstrap buffer.
 *
 * - `ours` is NULL if the program's malloc is this library's. `next` then gets the functions that come after this
 *   library in the search order.
 * - `ours` has this library's own functions if the program's malloc is another library's. `next` then gets the
 *   functions that the program calls. If one of these is this library's, `next` gets the definition after it instead.
 *   `after` gets the functions that come after this library, if there are any.
 */
bool next_allocator_find(const struct next_allocator *ours);

/*
 * Makes the pointers in `next` lead to the real definitions, because some may lead to PLT entries of the executable. If
 * an executable with fixed addresses takes the address of malloc, for example, the loader resolves malloc to the
 * executable's PLT entry in the whole process. The entry jumps through a word that a redirection (hooks/redirection.h)
 * changes, so a call would come back to this library. The caller must hold the loader's lock. Returns false, and leaves
 * `next` unchanged, if a definition cannot be found.
 */
bool next_allocator_bypass_executable(void);

/*
 * Returns whether the functions in `next` may call functions of this library. This library must then not pass such a
 * call back to `next`. The answer is true if a function in `next` belongs to an object that comes before this library
 * and looks up functions by name. The caller must hold the loader's lock.
 */
bool next_allocator_may_call_back(void);

/* Returns the function of malloc's family that the program would find by this name and malloc's symbol version, or
 * NULL. Enters the loader. */
void *program_function(const char *name);

/*
 * Calls functions of `next` that allocate at their first call, such as tcmalloc's malloc_usable_size, so that the
 * bootstrap buffer serves these allocations. Also replaces functions of `next` that call each other by name, as musl's
 * calloc does: this library would count their objects twice.
 */
void next_allocator_warm_up(void);

/* Returns whether objects of the next allocator have memory tags. Memory before a tagged object must not be read.
 * May be called only if next_allocator_find() has returned true. */
bool next_allocator_tags_memory(void);

/* Returns whether a malloc belongs to a sanitizer's runtime. While the runtime starts, none of the functions that it
 * intercepts, which are most functions of the C library, may be called. */
bool is_of_sanitizer(const void *function);

/* Writes the name of the allocator's file, such as "libjemalloc.so.2", NUL-terminated. */
void next_allocator_name(char *name, size_t capacity);

/*
 * Returns an operator new of another library, by its mangled name, or NULL. Looks behind this library in the search
 * order, then in the object that contains `caller` (JNI libraries often contain the C++ library), then in C++ libraries
 * that were loaded with RTLD_LOCAL. Skips the allocator's own operator unless `of_allocator` is set. Enters the loader.
 */
void *next_operator(const char *mangled_name, const void *caller, bool of_allocator);

/* Returns whether a function belongs to the object that defines malloc. Enters the loader. */
bool next_allocator_contains(const void *function);

/* Finds a function by its name in the library or executable that defines the next allocator's malloc. Stores the
 * function's address in the pointer at `function`. If there is no such function, stores NULL and returns false. */
bool next_allocator_function(void *function, const char *name);

#endif
