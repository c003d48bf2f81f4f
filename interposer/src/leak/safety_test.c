/* Runs the library as a program that tests slots (pages of a single object, slots.h) and other features. See
 * safety_test.h. */
#include "leak/safety_test.h"

#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "allocator/glibc.h"
#include "allocator/next.h"
#include "leak/slots.h"
#include "leak/watch.h"
#include "platform/arch.h"
#include "platform/child.h"
#include "platform/memory.h"
#include "platform/page_cache.h"
#include "platform/readable_memory.h"

#define LONGEST_TRIAL_MS 5000

/* The command-line arguments that name the tests; the test of slots has none. */
#define TRIAL_OF_WATCH "watch"
#define TRIAL_OF_MINCORE "mincore"
#define TRIAL_OF_PAGE_CACHE "page-cache"
static const char *const trials_of_copying[] = {[COPY_BY_READV] = "readv", [COPY_BY_PIPE] = "pipe"};

/* The environment variables that determine which glibc is loaded and how it allocates. Test processes get the values
 * that the variables had at the start of this process. */
#define REMEMBERED 2
static const char *const names_to_remember[REMEMBERED] = {"GLIBC_TUNABLES=", "LD_LIBRARY_PATH="};
static char *remembered[REMEMBERED + 1];

/* The exit codes of tests. The test of watchpoints exits with FIRST_OF_WATCH plus an enum watch_trial, the others
 * with PASSED or EXIT_FAILURE. */
enum { FIRST_OF_WATCH = 16, PASSED = 42 };

/* ---- The program --------------------------------------------------------------------------------------- */

static char *object_of(size_t offset, size_t pages) {
  char *begin = memory_map((void *)0x10000000, pages * memory_page_bytes());
  if (!begin) return NULL;
  glibc_write_mapped_chunk((uintptr_t)begin, offset, pages * memory_page_bytes());
  memset(begin + offset, 7, 100);
  return begin + offset;
}

static bool frees(size_t offset, size_t pages) {
  char *object = object_of(offset, pages), *begin = object - offset;
  if (!object || glibc_mapped_bytes(object, offset) != pages * memory_page_bytes()) return false;
  size_t room = pages * memory_page_bytes() - offset, usable = next.usable_size(object);
  if (usable != room && usable != room - sizeof(size_t)) return false;
  next.free(object);
  return !page_is_readable((uintptr_t)begin);
}

static bool reallocates(size_t offset, size_t pages, size_t size) {
  char *object = object_of(offset, pages);
  char *moved = object ? next.realloc(object, size) : NULL;
  if (!moved || next.usable_size(moved) < size) return false;
  for (size_t i = 0; i < 100; i++) {
    if (moved[i] != 7) return false;
  }
  memset(moved, 8, size);
  next.free(moved);
  return true;
}

static bool allocates_as_before(void) {
  static void *objects[1000];
  for (size_t i = 0; i < 1000; i++) {
    objects[i] = next.malloc(i * 100);
    if (!objects[i]) return false;
    memset(objects[i], 1, i * 100);
  }
  for (size_t i = 0; i < 1000; i++) next.free(objects[i]);
  return true;
}

static bool slots_can_be_freed(void) {
  if (!next_allocator_find(NULL) || !glibc_chunks_are_readable()) return false;
  for (size_t offset = 16; offset <= SLOT_ALIGNMENT; offset *= 2) {
    if (!frees(offset, 1) || !frees(offset, 16) || !frees(offset, 100)) return false;
    if (!reallocates(offset, 1, 9000) || !reallocates(offset, 1, 200) || !reallocates(offset, 16, 200)) return false;
  }
  return allocates_as_before();
}

static bool memory_can_be_copied(enum memory_copying by) {
  static char from[] = "some text", to[sizeof from];
  return memory_copy(by, (uintptr_t)from, to, sizeof from) == sizeof from && memcmp(from, to, sizeof from) == 0 &&
         memory_copy(by, 0, to, sizeof from) == 0;
}

static bool mincore_tells(void) {
  uint8_t state = PAGE_UNKNOWN;
  uintptr_t page = (uintptr_t)&state & ~(uintptr_t)(memory_page_bytes() - 1);
  return page_states(TELL_BY_MINCORE, page, 1, &state) && state == PAGE_IN_MEMORY;
}

/* Makes the system calls of page_cache.h. The test fails only if a sandbox ends the process. */
static bool page_cache_can_be_asked_for(void) {
  static char page[2 * 65536];
  const uintptr_t begin = ((uintptr_t)page + 65535) & ~(uintptr_t)65535;
  *(volatile char *)begin = 1;
  page_cache_probe();
  return page_cache_of_mapping(begin, memory_page_bytes()) >= -EPERM;
}

static bool passes(const char *test) {
  if (strcmp(test, TRIAL_OF_MINCORE) == 0) return mincore_tells();
  if (strcmp(test, TRIAL_OF_PAGE_CACHE) == 0) return page_cache_can_be_asked_for();
  for (int by = COPY_BY_READV; by <= COPY_BY_PIPE; by++) {
    if (strcmp(test, trials_of_copying[by]) == 0) return memory_can_be_copied((enum memory_copying)by);
  }
  return slots_can_be_freed();
}

/*
 * Runs the test that the first argument names. `stack` points to the number of arguments, followed by the arguments.
 */
__attribute__((used, noreturn)) static void safety_test_main(char *const *stack) {
  const char *test = stack[0] && stack[2] ? stack[2] : "";
  child_disable_core_dump();
  if (strcmp(test, TRIAL_OF_WATCH) == 0) _exit(FIRST_OF_WATCH + (int)watch_self_test());
  _exit(passes(test) ? PASSED : EXIT_FAILURE);
}

/* The entry point of this library as a program (the linker's -e). */
DEFINE_PROGRAM_ENTRY(safety_test_entry, safety_test_main);

/* ---- Starting the program ------------------------------------------------------------------------------- */

void safety_test_store_environment(char *const environment[]) {
  size_t found = 0;
  for (size_t i = 0; i < REMEMBERED; i++) {
    for (char *const *entry = environment; entry && *entry; entry++) {
      if (strncmp(*entry, names_to_remember[i], strlen(names_to_remember[i])) != 0) continue;
      remembered[found++] = *entry;
      break;
    }
  }
}

static int run(const char *which) {
  sigset_t all, before;
  sigfillset(&all);
  sigprocmask(SIG_SETMASK, &all, &before);
  int code = child_run(which, remembered, LONGEST_TRIAL_MS);
  sigprocmask(SIG_SETMASK, &before, NULL);
  return code;
}

const char *safety_test_watchpoints(void) {
  int code = run(TRIAL_OF_WATCH);
  if (code == FIRST_OF_WATCH + WATCH_WORKS) return NULL;
  if (code == CHILD_KILLED) return watch_trial_means(WATCH_KERNEL_IS_OLD);
  bool is_result = code > FIRST_OF_WATCH && code <= FIRST_OF_WATCH + WATCH_REPEATS;
  return is_result ? watch_trial_means((enum watch_trial)(code - FIRST_OF_WATCH))
                   : "watchpoints cannot be tested: no test process can be started";
}

static const char *safety_test_reading(const char *which, const char *refused) {
  switch (run(which)) {
    case PASSED:
      return NULL;
    case CHILD_NOT_STARTED:
    case CHILD_NOT_EXECUTED:
    case 127: /* the exit code if the loader cannot load the library */
      return "reading of memory cannot be tested: no test process can be started";
    default:
      return refused;
  }
}

const char *safety_test_copying(enum memory_copying by) {
  return safety_test_reading(trials_of_copying[by],
                             "the process may not read its own memory: process_vm_readv and pipes are refused");
}

const char *safety_test_mincore(void) {
  return safety_test_reading(TRIAL_OF_MINCORE,
                             "the kernel does not report which pages are in memory: pagemap and mincore are refused");
}

const char *safety_test_page_cache(void) {
  return safety_test_reading(TRIAL_OF_PAGE_CACHE, "the kernel refuses to tell which pages of files are in memory");
}

const char *safety_test_slots(void) {
  static char why[160];
  int code = run(NULL);
  switch (code) {
    case PASSED:
      return NULL;
    case CHILD_NOT_STARTED:
    case CHILD_NOT_EXECUTED:
    case 127: /* the exit code if the loader cannot load the library */
      return "glibc cannot be tested: no test process can be started";
    case CHILD_TOO_LONG:
      return "the test whether glibc frees observed objects took too long";
    default:
      snprintf(why, sizeof why, "glibc failed the test of freeing observed objects (status %d)", code);
      return why;
  }
}
