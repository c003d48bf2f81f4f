/* Reserves, opens and clears pages by mmap(2), mprotect(2) and madvise(2). See page_range.h. */
#include "platform/page_range.h"

#include <errno.h>
#include <sys/mman.h>
#include <unistd.h>

#include "platform/memory.h"
#include "platform/system_calls.h"

#ifndef MAP_FIXED_NOREPLACE
#define MAP_FIXED_NOREPLACE 0x100000 /* Kernels before 4.17 take the address only as a hint. */
#endif

/* The bounds of the reserved range: far above executables at fixed addresses, and below 4 GiB. Other mappings get
 * such low addresses only if they need a 32-bit address. */
#define LOWEST ((uintptr_t)0x10000000)
#define HIGHEST ((uintptr_t)0x100000000)
#define STEP ((uintptr_t)0x1000000)

#define ANONYMOUS (MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE)

static bool reserve_at(uintptr_t address, size_t bytes) {
  void *wanted = (void *)address, *got = call_mmap(wanted, bytes, PROT_NONE, ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
  if (got != wanted && got != MAP_FAILED) call_munmap(got, bytes);
  return got == wanted;
}

uintptr_t page_range_reserve(size_t bytes, const char **why) {
  uintptr_t begin = LOWEST;
  errno = 0;
  while (begin + bytes <= HIGHEST && !reserve_at(begin, bytes)) begin += STEP;
  if (begin + bytes > HIGHEST) {
    *why = errno != EAGAIN ? "no low addresses are free"
                           : "locked memory is limited (RLIMIT_MEMLOCK), and the process locks what it maps (mlockall)";
    return 0;
  }
  if ((uintptr_t)sbrk(0) < begin + bytes) {
    call_munmap((void *)begin, bytes);
    *why = "the program's heap (brk) lies below the slots, and would grow into them";
    return 0;
  }
  madvise((void *)begin, bytes, MADV_NOHUGEPAGE);
  munlock((void *)begin, bytes); /* mlockall(MCL_FUTURE) would otherwise make each page resident when it is opened */
  return begin;
}

bool pages_open(uintptr_t begin, size_t bytes) { return mprotect((void *)begin, bytes, PROT_READ | PROT_WRITE) == 0; }

bool pages_clear(uintptr_t begin, size_t bytes) { return madvise((void *)begin, bytes, MADV_DONTNEED) == 0; }

void pages_unlock(uintptr_t begin, size_t bytes) { munlock((void *)begin, bytes); }

bool pages_mark(uintptr_t begin, size_t bytes, enum pages_mark mark) {
  static const int advice[] = {[PAGES_EVEN] = MADV_NORMAL, [PAGES_ODD] = MADV_RANDOM, [PAGES_MERGED] = MADV_SEQUENTIAL};
  return madvise((void *)begin, bytes, advice[mark]) == 0;
}

/* Maps new pages, because the kernel does not merge mappings whose pages were accessed. */
bool pages_renew(uintptr_t begin, size_t bytes) {
  if (call_mmap((void *)begin, bytes, PROT_READ | PROT_WRITE, ANONYMOUS | MAP_FIXED, -1, 0) == MAP_FAILED) {
    call_mmap((void *)begin, bytes, PROT_NONE, ANONYMOUS | MAP_FIXED, -1, 0); /* This needs no memory. */
    return false;
  }
  madvise((void *)begin, bytes, MADV_NOHUGEPAGE);
  pages_mark(begin, bytes, PAGES_MERGED);
  return true;
}

void pages_separate(uintptr_t begin, size_t bytes) {
  for (uintptr_t page = begin; page < begin + bytes; page += 2 * memory_page_bytes()) {
    mprotect((void *)page, memory_page_bytes(), PROT_READ);
  }
}
