/* See memory.h. */
#include "platform/memory.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>

#include "platform/kernel.h"
#include "platform/page_range.h"

#define LEFT_FOR_PROGRAM 64u

size_t memory_whole_pages(size_t bytes) { return (bytes + page_bytes() - 1) / page_bytes() * page_bytes(); }

/* Locked pages cannot be dropped. What is dropped here holds nothing. */
static bool is_locked(void *pages, size_t bytes) {
  return madvise(pages, bytes, MADV_DONTNEED) != 0 && errno == EINVAL;
}

void *memory_reserve(size_t bytes) {
  size_t page = page_bytes(), inner = memory_whole_pages(bytes), all = inner + 2 * page;
  char *outer = mmap(NULL, all, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (outer == MAP_FAILED) return NULL;
  madvise(outer, all, MADV_NOHUGEPAGE);
  if (is_locked(outer, all)) munlock(outer, all);
  if (mprotect(outer + page, inner, PROT_READ | PROT_WRITE) == 0) return outer + page;
  munmap(outer, all);
  return NULL;
}

void memory_give_back(void *memory, size_t bytes) {
  munmap((char *)memory - page_bytes(), memory_whole_pages(bytes) + 2 * page_bytes());
}

/* ---- Limits -------------------------------------------------------------------------------------------- */

static bool is_limited(int resource, size_t *bytes) {
  struct rlimit limit;
  if (getrlimit(resource, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return false;
  *bytes = (size_t)limit.rlim_cur;
  return true;
}

const char *memory_limit(void) {
  size_t bytes;
  if (is_limited(RLIMIT_AS, &bytes)) return "the address space is limited (RLIMIT_AS)";
  if (is_limited(RLIMIT_DATA, &bytes)) return "writable memory is limited (RLIMIT_DATA)";
  return NULL;
}

/* A number of statm, see proc(5), in bytes. SIZE_MAX if the kernel does not tell. */
static size_t used(unsigned field) {
  char text[128];
  kernel_text("/proc/self/statm", text, sizeof text);
  char *at = text;
  for (unsigned i = 0; *at; i++) {
    char *end;
    size_t pages = strtoul(at, &end, 10);
    if (end == at) break;
    if (i == field) return pages * page_bytes();
    at = end;
  }
  return SIZE_MAX;
}

static bool leaves_room(size_t limit, size_t taken, size_t bytes) {
  return taken < limit && bytes <= (limit - taken) / LEFT_FOR_PROGRAM;
}

const char *memory_shortage(size_t bytes) {
  enum { SIZE = 0, DATA = 5 };
  size_t limit;
  if (is_limited(RLIMIT_AS, &limit) && !leaves_room(limit, used(SIZE), bytes)) {
    return "the limit of addresses (RLIMIT_AS) leaves less than 64 times what the tables need";
  }
  if (is_limited(RLIMIT_DATA, &limit) && !leaves_room(limit, used(DATA), bytes)) {
    return "the limit of writable memory (RLIMIT_DATA) leaves less than 64 times what the tables need";
  }
  return NULL;
}

/* ---- Locks --------------------------------------------------------------------------------------------- */

/* A mapping that is made now is locked if all that are made from now on are; one that the limit of locked memory has no
 * room for is refused. */
static bool locks_what_comes(void) {
  void *page = mmap(NULL, page_bytes(), PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (page == MAP_FAILED) return errno == EAGAIN;
  bool locked = is_locked(page, page_bytes());
  munmap(page, page_bytes());
  return locked;
}

/* A page that is as old as the library, with nothing in it, and that nobody but mlockall() locks. */
static bool has_locked_what_there_was(void) {
  static _Alignas(4096) char old[4096];
  return page_bytes() == sizeof old && is_locked(old, sizeof old);
}

bool memory_is_locked(void) { return locks_what_comes() || has_locked_what_there_was(); }
