/*
 * The functions that this library takes over from the allocator below it. Declared here rather than by stdlib.h and
 * malloc.h, which say nothing of the older and the newer ones and attach promises that bind the implementer too.
 */
#ifndef MALLOMETER_PLATFORM_INTERPOSED_H
#define MALLOMETER_PLATFORM_INTERPOSED_H

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
/*
 * free by other names: glibc's up to 2.25, those of C23, jemalloc's, and C++'s operator delete, of which the mangled
 * names say dl or da for one object or an array, m for a size, St11align_val_t for an alignment, RKSt9nothrow_t for
 * nothrow.
 */
/* clang-format off */ /* which never comes to rest here */
#define EACH_NAME_OF_FREE(X) \
  X(cfree) \
  X(free_sized) \
  X(free_aligned_sized) \
  X(sdallocx) \
  X(_ZdlPv) \
  X(_ZdlPvm) \
  X(_ZdlPvSt11align_val_t) \
  X(_ZdlPvmSt11align_val_t) \
  X(_ZdlPvRKSt9nothrow_t) \
  X(_ZdlPvSt11align_val_tRKSt9nothrow_t) \
  X(_ZdaPv) \
  X(_ZdaPvm) \
  X(_ZdaPvSt11align_val_t) \
  X(_ZdaPvmSt11align_val_t) \
  X(_ZdaPvRKSt9nothrow_t) \
  X(_ZdaPvSt11align_val_tRKSt9nothrow_t)
/* clang-format on */

/* operator new, each for one object and (the alias) for an array. */
EXPORT void *operator_new(size_t size) __asm__("_Znwm");
EXPORT void *operator_new_nothrow(size_t size, const void *nothrow) __asm__("_ZnwmRKSt9nothrow_t");
EXPORT void *operator_new_aligned(size_t size, size_t alignment) __asm__("_ZnwmSt11align_val_t");
EXPORT void *operator_new_aligned_nothrow(size_t size, size_t alignment,
                                          const void *nothrow) __asm__("_ZnwmSt11align_val_tRKSt9nothrow_t");

/* dlopen and dlmopen. Named apart, since this library calls the real one too. */
EXPORT void *program_dlopen(const char *file, int mode) __asm__("dlopen");
#ifdef LM_ID_BASE
EXPORT void *program_dlmopen(Lmid_t namespace, const char *file, int mode) __asm__("dlmopen");
#endif

#endif
