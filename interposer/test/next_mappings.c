/* A library that is loaded behind mallometer and counts the calls of mmap that reach it. */
#include <dlfcn.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

int next_mappings_seen;

void *mmap(void *wish, size_t bytes, int protection, int flags, int file, off_t offset) {
  next_mappings_seen++;
  return (void *)syscall(SYS_mmap, wish, bytes, (long)protection, (long)flags, (long)file, offset);
}
