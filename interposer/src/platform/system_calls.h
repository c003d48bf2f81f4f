/*
 * Makes system calls without the C library's functions of the same names. Those functions are cancellation points: a
 * cancelled thread could end there in the middle of malloc, with all locks that it holds. On failure, a function of
 * this header returns -1 and sets errno.
 */
#ifndef MALLOMETER_PLATFORM_SYSTEM_CALLS_H
#define MALLOMETER_PLATFORM_SYSTEM_CALLS_H

#include <fcntl.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/types.h>
#include <time.h>
#include <unistd.h>

#ifdef __APPLE__ /* Mappings have no hooks on macOS. */
#define call_mmap mmap
#define call_munmap munmap
#else
#include <linux/futex.h>
#include <sys/syscall.h>

static inline int call_open(const char *path, int flags) {
  return (int)syscall(SYS_openat, AT_FDCWD, path, flags | O_CLOEXEC, 0);
}

static inline ssize_t call_read(int file, void *to, size_t bytes) { return syscall(SYS_read, file, to, bytes); }

static inline ssize_t call_write(int file, const void *from, size_t bytes) {
  return syscall(SYS_write, file, from, bytes);
}

/* Map and unmap memory without the hooks of mappings (hooks/mappings.c). */
static inline void *call_mmap(void *wish, size_t bytes, int protection, int flags, int file, off_t offset) {
  return (void *)syscall(SYS_mmap, wish, bytes, (long)protection, (long)flags, (long)file, offset);
}

static inline int call_munmap(void *memory, size_t bytes) { return (int)syscall(SYS_munmap, memory, bytes); }

static inline void *call_mremap(void *memory, size_t old_bytes, size_t bytes, int flags, void *wish) {
  return (void *)syscall(SYS_mremap, memory, old_bytes, bytes, (long)flags, wish);
}

/*
 * Block all signals, including those that the C library reserves, and restore the earlier mask. Both preserve errno.
 */
static inline uint64_t call_block_signals(void) {
  const uint64_t all = UINT64_MAX;
  uint64_t before = 0;
  syscall(SYS_rt_sigprocmask, SIG_SETMASK, &all, &before, sizeof all);
  return before;
}

static inline void call_restore_signals(uint64_t before) {
  syscall(SYS_rt_sigprocmask, SIG_SETMASK, &before, NULL, sizeof before);
}

/* Sleeps by futex(2), which every seccomp filter of a program with threads must allow. May change errno. */
static inline void call_sleep(uint32_t ns) {
  const struct timespec time = {0, (long)ns};
  const uint32_t word = 0;
  syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, word, &time, NULL, 0);
}

static inline pid_t call_getpid(void) { return (pid_t)syscall(SYS_getpid); }

static inline int call_close(int file) { return (int)syscall(SYS_close, file); }

#endif

#endif
