/* A library that follows mallometer in LD_PRELOAD, but starts before it. Its mmap counts the calls that reach it. */
#include <dlfcn.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

int next_mappings_seen, next_mappings_early;

void *mmap(void *wish, size_t bytes, int protection, int flags, int file, off_t offset) {
  next_mappings_seen++;
  return (void *)syscall(SYS_mmap, wish, bytes, (long)protection, (long)flags, (long)file, offset);
}

__attribute__((constructor)) static void map_early(void) {
  void *(*first)(void *, size_t, int, int, int, off_t);
  int (*unmap)(void *, size_t);
  const void *addresses[] = {dlsym(RTLD_DEFAULT, "mmap"), dlsym(RTLD_DEFAULT, "munmap")};
  memcpy(&first, &addresses[0], sizeof first);
  memcpy(&unmap, &addresses[1], sizeof unmap);
  void *memory = first(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return;
  memset(memory, 1, 4096);
  next_mappings_early = unmap(memory, 4096) == 0;
}
