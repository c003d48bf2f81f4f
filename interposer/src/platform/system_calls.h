/*
 * System calls without the C library's functions of the same names, which are cancellation points: a cancelled thread
 * would leave through them, even from the middle of malloc, with all locks that it has. Each returns -1 and sets errno
 * if it fails.
 */
#ifndef MALLOMETER_PLATFORM_SYSTEM_CALLS_H
#define MALLOMETER_PLATFORM_SYSTEM_CALLS_H

#include <fcntl.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

static inline int call_open(const char *path, int flags) {
  return (int)syscall(SYS_openat, AT_FDCWD, path, flags | O_CLOEXEC, 0);
}

static inline ssize_t call_read(int file, void *to, size_t bytes) { return syscall(SYS_read, file, to, bytes); }

static inline ssize_t call_write(int file, const void *from, size_t bytes) {
  return syscall(SYS_write, file, from, bytes);
}

/* Map and unmap memory of the library's own past the hooks of mappings (hooks/mappings.c). */
static inline void *call_mmap(void *wish, size_t bytes, int protection, int flags, int file) {
  const unsigned long no_offset = 0; /* syscall() passes whole words */
  return (void *)syscall(SYS_mmap, wish, bytes, (unsigned long)protection, (unsigned long)flags, (long)file, no_offset);
}

static inline int call_munmap(void *memory, size_t bytes) { return (int)syscall(SYS_munmap, memory, bytes); }

static inline int call_close(int file) { return (int)syscall(SYS_close, file); }

#endif
