/* Maps memory without huge pages; reserved memory is also kept out of mlockall(2). See memory.h. */
#include "platform/memory.h"

#include <errno.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include "platform/arch.h"
#include "platform/kernel.h"
#include "platform/system_calls.h"

#define LEFT_FOR_PROGRAM 64u

size_t memory_page_bytes(void) { return (size_t)getpagesize(); }

size_t memory_whole_pages(size_t bytes) {
  size_t page = memory_page_bytes();
  return (bytes + page - 1) / page * page;
}

/* ---- Ranges of the library's own memory ---------------------------------------------------------------- */

static struct own_range {
  uintptr_t begin; /* 0: no range; 1: a range is being written */
  uintptr_t end;
} own_ranges[MOST_OWN_RANGES];

bool memory_own_range(unsigned number, uintptr_t *begin, uintptr_t *end) {
  const struct own_range *range = &own_ranges[number];
  do {
    *begin = __atomic_load_n(&range->begin, __ATOMIC_ACQUIRE);
    *end = __atomic_load_n(&range->end, __ATOMIC_ACQUIRE);
  } while (__atomic_load_n(&range->begin, __ATOMIC_RELAXED) != *begin);
  return *begin > 1;
}

static void note(unsigned first, unsigned behind, uintptr_t begin, size_t bytes) {
  for (unsigned i = first; i < behind; i++) {
    uintptr_t none = 0;
    if (!__atomic_compare_exchange_n(&own_ranges[i].begin, &none, 1, false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
      continue;
    __atomic_store_n(&own_ranges[i].end, begin + bytes,
                     __ATOMIC_RELEASE); /* A reader of the new `end` sees that `begin` has changed, and reads again. */
    __atomic_store_n(&own_ranges[i].begin, begin, __ATOMIC_RELEASE);
    return;
  }
}

void memory_own_add(uintptr_t begin, size_t bytes) { note(0, MOST_PRIVATE_RANGES, begin, bytes); }

void memory_own_remove(uintptr_t begin) {
  for (unsigned i = 0; i < MOST_OWN_RANGES; i++) {
    uintptr_t expected = begin;
    if (__atomic_compare_exchange_n(&own_ranges[i].begin, &expected, 0, false, __ATOMIC_RELEASE, __ATOMIC_RELAXED))
      return;
  }
}

/* ---- Mappings ------------------------------------------------------------------------------------------ */

/* Returns whether pages are locked. Tries to drop the pages, which fails for locked pages. Dropping loses the pages'
 * contents, so the pages must be empty. */
static bool is_locked(void *pages, size_t bytes) {
  return madvise(pages, bytes, MADV_DONTNEED) != 0 && errno == EINVAL;
}

void *memory_reserve(size_t bytes) {
  size_t page = memory_page_bytes(), inner = memory_whole_pages(bytes), all = inner + 2 * page;
  char *outer = call_mmap(NULL, all, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (outer == MAP_FAILED) return NULL;
  madvise(outer, all, MADV_NOHUGEPAGE);
  if (is_locked(outer, all)) munlock(outer, all);
  if (mprotect(outer + page, inner, PROT_READ | PROT_WRITE) != 0) {
    call_munmap(outer, all);
    return NULL;
  }
  memory_own_add((uintptr_t)outer + page, inner);
  return outer + page;
}

void memory_give_back(void *memory, size_t bytes) {
  memory_own_remove((uintptr_t)memory);
  call_munmap((char *)memory - memory_page_bytes(), memory_whole_pages(bytes) + 2 * memory_page_bytes());
}

void *memory_map(void *wish, size_t bytes) {
  void *memory = call_mmap(wish, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return NULL;
  /* Prevents the kernel from putting this memory and memory of the program into one huge page. */
  madvise(memory, bytes, MADV_NOHUGEPAGE);
  if (!wish) note(MOST_PRIVATE_RANGES, MOST_OWN_RANGES, (uintptr_t)memory, memory_whole_pages(bytes));
  return memory;
}

void memory_unmap(void *memory, size_t bytes) {
  memory_own_remove((uintptr_t)memory);
  call_munmap(memory, bytes);
}

uintptr_t memory_break(void) { return (uintptr_t)sbrk(0); }

bool memory_is_unmapped(const void *page) {
  unsigned char resident;
  return mincore((void *)(uintptr_t)page, 1, &resident) != 0 && errno == ENOMEM;
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

static bool leaves_room(size_t limit, uint64_t taken, size_t bytes) {
  return taken < limit && bytes <= (limit - taken) / LEFT_FOR_PROGRAM;
}

const char *memory_shortage(size_t bytes) {
  size_t limit;
  if (is_limited(RLIMIT_AS, &limit) && !leaves_room(limit, process_memory().addresses, bytes)) {
    return "the limit of the address space (RLIMIT_AS) leaves less than 64 times the size of the tables";
  }
  if (is_limited(RLIMIT_DATA, &limit) && !leaves_room(limit, process_memory().data, bytes)) {
    return "the limit of writable memory (RLIMIT_DATA) leaves less than 64 times the size of the tables";
  }
  return NULL;
}

/* ---- Locked memory ------------------------------------------------------------------------------------- */

/* Returns whether new mappings are locked. Also returns true if the limit of locked memory leaves no room for a new
 * mapping. */
static bool locks_new_mappings(void) {
  void *page = call_mmap(NULL, memory_page_bytes(), PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (page == MAP_FAILED) return errno == EAGAIN;
  bool locked = is_locked(page, memory_page_bytes());
  call_munmap(page, memory_page_bytes());
  return locked;
}

/* Returns whether the process has locked earlier mappings. Tests `old`, an empty page that only mlockall() can have
 * locked. */
static bool has_locked_old_pages(void) {
  static _Alignas(LARGEST_PAGE_BYTES) char old[LARGEST_PAGE_BYTES];
  return memory_page_bytes() <= sizeof old && is_locked(old, memory_page_bytes());
}

bool memory_is_locked(void) { return locks_new_mappings() || has_locked_old_pages(); }
