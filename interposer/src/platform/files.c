/* Uses system calls where the C library's functions are too recent or are cancellation points. See files.h. */
#include "platform/files.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "platform/system_calls.h"

/* ---- Status -------------------------------------------------------------------------------------------- */

/* Makes the system call itself, because glibc exports stat() and its variants only since version 2.33. */
static bool status_of(int directory, const char *path, int flags, struct file_status *status) {
  struct stat told;
  if (syscall(SYS_newfstatat, directory, path, &told, flags) != 0) return false;
  *status = (struct file_status){.is_regular = S_ISREG(told.st_mode),
                                 .is_own = told.st_uid == geteuid(),
                                 .file_system = told.st_dev,
                                 .number = told.st_ino,
                                 .bytes = (uint64_t)told.st_size};
  return true;
}

bool file_status(int file, struct file_status *status) { return status_of(file, "", AT_EMPTY_PATH, status); }

bool file_status_at(const char *path, struct file_status *status) {
  return status_of(AT_FDCWD, path, AT_SYMLINK_NOFOLLOW, status);
}

bool file_is_at(const char *path, int file) {
  struct file_status there, here;
  return file_status_at(path, &there) && file_status(file, &here) && there.file_system == here.file_system &&
         there.number == here.number;
}

bool file_contains(const char *path, const void *bytes, size_t count) {
  struct file_status status;
  int file = call_open(path, O_RDONLY | O_NONBLOCK);
  if (file < 0) return false;
  bool found = false;
  if (file_status(file, &status) && status.is_regular && status.bytes > 0) {
    void *mapped = call_mmap(NULL, status.bytes, PROT_READ, MAP_PRIVATE, file, 0);
    if (mapped != MAP_FAILED) {
      found = memmem(mapped, status.bytes, bytes, count) != NULL;
      call_munmap(mapped, status.bytes);
    }
  }
  call_close(file);
  return found;
}

/* ---- Opening ------------------------------------------------------------------------------------------- */

int file_open_existing(const char *path) { return call_open(path, O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY); }

int64_t file_read(int file, void *to, size_t bytes) { return syscall(SYS_pread64, file, to, bytes, (off_t)0); }

int64_t file_write(int file, const void *from, size_t bytes) {
  return syscall(SYS_pwrite64, file, from, bytes, (off_t)0);
}

void file_close(int file) { call_close(file); }

int file_create(const char *path) { return open(path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600); }

bool file_make_private(int file) { return fchmod(file, 0600) == 0; }

bool file_lock(int file) {
  struct flock whole = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
  return fcntl(file, F_OFD_SETLK, &whole) == 0;
}

bool file_claim(int file) { return flock(file, LOCK_EX | LOCK_NB) == 0; }

/* ---- Contents ------------------------------------------------------------------------------------------ */

bool file_size_is_allowed(uint64_t bytes) {
  struct rlimit limit;
  return getrlimit(RLIMIT_FSIZE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY || limit.rlim_cur >= bytes;
}

int file_allocate(int file, uint64_t bytes) { return posix_fallocate(file, 0, (off_t)bytes); }

void *file_map(int file, size_t bytes) {
  void *mapping = call_mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  if (mapping == MAP_FAILED) return NULL;
  madvise(mapping, bytes, MADV_NOHUGEPAGE); /* Files on tmpfs may have huge pages, too. */
  if (madvise(mapping, bytes, MADV_DONTFORK) == 0) return mapping;
  int error = errno;
  call_munmap(mapping, bytes);
  errno = error;
  return NULL;
}

void file_unmap(void *mapping, size_t bytes) { call_munmap(mapping, bytes); }

/* Makes the kernel store the time at `to`: the system call fails where a store by the program would raise SIGBUS. */
bool file_takes_stores(void *to) { return syscall(SYS_clock_gettime, CLOCK_REALTIME, to) == 0; }

/* ---- Names --------------------------------------------------------------------------------------------- */

bool file_rename_without_replacing(const char *from, const char *to) {
  if (syscall(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, RENAME_NOREPLACE) == 0) return true;
  return errno == EINVAL && rename(from, to) == 0;
}
