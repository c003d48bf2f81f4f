/* Makes the kernel read an address by a system call that changes nothing. See readable_memory.h. */
#include "platform/readable_memory.h"

#include <errno.h>
#include <signal.h>

#include "platform/clock.h"
#include "platform/memory.h"
#include "platform/protected_words.h"
#include "platform/system_calls.h"
#include "platform/wait.h"

#define BYTES_OF_MASK 8u

/*
 * Asks the kernel for an invalid change of the signal mask, with the page as the new mask. The kernel answers EFAULT if
 * it cannot read the page, otherwise EINVAL. System calls that are meant for reading memory are not used: some
 * sandboxes end a program that makes one, but no sandbox forbids rt_sigprocmask.
 */
bool page_is_readable(uintptr_t page) {
  const int unknown_change = -1;
  return syscall(SYS_rt_sigprocmask, unknown_change, (const void *)page, NULL, BYTES_OF_MASK) != 0 && errno == EINVAL;
}

bool is_readable(uintptr_t begin, size_t bytes) {
  if (bytes == 0 || bytes > UINTPTR_MAX - begin) return false;
  uintptr_t page = page_of(begin), last = page_of(begin + bytes - 1);
  while (page < last && page_is_readable(page)) page += SMALLEST_PAGE;
  return page == last && page_is_readable(page);
}

/* ---- Memory that may have been unmapped ---------------------------------------------------------------- */

static int memory = -1, pages = -1; /* Descriptors of /proc/self/mem and /proc/self/pagemap. */
static int users;

static void close_both(void) {
  if (memory >= 0) call_close(memory);
  if (pages >= 0) call_close(pages);
  memory = pages = -1;
}

static void close_in_child(void) {
  close_both();
  users = 0; /* The parent's threads do not exist in the child. */
}

bool without_forks(void (*act)(void)) {
  const uint64_t pause_ns = 200000, longest_ns = 1000000000, begin = monotonic_ns();
  sigset_t all, signals;
  bool blocked;
  sigfillset(&all);
  sigprocmask(SIG_SETMASK, &all, &signals);
  while (!(blocked = block_forks()) && monotonic_ns() - begin < longest_ns) wait_until(monotonic_ns() + pause_ns);
  if (blocked) {
    act();
    unblock_forks();
  }
  sigprocmask(SIG_SETMASK, &signals, NULL);
  return blocked;
}

/* Adds a user of the files, and opens the files if they are closed. Called by without_forks(), which runs one
 * function at a time. */
static void add_user(void) {
  __atomic_add_fetch(&users, 1, __ATOMIC_RELAXED);
  if (memory < 0) memory = call_open("/proc/self/mem", O_RDONLY);
  if (pages < 0) pages = call_open("/proc/self/pagemap", O_RDONLY);
}

static void remove_user(void) {
  if (__atomic_sub_fetch(&users, 1, __ATOMIC_RELAXED) == 0) close_both();
}

static bool is_open(void) { return __atomic_load_n(&memory, __ATOMIC_RELAXED) >= 0; }

bool own_memory_open(void) {
  protected_words_prepare();
  close_in_children(close_in_child);
  if (!without_forks(add_user)) return false;
  if (is_open()) return true;
  own_memory_leave();
  return false;
}

bool own_memory_close(void) { return without_forks(remove_user); }

void own_memory_leave(void) {
  if (!own_memory_close()) __atomic_sub_fetch(&users, 1, __ATOMIC_RELAXED);
}

bool own_memory_read(uintptr_t from, void *to, size_t bytes) {
  return syscall(SYS_pread64, memory, to, bytes, (off_t)from) == (ssize_t)bytes;
}

enum page_state page_state_of(uint64_t word) {
  const uint64_t in_memory = (uint64_t)1 << 63, swapped = (uint64_t)1 << 62, guard = (uint64_t)1 << 58;
  if (word & in_memory) return PAGE_IN_MEMORY;
  return (word & (swapped | guard)) == swapped ? PAGE_SWAPPED : PAGE_UNTOUCHED;
}

enum page_state own_page_state(uintptr_t address) {
  uint64_t word;
  off_t place = (off_t)(address / memory_page_bytes() * sizeof word);
  bool is_told = syscall(SYS_pread64, pages, &word, sizeof word, place) == (ssize_t)sizeof word;
  return is_told ? page_state_of(word) : PAGE_UNKNOWN;
}
