/* Counts the cached pages of some pieces of a file, and extrapolates to the whole file. See page_cache.h. */
#include "platform/page_cache.h"

#include <errno.h>
#include <linux/stat.h>
#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>

#include "platform/clock.h"
#include "platform/kernel.h"
#include "platform/memory.h"
#include "platform/system_calls.h"

enum { PIECES = 128 };
#define PIECE ((uint64_t)2 << 20)
#define SMALLEST_PAGES ((size_t)(PIECE / 4096))

/* Headers of older kernels lack this interface (include/uapi/linux/mman.h of Linux 6.5). */
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

/* Counts the cached bytes in at most PIECES pieces, at equal distances, and extrapolates to `bytes`. */
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

/* ---- Files --------------------------------------------------------------------------------------------- */

/* Returns whether accesses to a file system of this type may wait for another machine or process. Compares only the
 * beginning of the type's name. */
static bool is_remote(const char *type) {
  static const char *const remote[] = {"nfs",  "cifs",    "smb",    "9p",      "fuse", "virtiofs", "ceph",
                                       "afs",  "gluster", "lustre", "beegfs",  "gpfs", "orangefs", "coda",
                                       "gfs2", "ocfs2",   "vboxsf", "autofs"};
  for (size_t i = 0; i < sizeof remote / sizeof *remote; i++) {
    if (strncmp(type, remote[i], strlen(remote[i])) == 0) return true;
  }
  return false;
}

/* Returns why files on a mount are not counted, as a negative errno value; 0 if they are counted. */
static int64_t refusal_by_type(uint64_t mount) {
  char type[32];
  mount_type(mount, type, sizeof type);
  if (!*type) return -EXDEV;
  if (is_remote(type)) return -EREMOTE;
  return strcmp(type, "overlay") == 0 ? -EOPNOTSUPP : 0;
}

/* Returns the result of refusal_by_type(). Caches the result for a second only, because a new mount may get the
 * number of a removed mount. */
static int64_t refusal_of(uint64_t mount) {
  enum { MOUNTS = 32 };
  static const uint64_t longest_ns = 1000000000;
  static struct {
    uint64_t number, until_ns;
    int64_t refusal;
  } known[MOUNTS], *at;
  uint64_t now = monotonic_ns();
  at = &known[mount % MOUNTS];
  if (at->number != mount || now >= at->until_ns) {
    at->refusal = refusal_by_type(mount);
    at->number = mount;
    at->until_ns = now + longest_ns;
  }
  return at->refusal;
}

static int status_of(int file, struct statx *status) {
  const unsigned long flags = AT_EMPTY_PATH | AT_STATX_DONT_SYNC, wanted = STATX_TYPE | STATX_SIZE;
  return syscall(SYS_statx, file, "", flags, wanted, status) != 0 ? -errno : 0;
}

void page_cache_probe(void) {
  struct statx status;
  (void)cached_in_file(-1, 0, 0);
  (void)status_of(-1, &status);
}

int64_t page_cache_of_file(int file) {
  struct statx status;
  const unsigned kind = 0170000, regular = 0100000;
  uint64_t mount;
  if (file < 0 || !mount_of_file(file, &mount)) return -EBADF;
  int64_t refusal = refusal_of(mount);
  if (refusal == 0) refusal = status_of(file, &status);
  if (refusal != 0) return refusal;
  if ((status.stx_mode & kind) != regular) return -EINVAL;
  return cached((struct subject){file, 0}, status.stx_size);
}

/* ---- Mappings ------------------------------------------------------------------------------------------ */

/* Returns whether the kernel treats the process as the owner of each file (CAP_FOWNER of the kernel's capability.h). */
static bool owns_all_files(void) {
  enum { VERSION = 0x20080522, FOWNER = 3 };
  struct {
    uint32_t version;
    int process;
  } header = {VERSION, 0};
  struct {
    uint32_t effective, permitted, inheritable;
  } sets[2] = {{0, 0, 0}, {0, 0, 0}};
  return syscall(SYS_capget, &header, sets) == 0 && (sets[0].effective >> FOWNER & 1) != 0;
}

int64_t page_cache_of_mapping(uintptr_t begin, size_t bytes) {
  int64_t found = cached((struct subject){-1, begin}, bytes);
  return found >= (int64_t)bytes && !owns_all_files() ? -EPERM : found;
}
