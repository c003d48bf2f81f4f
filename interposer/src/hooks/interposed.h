/* The functions that this library takes over from the next allocator. The C library's headers are not included: they
 * lack some of these functions, and their attributes would apply to this library's definitions, too. */
#ifndef MALLOMETER_HOOKS_INTERPOSED_H
#define MALLOMETER_HOOKS_INTERPOSED_H

#include <dlfcn.h>
#include <stddef.h>

#include "platform/visibility.h"

EXPORT void *malloc(size_t size);
EXPORT void free(void *object);
EXPORT void *calloc(size_t count, size_t size);
EXPORT void *realloc(void *object, size_t size);
EXPORT void *reallocarray(void *object, size_t count, size_t size);
EXPORT void *memalign(size_t alignment, size_t size);
EXPORT void *aligned_alloc(size_t alignment, size_t size);
EXPORT int posix_memalign(void **object, size_t alignment, size_t size);
EXPORT void *valloc(size_t size);
EXPORT void *pvalloc(size_t size);
EXPORT size_t malloc_usable_size(void *object);
/* Names of free besides free itself: cfree (glibc up to 2.25), free_sized and free_aligned_sized (C23), sdallocx
 * (jemalloc). */
/* clang-format off */ /* clang-format would change this layout at each run */
#define EACH_NAME_OF_FREE(X) \
  X(cfree) \
  X(free_sized) \
  X(free_aligned_sized) \
  X(sdallocx)

/*
 * C++'s operators, as X(form, mangled name, base). A form is a variant of new or delete, such as NEW_NOTHROW. `base` is
 * the form that this form calls by default; a form that calls no other is its own base. The list has each base before
 * the forms that call it.
 *
 * Parts of the mangled names: nw is new, na new[], dl delete, da delete[], m a size, St11align_val_t an alignment, and
 * RKSt9nothrow_t nothrow.
 */
#define EACH_OPERATOR(X) \
  X(NEW, _Znwm, NEW) \
  X(NEW_NOTHROW, _ZnwmRKSt9nothrow_t, NEW) \
  X(NEW_ARRAY, _Znam, NEW) \
  X(NEW_ARRAY_NOTHROW, _ZnamRKSt9nothrow_t, NEW_ARRAY) \
  X(NEW_ALIGNED, _ZnwmSt11align_val_t, NEW_ALIGNED) \
  X(NEW_ALIGNED_NOTHROW, _ZnwmSt11align_val_tRKSt9nothrow_t, NEW_ALIGNED) \
  X(NEW_ARRAY_ALIGNED, _ZnamSt11align_val_t, NEW_ALIGNED) \
  X(NEW_ARRAY_ALIGNED_NOTHROW, _ZnamSt11align_val_tRKSt9nothrow_t, NEW_ARRAY_ALIGNED) \
  X(DELETE, _ZdlPv, DELETE) \
  X(DELETE_SIZED, _ZdlPvm, DELETE) \
  X(DELETE_NOTHROW, _ZdlPvRKSt9nothrow_t, DELETE) \
  X(DELETE_ARRAY, _ZdaPv, DELETE) \
  X(DELETE_ARRAY_SIZED, _ZdaPvm, DELETE_ARRAY) \
  X(DELETE_ARRAY_NOTHROW, _ZdaPvRKSt9nothrow_t, DELETE_ARRAY) \
  X(DELETE_ALIGNED, _ZdlPvSt11align_val_t, DELETE_ALIGNED) \
  X(DELETE_SIZED_ALIGNED, _ZdlPvmSt11align_val_t, DELETE_ALIGNED) \
  X(DELETE_ALIGNED_NOTHROW, _ZdlPvSt11align_val_tRKSt9nothrow_t, DELETE_ALIGNED) \
  X(DELETE_ARRAY_ALIGNED, _ZdaPvSt11align_val_t, DELETE_ALIGNED) \
  X(DELETE_ARRAY_SIZED_ALIGNED, _ZdaPvmSt11align_val_t, DELETE_ARRAY_ALIGNED) \
  X(DELETE_ARRAY_ALIGNED_NOTHROW, _ZdaPvSt11align_val_tRKSt9nothrow_t, DELETE_ARRAY_ALIGNED)
/* clang-format on */

/* dlopen and dlmopen. They have other names in C, because this library also calls the real dlopen. */
EXPORT void *program_dlopen(const char *file, int mode) __asm__("dlopen");
EXPORT void *program_dlmopen(Lmid_t namespace, const char *file, int mode) __asm__("dlmopen");

#endif
