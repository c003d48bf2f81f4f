/* Files on Darwin. See files.h. */
#include <errno.h>
#include <fcntl.h>
#include <mach/mach.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "platform/files.h"

static struct file_status status_of(const struct stat *found) {
  return (struct file_status){S_ISREG(found->st_mode), found->st_uid == geteuid(), (uint64_t)found->st_dev,
                              found->st_ino, (uint64_t)found->st_size};
}

bool file_status(int file, struct file_status *status) {
  struct stat found;
  if (fstat(file, &found) != 0) return false;
  *status = status_of(&found);
  return true;
}

bool file_status_at(const char *path, struct file_status *status) {
  struct stat found;
  if (lstat(path, &found) != 0) return false;
  *status = status_of(&found);
  return true;
}

bool file_is_at(const char *path, int file) {
  struct file_status open_file, named;
  return file_status(file, &open_file) && file_status_at(path, &named) && named.file_system == open_file.file_system &&
         named.number == open_file.number;
}

int file_open_existing(const char *path) { return open(path, O_RDWR | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK | O_NOCTTY); }

int64_t file_read(int file, void *to, size_t bytes) { return pread(file, to, bytes, 0); }

int64_t file_write(int file, const void *from, size_t bytes) { return pwrite(file, from, bytes, 0); }

void file_close(int file) { close(file); }

int file_create(const char *path) { return open(path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600); }

bool file_make_private(int file) { return fchmod(file, 0600) == 0; }

/* A lock of flock(2) belongs to the open file description, as files.h requires. */
bool file_lock(int file) { return flock(file, LOCK_EX | LOCK_NB) == 0; }

bool file_claim(int file) { return file_lock(file); }

bool file_size_is_allowed(uint64_t bytes) {
  struct rlimit limit;
  return getrlimit(RLIMIT_FSIZE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY || limit.rlim_cur >= bytes;
}

int file_allocate(int file, uint64_t bytes) {
  fstore_t store = {.fst_flags = F_ALLOCATEALL, .fst_posmode = F_PEOFPOSMODE, .fst_length = (off_t)bytes};
  return fcntl(file, F_PREALLOCATE, &store) == 0 && ftruncate(file, (off_t)bytes) == 0 ? 0 : errno;
}

void *file_map(int file, size_t bytes) {
  void *mapping = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  if (mapping == MAP_FAILED) return NULL;
  if (minherit(mapping, bytes, VM_INHERIT_NONE) == 0) return mapping;
  int error = errno;
  munmap(mapping, bytes);
  errno = error;
  return NULL;
}

void file_unmap(void *mapping, size_t bytes) { munmap(mapping, bytes); }

/* Makes the kernel store the signal mask (4 bytes) at `to`. The system call fails where a store by the program would
 * fault. */
bool file_takes_stores(void *to) { return sigprocmask(SIG_BLOCK, NULL, to) == 0; }

bool file_rename_without_replacing(const char *from, const char *to) {
  if (renamex_np(from, to, RENAME_EXCL) == 0) return true;
  return errno == ENOTSUP && rename(from, to) == 0;
}

bool file_contains(const char *path, const void *bytes, size_t count) {
  struct file_status status;
  bool found = false;
  int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (file < 0) return false;
  if (file_status(file, &status) && status.is_regular && status.bytes > 0) {
    void *mapped = mmap(NULL, status.bytes, PROT_READ, MAP_PRIVATE, file, 0);
    if (mapped != MAP_FAILED) {
      found = memmem(mapped, status.bytes, bytes, count) != NULL;
      munmap(mapped, status.bytes);
    }
  }
  close(file);
  return found;
}
