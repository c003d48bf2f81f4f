/* Counts pieces, and extrapolates. See page_cache.h. */
#include "platform/page_cache.h"

#include <errno.h>
#include <linux/stat.h>
#include <sys/mman.h>

#include "platform/memory.h"
#include "platform/system_calls.h"

enum { PIECES = 128 };
#define PIECE ((uint64_t)2 << 20)
#define SMALLEST_PAGES ((size_t)(PIECE / 4096))

/* The kernel's interface, which the headers of older kernels lack: include/uapi/linux/mman.h of Linux 6.5. */
#define CALL_CACHESTAT 451
struct cachestat_range {
  uint64_t offset, bytes;
};
struct cachestat_result {
  uint64_t cached, dirty, writeback, evicted, recently_evicted;
};

/* A file, or a mapping if `file` is negative. */
struct subject {
  int file;
  uintptr_t begin;
};

static int64_t cached_in_file(int file, uint64_t offset, uint64_t bytes) {
  struct cachestat_range range = {offset, bytes};
  struct cachestat_result result = {0};
  const unsigned long no_flags = 0;
  if (syscall(CALL_CACHESTAT, file, &range, &result, no_flags) != 0) return -errno;
  return (int64_t)(result.cached * memory_page_bytes());
}

static int64_t cached_in_mapping(uintptr_t begin, uint64_t bytes) {
  unsigned char states[SMALLEST_PAGES];
  size_t page = memory_page_bytes(), pages = (size_t)(bytes + page - 1) / page;
  int64_t cached = 0;
  if (mincore((void *)begin, pages * page, states) != 0) return -errno;
  for (size_t i = 0; i < pages; i++) cached += (states[i] & 1) * (int64_t)page;
  return cached;
}

static int64_t cached_in(struct subject subject, uint64_t offset, uint64_t bytes) {
  return subject.file >= 0 ? cached_in_file(subject.file, offset, bytes)
                           : cached_in_mapping(subject.begin + (uintptr_t)offset, bytes);
}

/* Counts all pieces, or as many as are looked at, at equal distances. */
static int64_t cached(struct subject subject, uint64_t bytes) {
  uint64_t pieces = (bytes + PIECE - 1) / PIECE, looked_at = pieces < PIECES ? pieces : PIECES, seen = 0, found = 0;
  for (uint64_t i = 0; i < looked_at; i++) {
    uint64_t offset = i * pieces / looked_at * PIECE;
    uint64_t length = bytes - offset < PIECE ? bytes - offset : PIECE;
    int64_t here = cached_in(subject, offset, length);
    if (here < 0) return here;
    seen += length;
    found += (uint64_t)here;
  }
  return seen == 0 ? 0 : (int64_t)((double)found * (double)bytes / (double)seen);
}

void page_cache_probe(void) { (void)cached_in_file(-1, 0, 0); }

int64_t page_cache_of_file(int file) {
  struct statx status;
  const unsigned long flags = AT_EMPTY_PATH | AT_STATX_DONT_SYNC, wanted = STATX_TYPE | STATX_SIZE;
  const unsigned kind = 0170000, regular = 0100000;
  if (file < 0) return -EBADF;
  if (syscall(SYS_statx, file, "", flags, wanted, &status) != 0) return -errno;
  if ((status.stx_mode & kind) != regular) return -EINVAL;
  return cached((struct subject){file, 0}, status.stx_size);
}

int64_t page_cache_of_mapping(uintptr_t begin, size_t bytes) {
  int64_t found = cached((struct subject){-1, begin}, bytes);
  return found >= (int64_t)bytes && geteuid() != 0 ? -EPERM : found;
}
