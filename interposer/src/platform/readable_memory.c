/* See readable_memory.h. */
#include "platform/readable_memory.h"

#include <sys/uio.h>
#include <unistd.h>

#define PAGES_AT_ONCE 64u

/* The kernel copies a byte of each page and stops where it cannot. */
size_t readable_pages(uintptr_t page, size_t pages) {
  struct iovec bytes[PAGES_AT_ONCE];
  char copies[PAGES_AT_ONCE];
  size_t known = 0;
  while (known < pages) {
    size_t count = pages - known < PAGES_AT_ONCE ? pages - known : PAGES_AT_ONCE;
    for (size_t i = 0; i < count; i++) bytes[i] = (struct iovec){(void *)(page + (known + i) * SMALLEST_PAGE), 1};
    struct iovec local = {copies, count};
    ssize_t copied = process_vm_readv(getpid(), &local, 1, bytes, count, 0);
    if (copied > 0) known += (size_t)copied;
    if (copied < (ssize_t)count) break;
  }
  return known;
}

bool is_readable(uintptr_t begin, size_t bytes) {
  if (bytes == 0 || bytes > UINTPTR_MAX - begin) return false;
  uintptr_t first = page_of(begin);
  size_t pages = (page_of(begin + bytes - 1) - first) / SMALLEST_PAGE + 1;
  return readable_pages(first, pages) == pages;
}
