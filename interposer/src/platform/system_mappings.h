/*
 * The system calls that map memory, with the types of the C library's functions of these names. They serve where those
 * functions are not known yet. Each returns as the C library's does, and sets errno if it fails.
 */
#ifndef MALLOMETER_PLATFORM_SYSTEM_MAPPINGS_H
#define MALLOMETER_PLATFORM_SYSTEM_MAPPINGS_H

#include <stdarg.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

#ifndef MREMAP_DONTUNMAP
#define MREMAP_DONTUNMAP 4
#endif

typedef void *mmap_function(void *wish, size_t bytes, int protection, int flags, int file, off_t offset);
typedef int munmap_function(void *memory, size_t bytes);
typedef void *mremap_function(void *memory, size_t old_bytes, size_t bytes, int flags, ...);

static inline void *system_mmap(void *wish, size_t bytes, int protection, int flags, int file, off_t offset) {
  return (void *)syscall(SYS_mmap, wish, bytes, (long)protection, (long)flags, (long)file, offset);
}

static inline int system_munmap(void *memory, size_t bytes) { return (int)syscall(SYS_munmap, memory, bytes); }

static inline void *system_mremap(void *memory, size_t old_bytes, size_t bytes, int flags, ...) {
  va_list arguments;
  va_start(arguments, flags);
  void *wish = va_arg(arguments, void *);
  va_end(arguments);
  return (void *)syscall(SYS_mremap, memory, old_bytes, bytes, (long)flags, wish);
}

#endif
