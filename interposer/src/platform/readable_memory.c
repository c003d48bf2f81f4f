/* Asks the kernel to read an address, by a call that does nothing else. See readable_memory.h. */
#include "platform/readable_memory.h"

#include <errno.h>
#include <sys/syscall.h>
#include <unistd.h>

#define BYTES_OF_MASK 8u /* the kernel's own */

/*
 * A change of the signal mask that the kernel refuses after it has read the mask: EINVAL if it could read, else EFAULT.
 * The calls that are made to read other memory would do as well, but sandboxes end programs for them, and none can do
 * without this one.
 */
bool page_is_readable(uintptr_t page) {
  const int unknown_change = -1;
  return syscall(SYS_rt_sigprocmask, unknown_change, (const void *)page, NULL, BYTES_OF_MASK) != 0 && errno == EINVAL;
}

size_t readable_pages(uintptr_t page, size_t pages) {
  size_t known = 0;
  while (known < pages && page_is_readable(page + known * SMALLEST_PAGE)) known++;
  return known;
}

bool is_readable(uintptr_t begin, size_t bytes) {
  if (bytes == 0 || bytes > UINTPTR_MAX - begin) return false;
  uintptr_t first = page_of(begin);
  size_t pages = (page_of(begin + bytes - 1) - first) / SMALLEST_PAGE + 1;
  return readable_pages(first, pages) == pages;
}
