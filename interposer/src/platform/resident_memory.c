/* Uses pagemap, mincore, process_vm_readv and pipes. See resident_memory.h. */
#include "platform/resident_memory.h"

#include <sys/mman.h>
#include <sys/uio.h>

#include "platform/memory.h"
#include "platform/protected_words.h"
#include "platform/system_calls.h"

#ifndef PAGEMAP /* Tests set another name, so that the file is not found. */
#define PAGEMAP "/proc/self/pagemap"
#endif
#define PAGES_AT_ONCE ((size_t)4096)

/* ---- Descriptors --------------------------------------------------------------------------------------- */

static int files[] = {-1, -1}; /* The descriptor of pagemap, or those of the ends of a pipe. */

static void close_open(void) {
  for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
    if (files[i] >= 0) call_close(files[i]);
    files[i] = -1;
  }
}

static void close_files(void) {
  if (!without_forks(close_open)) close_open();
}

/* ---- States of pages ----------------------------------------------------------------------------------- */

static bool read_pagemap(uintptr_t begin, size_t pages, uint8_t states[]) {
  static uint64_t words[PAGES_AT_ONCE];
  for (size_t done = 0; done < pages;) {
    size_t wanted = pages - done < PAGES_AT_ONCE ? pages - done : PAGES_AT_ONCE;
    off_t place = (off_t)((begin / memory_page_bytes() + done) * sizeof *words);
    ssize_t told = syscall(SYS_pread64, files[0], words, wanted * sizeof *words, place);
    if (told < (ssize_t)sizeof *words) return false;
    for (size_t i = 0; i < (size_t)told / sizeof *words; i++) states[done + i] = (uint8_t)page_state_of(words[i]);
    done += (size_t)told / sizeof *words;
  }
  return true;
}

/* mincore() fails for all pages if one of them is unmapped. Each page then gets a call of its own. */
static bool ask_mincore(uintptr_t begin, size_t pages, uint8_t states[]) {
  size_t page = memory_page_bytes();
  bool at_once = mincore((void *)begin, pages * page, states) == 0;
  for (size_t i = 0; i < pages; i++) {
    if (!at_once && mincore((void *)(begin + i * page), page, &states[i]) != 0) states[i] = 0;
    states[i] = states[i] & 1 ? PAGE_IN_MEMORY : PAGE_UNTOUCHED;
  }
  return true;
}

static void open_pagemap(void) { files[0] = call_open(PAGEMAP, O_RDONLY); }

bool page_states(enum memory_telling by, uintptr_t begin, size_t pages, uint8_t states[]) {
  if (by == TELL_BY_MINCORE) return ask_mincore(begin, pages, states);
  bool told = without_forks(open_pagemap) && read_pagemap(begin, pages, states);
  close_files();
  return told;
}

bool pagemap_is_readable(void) {
  uint8_t state = PAGE_UNKNOWN;
  protected_words_prepare();
  close_in_children(close_open);
  uintptr_t page = (uintptr_t)&state & ~(uintptr_t)(memory_page_bytes() - 1);
  return page_states(TELL_BY_PAGEMAP, page, 1, &state) && state == PAGE_IN_MEMORY;
}

/* ---- Copies -------------------------------------------------------------------------------------------- */

static size_t copy_by_readv(uintptr_t from, void *to, size_t bytes) {
  const struct iovec there = {(void *)from, bytes}, here = {to, bytes};
  const unsigned long one = 1, no_flags = 0; /* The constants are longs, because syscall() passes whole words. */
  ssize_t copied = syscall(SYS_process_vm_readv, getpid(), &here, one, &there, one, no_flags);
  return copied > 0 ? (size_t)copied : 0;
}

/* A write may store only a part of the bytes in the pipe. The inner loop reads this part before the next write. */
static size_t copy_through_pipe(uintptr_t from, char *to, size_t bytes) {
  size_t copied = 0;
  while (copied < bytes) {
    ssize_t written = syscall(SYS_write, files[1], from + copied, bytes - copied);
    for (ssize_t left = written; left > 0;) {
      ssize_t came = call_read(files[0], to + copied, (size_t)left);
      if (came <= 0) return copied;
      left -= came;
      copied += (size_t)came;
    }
    if (written <= 0) break;
  }
  return copied;
}

static void open_pipe(void) { syscall(SYS_pipe2, files, O_CLOEXEC | O_NONBLOCK); }

static size_t copy_by_pipe(uintptr_t from, void *to, size_t bytes) {
  size_t copied = without_forks(open_pipe) && files[0] >= 0 ? copy_through_pipe(from, to, bytes) : 0;
  close_files();
  return copied;
}

size_t memory_copy(enum memory_copying by, uintptr_t from, void *to, size_t bytes) {
  return by == COPY_BY_READV ? copy_by_readv(from, to, bytes) : copy_by_pipe(from, to, bytes);
}
