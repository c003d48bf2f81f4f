/* Tests the functions that count the cached bytes of a file and of a mapping. */
#include "platform/page_cache.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "check.h"
#include "platform/clock.h"
#include "platform/kernel.h"
#include "platform/memory.h"

enum { BYTES = 65536 };

static uint64_t now_ns = 1;
static const char *type_of_mount = "ext4";
static int types_asked;

size_t memory_page_bytes(void) { return (size_t)sysconf(_SC_PAGESIZE); }

uint64_t monotonic_ns(void) { return now_ns; }

bool mount_of_file(int file, uint64_t *mount) {
  *mount = 7;
  return file < 1000;
}

void mount_type(uint64_t mount, char *type, size_t capacity) {
  CHECK(mount == 7);
  types_asked++;
  snprintf(type, capacity, "%s", type_of_mount);
}

/* Counts the cached bytes of a file on a file system of the given type. Advances the clock, so that page_cache.c
 * reads the type anew. */
static int64_t cached_on(const char *type, int file) {
  type_of_mount = type;
  now_ns += 2000000000;
  return page_cache_of_file(file);
}

static void check_files(int file) {
  static const char *const remote[] = {"nfs4", "cifs", "smb3", "9p", "fuse.sshfs", "ceph", "glusterfs", "afs"};
  for (size_t i = 0; i < sizeof remote / sizeof *remote; i++) CHECK(cached_on(remote[i], file) == -EREMOTE);
  CHECK(cached_on("overlay", file) == -EOPNOTSUPP);
  CHECK(cached_on("", file) == -EXDEV);
  int64_t cached = cached_on("ext4", file);
  CHECK(cached >= BYTES || cached == -ENOSYS || cached == -EPERM);
  types_asked = 0;
  for (int i = 0; i < 10; i++) (void)page_cache_of_file(file);
  CHECK(types_asked == 0);
  CHECK(page_cache_of_file(-1) == -EBADF && page_cache_of_file(1000) == -EBADF && page_cache_of_file(999) == -EBADF);
  int ends[2];
  CHECK(pipe(ends) == 0 && cached_on("ext4", ends[0]) == -EINVAL);
}

/* `file` belongs to the process's user. The kernel would report all pages of another user's file as cached. */
static void check_mappings(int file) {
  char *own = mmap(NULL, BYTES, PROT_READ, MAP_SHARED, file, 0);
  CHECK(own != MAP_FAILED);
  int64_t cached = page_cache_of_mapping((uintptr_t)own, BYTES);
  CHECK(cached == BYTES || cached == -EPERM || cached == -ENOSYS);
  CHECK(munmap(own, BYTES) == 0 && page_cache_of_mapping((uintptr_t)own, BYTES) == -ENOMEM);
}

int main(void) {
  char path[] = "/tmp/page-cache-XXXXXX", bytes[BYTES];
  memset(bytes, 1, sizeof bytes);
  int file = mkstemp(path);
  CHECK(file >= 0 && unlink(path) == 0 && write(file, bytes, sizeof bytes) == BYTES);
  check_files(file);
  check_mappings(file);
  page_cache_probe();
  return 0;
}
