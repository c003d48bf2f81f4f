/* By pagemap, mincore, process_vm_readv and pipes. See resident_memory.h. */
#include "platform/resident_memory.h"

#include <sys/mman.h>
#include <sys/uio.h>

#include "platform/memory.h"
#include "platform/system_calls.h"

#ifndef PAGEMAP /* tests build a library that has none */
#define PAGEMAP "/proc/self/pagemap"
#endif
#define PAGES_AT_ONCE ((size_t)4096)

/* ---- Which pages are in memory ------------------------------------------------------------------------- */

/* A word for each page: Documentation/admin-guide/mm/pagemap.rst of Linux. */
static enum page_state state_of(uint64_t word) {
  const uint64_t in_memory = (uint64_t)1 << 63, swapped = (uint64_t)1 << 62;
  if (word & in_memory) return PAGE_IN_MEMORY;
  return word & swapped ? PAGE_SWAPPED : PAGE_UNTOUCHED;
}

static bool read_pagemap(int file, uintptr_t begin, size_t pages, uint8_t states[]) {
  static uint64_t words[PAGES_AT_ONCE];
  for (size_t done = 0; done < pages;) {
    size_t wanted = pages - done < PAGES_AT_ONCE ? pages - done : PAGES_AT_ONCE;
    off_t place = (off_t)((begin / memory_page_bytes() + done) * sizeof *words);
    ssize_t told = syscall(SYS_pread64, file, words, wanted * sizeof *words, place);
    if (told < (ssize_t)sizeof *words) return false;
    for (size_t i = 0; i < (size_t)told / sizeof *words; i++) states[done + i] = (uint8_t)state_of(words[i]);
    done += (size_t)told / sizeof *words;
  }
  return true;
}

/* It fails for all pages where one is unmapped. */
static bool ask_mincore(uintptr_t begin, size_t pages, uint8_t states[]) {
  size_t page = memory_page_bytes();
  bool at_once = mincore((void *)begin, pages * page, states) == 0;
  for (size_t i = 0; i < pages; i++) {
    if (!at_once && mincore((void *)(begin + i * page), page, &states[i]) != 0) states[i] = 0;
    states[i] = states[i] & 1 ? PAGE_IN_MEMORY : PAGE_UNTOUCHED;
  }
  return true;
}

bool page_states(uintptr_t begin, size_t pages, uint8_t states[]) {
  int file = call_open(PAGEMAP, O_RDONLY);
  if (file < 0) return ask_mincore(begin, pages, states);
  bool told = read_pagemap(file, begin, pages, states);
  call_close(file);
  return told || ask_mincore(begin, pages, states);
}

bool page_states_tell_swapped(void) {
  int file = call_open(PAGEMAP, O_RDONLY);
  if (file >= 0) call_close(file);
  return file >= 0;
}

/* ---- Copies -------------------------------------------------------------------------------------------- */

static size_t copy_by_readv(uintptr_t from, void *to, size_t bytes) {
  const struct iovec there = {(void *)from, bytes}, here = {to, bytes};
  const unsigned long one = 1, no_flags = 0; /* syscall() passes on whole words */
  ssize_t copied = syscall(SYS_process_vm_readv, getpid(), &here, one, &there, one, no_flags);
  return copied > 0 ? (size_t)copied : 0;
}

/* As much as the pipe takes each time, and what comes out of it is not more. */
static size_t copy_through(const int ends[2], uintptr_t from, char *to, size_t bytes) {
  size_t copied = 0;
  while (copied < bytes) {
    ssize_t written = syscall(SYS_write, ends[1], from + copied, bytes - copied);
    for (ssize_t left = written; left > 0;) {
      ssize_t came = call_read(ends[0], to + copied, (size_t)left);
      if (came <= 0) return copied;
      left -= came;
      copied += (size_t)came;
    }
    if (written <= 0) break;
  }
  return copied;
}

static size_t copy_by_pipe(uintptr_t from, void *to, size_t bytes) {
  int ends[2];
  if (syscall(SYS_pipe2, ends, O_CLOEXEC | O_NONBLOCK) != 0) return 0;
  size_t copied = copy_through(ends, from, to, bytes);
  call_close(ends[0]);
  call_close(ends[1]);
  return copied;
}

size_t memory_copy(enum memory_copying by, uintptr_t from, void *to, size_t bytes) {
  return by == COPY_BY_READV ? copy_by_readv(from, to, bytes) : copy_by_pipe(from, to, bytes);
}
