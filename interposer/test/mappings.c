/*
 * Tests the library's map of ranges: the addresses that the program maps, and their call sites. The map must be right
 * after each call of mmap, munmap and mremap, also if the call fails or comes from a signal handler or a forked
 * child. The test also measures the time that the library adds to mmap and munmap.
 */
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"

#ifndef AT_MINSIGSTKSZ
#define AT_MINSIGSTKSZ 51
#endif

enum { PAGE = 4096, MOST = 1 << 17 };

static struct mallometer_range rows[MOST];

/* Reads the rows of all ranges. One call of mallometer_ranges() may return only some of them if another thread
 * changes the map. */
static int read_all_rows(void) {
  int count = 0;
  for (int more = 1; more != 0; count += more > 0 ? more : 0) {
    uint64_t from = count > 0 ? rows[count - 1].address + rows[count - 1].length : 0;
    more = mallometer_ranges(rows + count, MOST - (uint32_t)count, from);
    CHECK(more >= 0 || more == -EAGAIN);
  }
  for (int i = 0; i + 1 < count; i++) CHECK(rows[i].address + rows[i].length <= rows[i + 1].address);
  return count;
}

static int read_rows(void) {
  int all = read_all_rows(), count = 0;
  for (int i = 0; i < all; i++) {
    if (rows[i].owner != MALLOMETER_RANGE_OF_LIBRARY) rows[count++] = rows[i];
  }
  return count;
}

static const struct mallometer_range *row_at(const void *address) {
  int count = read_rows();
  for (int i = 0; i < count; i++) {
    if ((uintptr_t)address - rows[i].address < rows[i].length) return &rows[i];
  }
  return NULL;
}

static bool is_known(const void *address) { return row_at(address) != NULL; }

static uint32_t site_at(const void *address) {
  const struct mallometer_range *row = row_at(address);
  CHECK(row != NULL);
  return row->site;
}

static char *map_at(void *wish, size_t pages, int flags) {
  char *memory = mmap(wish, pages * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | flags, -1, 0);
  CHECK(memory != MAP_FAILED);
  return memory;
}

/* The functions below map memory. Each is a call site of its own. */
__attribute__((noinline)) static char *map_here(size_t pages) {
  char *memory = map_at(NULL, pages, 0);
  __asm__ volatile("");
  return memory;
}

__attribute__((noinline)) static char *map_there(void *wish, size_t pages, int flags) {
  char *memory = map_at(wish, pages, flags);
  __asm__ volatile("");
  return memory;
}

__attribute__((noinline)) static void reserve_there(char *at, size_t pages) {
  CHECK(mmap(at, pages * PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == at);
  __asm__ volatile("");
}

/* Returns whether the stack of a call site has a return address in the first 200 bytes of `function`. */
static bool is_called_from(uint32_t site, const void *function) {
  uint64_t frames[64];
  int count = mallometer_site_stack(site, frames, 64);
  CHECK(count > 0);
  for (int i = 0; i < count; i++) {
    if (frames[i] - (uintptr_t)function < 200) return true;
  }
  return false;
}

/* ---- Ranges and their call sites ----------------------------------------------------------------------- */

static void sites(void) {
  char *here = map_here(4), *there = map_there(NULL, 4, 0);
  CHECK(is_called_from(site_at(here), (const void *)(uintptr_t)map_here));
  CHECK(is_called_from(site_at(there + 3 * PAGE), (const void *)(uintptr_t)map_there));
  CHECK_EQUAL(row_at(here)->length, 4 * PAGE);
  CHECK_EQUAL(row_at(here)->owner, MALLOMETER_RANGE_OF_PROGRAM);
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  uint64_t ns = (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec, mapped = row_at(here)->mapped_ns;
  CHECK(mapped <= ns && ns - mapped < 10000000000u);
  CHECK_EQUAL(munmap(here, 4 * PAGE), 0);
  CHECK_EQUAL(munmap(there, 4 * PAGE), 0);
  CHECK(!is_known(here) && !is_known(there));
  CHECK_EQUAL(mallometer_ranges(NULL, 1, 0), -EINVAL);
  /* mallometer_sites() must not return call sites that only map memory. */
  static struct mallometer_site of_malloc[1 << 14];
  int count = mallometer_sites(of_malloc, 1 << 14, 0);
  for (int i = 0; i < count; i++) CHECK(of_malloc[i].frames == 0 || of_malloc[i].allocated.samples > 0);
}

static void partly(void) {
  char *memory = map_here(8);
  uint32_t site = site_at(memory);
  CHECK_EQUAL(munmap(memory + 3 * PAGE, 2 * PAGE), 0);
  CHECK(is_known(memory + 3 * PAGE - 1) && !is_known(memory + 3 * PAGE));
  CHECK(!is_known(memory + 5 * PAGE - 1));
  CHECK_EQUAL(site_at(memory + 5 * PAGE), site);
  CHECK_EQUAL(munmap(memory, PAGE), 0);
  CHECK_EQUAL(munmap(memory + 7 * PAGE, PAGE), 0);
  CHECK_EQUAL(row_at(memory + 2 * PAGE)->length, 2 * PAGE);
  CHECK_EQUAL(munmap(memory, 8 * PAGE), 0);
  CHECK(!is_known(memory + PAGE) && !is_known(memory + 6 * PAGE));
}

/* Maps memory over known ranges. A mapping inside of one range must keep the call site of the range. A mapping that
 * reaches beyond the range must get a call site of its own. */
static void over_others(void) {
  char *memory = map_here(8);
  uint32_t site = site_at(memory);
  map_there(memory + 2 * PAGE, 2, MAP_FIXED);
  CHECK_EQUAL(site_at(memory + 2 * PAGE), site);
  CHECK_EQUAL(munmap(memory + 6 * PAGE, 2 * PAGE), 0);
  map_there(memory + 5 * PAGE, 2, MAP_FIXED);
  CHECK(site_at(memory + 5 * PAGE) != site);
  CHECK_EQUAL(site_at(memory + 4 * PAGE), site);
  CHECK(!is_known(memory + 7 * PAGE));
  map_there(memory, 8, MAP_FIXED);
  CHECK_EQUAL(row_at(memory)->length, 8 * PAGE);
  CHECK(is_called_from(site_at(memory), (const void *)(uintptr_t)map_there));
  CHECK_EQUAL(munmap(memory, 8 * PAGE), 0);
}

/* Checks that a call fails with the error of the direct system call. The macro compares with this error instead of a
 * constant, because emulators may return other errors than Linux. */
#define CHECK_FAILS_AS(call, ...)          \
  do {                                     \
    CHECK((long)(call) == -1);             \
    int hooked = errno;                    \
    CHECK_EQUAL(syscall(__VA_ARGS__), -1); \
    CHECK_EQUAL(hooked, errno);            \
  } while (0)

static void failures(void) {
  static const size_t impossible[] = {0, (size_t)1 << 60, (size_t)1 << 46};
  char *memory = map_here(4);
  uint32_t site = site_at(memory);
  int count = read_rows();
  errno = 7;
  CHECK_FAILS_AS(munmap(memory, 0), SYS_munmap, memory, (size_t)0);
  CHECK(errno != 7);
  CHECK_FAILS_AS(munmap(memory + 1, PAGE), SYS_munmap, memory + 1, (size_t)PAGE);
  CHECK(mmap(NULL, 0, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) == MAP_FAILED);
  CHECK_EQUAL(errno, EINVAL);
  CHECK(mmap(NULL, PAGE, PROT_READ, MAP_PRIVATE, 12345, 0) == MAP_FAILED);
  CHECK_EQUAL(errno, EBADF);
  for (size_t i = 0; i < sizeof impossible / sizeof *impossible; i++) {
    CHECK_FAILS_AS(mremap(memory, 4 * PAGE, impossible[i], MREMAP_MAYMOVE), SYS_mremap, memory, (size_t)4 * PAGE,
                   impossible[i], (long)MREMAP_MAYMOVE);
  }
  CHECK_EQUAL(read_rows(), count);
  CHECK_EQUAL(site_at(memory + 3 * PAGE), site);
  errno = 7; /* the calls below must not change errno */
  char *other = map_here(1);
  CHECK_EQUAL(munmap(other, PAGE), 0);
  memory = mremap(memory, 4 * PAGE, 40 * PAGE, MREMAP_MAYMOVE);
  CHECK_EQUAL(errno, 7);
  CHECK_EQUAL(munmap(memory, 40 * PAGE), 0);
}

static void moves(void) {
  char *memory = map_here(8), *place = map_there(NULL, 64, 0);
  uint32_t site = site_at(memory);
  char *moved = mremap(memory, 8 * PAGE, 16 * PAGE, MREMAP_MAYMOVE | MREMAP_FIXED, place + 8 * PAGE);
  CHECK(moved == place + 8 * PAGE);
  CHECK(!is_known(memory) && !is_known(memory + 7 * PAGE));
  CHECK_EQUAL(site_at(moved), site);
  CHECK_EQUAL(row_at(moved)->length, 16 * PAGE);
  CHECK(is_called_from(site_at(place + 24 * PAGE), (const void *)(uintptr_t)map_there));
  CHECK(mremap(moved, 16 * PAGE, 4 * PAGE, 0) == moved);
  CHECK_EQUAL(row_at(moved)->length, 4 * PAGE);
  CHECK(!is_known(moved + 4 * PAGE));
  CHECK_EQUAL(munmap(place, 64 * PAGE), 0);
}

/* Maps guard pages at the end of the thread's stack, as HotSpot does. The library's map must not contain them. */
static void *map_guard(void *unused) {
  pthread_attr_t attributes;
  void *stack;
  size_t bytes, guard;
  CHECK_EQUAL(pthread_getattr_np(pthread_self(), &attributes), 0);
  CHECK_EQUAL(pthread_attr_getstack(&attributes, &stack, &bytes), 0);
  CHECK_EQUAL(pthread_attr_getguardsize(&attributes, &guard), 0);
  pthread_attr_destroy(&attributes);
  char *pages = (char *)stack + guard;
  CHECK(mmap(pages, 4 * PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == pages);
  CHECK(!is_known(pages) && !is_known(pages + 3 * PAGE));
  return unused;
}

static void own_stack(void) {
  pthread_t thread;
  CHECK_EQUAL(pthread_create(&thread, NULL, map_guard, NULL), 0);
  CHECK_EQUAL(pthread_join(thread, NULL), 0);
}

static void *volatile mapped_in_handler;

static void map_in_handler(int signal) {
  (void)signal;
  mapped_in_handler = mmap(NULL, PAGE, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
}

/* Maps memory in a signal handler whose stack is too small for a walk. The library must record the range without a
 * call site. */
static void signal_stack(void) {
  size_t frame = getauxval(AT_MINSIGSTKSZ), pages = ((frame ? frame : 2 * PAGE) + 2 * PAGE - 1) / PAGE;
  char *stack = map_here(pages + 1);
  CHECK_EQUAL(mprotect(stack, PAGE, PROT_NONE), 0);
  stack_t alternate = {.ss_sp = stack + PAGE, .ss_size = pages * PAGE};
  CHECK_EQUAL(sigaltstack(&alternate, NULL), 0);
  struct sigaction action = {.sa_handler = map_in_handler, .sa_flags = SA_ONSTACK};
  CHECK_EQUAL(sigaction(SIGUSR1, &action, NULL), 0);
  CHECK_EQUAL(raise(SIGUSR1), 0);
  CHECK(mapped_in_handler != MAP_FAILED);
  CHECK_EQUAL(site_at(mapped_in_handler), UINT32_MAX);
  CHECK_EQUAL(munmap(mapped_in_handler, PAGE), 0);
  CHECK(!is_known(mapped_in_handler));
}

/* The library does not count in this process. Each call must reach the next library that defines mmap
 * (next_mappings.c), and calls before the library's initialization must have succeeded. */
static void reach_the_next(void) {
  const int *seen = dlsym(RTLD_DEFAULT, "next_mappings_seen"), *early = dlsym(RTLD_DEFAULT, "next_mappings_early");
  CHECK(seen != NULL && early != NULL);
  CHECK(*early);
  int before = *seen;
  char *memory = map_here(1);
  CHECK_EQUAL(*seen, before + 1);
  CHECK_EQUAL(munmap(memory, PAGE), 0);
}

/* The library's tables must have ranges in the map, none of which contains memory of the program. */
static void of_the_library(void) {
  char *memory = map_here(1);
  uint64_t largest = 0;
  int count = read_all_rows();
  for (int i = 0; i < count; i++) {
    if (rows[i].owner != MALLOMETER_RANGE_OF_LIBRARY) continue;
    CHECK_EQUAL(rows[i].site, UINT32_MAX);
    CHECK((uintptr_t)memory - rows[i].address >= rows[i].length);
    if (rows[i].length > largest) largest = rows[i].length;
  }
  CHECK_EQUAL(largest, self().tables_bytes);
  CHECK_EQUAL(munmap(memory, PAGE), 0);
}

static void slices(void) {
  enum { COUNT = 1000 };
  static char *memory[COUNT];
  for (int i = 0; i < COUNT; i++) memory[i] = i % 2 ? map_here(1) : map_there(NULL, 1, 0);
  int all = read_all_rows(), programs = read_rows();
  CHECK(programs >= COUNT && programs < all);
  struct mallometer_range few[7];
  int seen = 0;
  uint64_t from = 0;
  for (int count; (count = mallometer_ranges(few, 7, from)) > 0; seen += count) {
    from = few[count - 1].address + few[count - 1].length;
  }
  CHECK_EQUAL(seen, all);
  CHECK_EQUAL(self().ranges, (uint64_t)programs);
  for (int i = 0; i < COUNT; i++) CHECK_EQUAL(munmap(memory[i], PAGE), 0);
  CHECK_EQUAL(read_rows(), programs - COUNT);
}

/* Maps more ranges than the library's map has room for. The map must forget small ranges, and keep a large one. */
static void full(void) {
  enum { COUNT = 70000 };
  char *large = map_here(1000), *place = map_there(NULL, COUNT, 0);
  for (size_t i = 0; i < COUNT; i++) {
    CHECK_EQUAL(munmap(place + i * PAGE, PAGE), 0);
    if (i % 2) {
      map_there(place + i * PAGE, 1, MAP_FIXED);
    } else {
      map_at(place + i * PAGE, 1, MAP_FIXED);
    }
  }
  struct mallometer_report now = self();
  CHECK(now.ranges <= 65536 && now.ranges > 30000);
  CHECK(now.ranges_forgotten > 0);
  CHECK_EQUAL(now.ranges_missed, 0);
  CHECK(is_known(large));
  read_rows();
  CHECK_EQUAL(munmap(place, (size_t)COUNT * PAGE), 0);
  CHECK(!is_known(place) && !is_known(place + (size_t)(COUNT - 1) * PAGE));
  CHECK_EQUAL(munmap(large, 1000 * PAGE), 0);
}

/* The library walks a limited number of stacks per second. After 6,000 mappings without pause, new small ranges have
 * no call site, but large ones have one. */
static void budget(void) {
  for (int i = 0; i < 6000; i++) CHECK_EQUAL(munmap(map_here(1), PAGE), 0);
  CHECK(self().ranges_without_site > 1000);
  char *small = map_here(1), *large = map_here(64);
  CHECK_EQUAL(site_at(small), UINT32_MAX);
  CHECK(is_called_from(site_at(large), (const void *)(uintptr_t)map_here));
  CHECK_EQUAL(munmap(small, PAGE), 0);
  CHECK_EQUAL(munmap(large, 64 * PAGE), 0);
}

static void off(void) {
  char *memory = map_here(4);
  CHECK(is_known(memory));
  CHECK_EQUAL(mallometer_disable(), 0);
  CHECK_EQUAL(munmap(memory, 4 * PAGE), 0);
  char *unseen = map_here(4);
  CHECK_EQUAL(mallometer_enable(), 0);
  CHECK_EQUAL(read_rows(), 0);
  CHECK_EQUAL(munmap(unseen, 4 * PAGE), 0);
  memory = map_here(4);
  CHECK(is_known(memory));
  CHECK_EQUAL(munmap(memory, 4 * PAGE), 0);
}

/* ---- Forks --------------------------------------------------------------------------------------------- */

static int exit_code(pid_t child) {
  int status = 0;
  CHECK_EQUAL(waitpid(child, &status, 0), child);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/* A child of vfork() maps memory in the address space of its parent. The library ignores the child's calls, so the
 * map must not contain this range. */
static void vforked(void) {
  static char *volatile memory;
  uint64_t before = self().ranges;
  pid_t child = vfork();
  if (child == 0) {
    memory = mmap(NULL, PAGE, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    _exit(memory == MAP_FAILED);
  }
  CHECK_EQUAL(exit_code(child), 0);
  CHECK_EQUAL(self().ranges, before);
  CHECK_EQUAL(munmap(memory, PAGE), 0);
}

static void *map_in_fork_handler;

static void before_fork(void) { map_in_fork_handler = map_here(1); }

static void forked(void) {
  char *memory = map_here(4);
  uint32_t site = site_at(memory);
  CHECK_EQUAL(pthread_atfork(before_fork, NULL, NULL), 0);
  pid_t child = fork();
  if (child == 0) {
    alarm(20);
    CHECK_EQUAL(site_at(memory), site);
    CHECK(is_known(map_in_fork_handler));
    char *own = map_there(NULL, 2, 0);
    CHECK(is_known(own));
    CHECK_EQUAL(munmap(memory, 4 * PAGE), 0);
    CHECK(!is_known(memory));
    CHECK_EQUAL(self().ranges_missed, 0);
    _exit(0);
  }
  CHECK_EQUAL(exit_code(child), 0);
  CHECK_EQUAL(site_at(memory), site);
  CHECK_EQUAL(munmap(memory, 4 * PAGE), 0);
  CHECK_EQUAL(munmap(map_in_fork_handler, PAGE), 0);
  CHECK_EQUAL(self().ranges_missed, 0);
}

/* ---- Random changes in several threads ------------------------------------------------------------------- */

enum { THREADS = 4, PAGES = 256, PAGES_OF_CHANGE = 12 };

/* A range of addresses that one thread changes, and the expected state of its pages. */
struct field {
  char *memory;
  bool mapped[PAGES];
  uint32_t sites[PAGES];
  uint64_t random;
  long calls;
};

static volatile bool stop;
static long calls_of_thread;

static uint32_t draw(struct field *field, uint32_t below) {
  field->random = field->random * 6364136223846793005u + 1442695040888963407u;
  return (uint32_t)(field->random >> 33) % below;
}

/* Returns whether the map has missed a change. The library gives a change up if another thread holds the map's lock
 * for a millisecond, for example because that thread gets no processor. */
static bool has_missed_changes(void) { return self().ranges_missed > 0; }

static uint32_t site_now(const void *address) {
  struct mallometer_range row;
  int count;
  do count = mallometer_ranges(&row, 1, (uintptr_t)address);
  while (count == -EAGAIN);
  CHECK(count == 1);
  CHECK((uintptr_t)address - row.address < row.length || has_missed_changes());
  return row.site;
}

/* Stores the call site of pages that `function` has just mapped. If all of the pages had one common call site
 * before, the pages must keep it. Otherwise the new call site must be in `function`, or unknown. */
static void note_sites(struct field *field, size_t first, size_t count, const void *function) {
  uint32_t before = field->sites[first], now = site_now(field->memory + first * PAGE);
  bool keeps = true;
  for (size_t i = first; i < first + count; i++) keeps &= field->mapped[i] && field->sites[i] == before;
  if (keeps) CHECK(now == before || has_missed_changes());
  if (!keeps) CHECK(now == UINT32_MAX || is_called_from(now, function) || has_missed_changes());
  for (size_t i = first; i < first + count; i++) field->sites[i] = now;
}

/* Makes a random change to the mappings of `field`. Case 4 maps memory at an address that the kernel chooses, and
 * unmaps it again, so that threads map and unmap the same addresses in turn. */
static void change(struct field *field) {
  size_t first = draw(field, PAGES), count = 1 + draw(field, PAGES_OF_CHANGE);
  if (first + count > PAGES) count = PAGES - first;
  char *at = field->memory + first * PAGE;
  bool maps = true, all = true;
  for (size_t i = first; i < first + count; i++) all &= field->mapped[i];
  switch (draw(field, 6)) {
    case 0:
    case 1:
      CHECK_EQUAL(munmap(at, count * PAGE), 0);
      maps = false;
      break;
    case 2:
      if (all && count > 2 && field->mapped[first]) {
        if (mremap(at, count * PAGE, PAGE, 0) == at) {
          first++;
          count--;
          maps = false;
          break;
        }
      }
      reserve_there(at, count);
      note_sites(field, first, count, (const void *)(uintptr_t)reserve_there);
      break;
    case 3:
      if (all) CHECK_EQUAL(madvise(at, count * PAGE, MADV_DONTNEED), 0);
      if (all) CHECK_EQUAL(mprotect(at, count * PAGE, draw(field, 2) ? PROT_READ : PROT_READ | PROT_WRITE), 0);
      maps = all;
      if (!all) return;
      break;
    case 4: {
      char *elsewhere = map_here(count);
      CHECK_EQUAL(munmap(elsewhere, count * PAGE), 0);
      return;
    }
    default:
      map_there(at, count, MAP_FIXED);
      note_sites(field, first, count, (const void *)(uintptr_t)map_there);
  }
  for (size_t i = first; i < first + count; i++) field->mapped[i] = maps;
}

static void *change_at_random(void *argument) {
  struct field *field = argument;
  for (field->calls = 0; field->calls < calls_of_thread; field->calls++) change(field);
  return NULL;
}

static void handler(int signal) {
  (void)signal;
  int saved_errno = errno;
  void *memory = mmap(NULL, PAGE, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory != MAP_FAILED) munmap(memory, PAGE);
  errno = saved_errno;
}

static void *send_signals(void *argument) {
  pthread_t *threads = argument;
  while (!stop) {
    for (int i = 0; i < THREADS; i++) pthread_kill(threads[i], SIGUSR1);
    usleep(200);
  }
  return NULL;
}

static uint64_t differing_pages(struct field fields[THREADS]) {
  static bool known[THREADS * PAGES];
  uint64_t differing = 0;
  int count = read_rows();
  memset(known, 0, sizeof known);
  for (int i = 0; i < count; i++) {
    for (uint64_t at = rows[i].address; at < rows[i].address + rows[i].length; at += PAGE) {
      for (int t = 0; t < THREADS; t++) {
        uint64_t page = (at - (uintptr_t)fields[t].memory) / PAGE;
        if (page >= PAGES) continue;
        known[t * PAGES + (int)page] = true;
        differing += fields[t].mapped[page] && rows[i].site != fields[t].sites[page];
      }
    }
  }
  for (int t = 0; t < THREADS; t++) {
    for (int page = 0; page < PAGES; page++) differing += known[t * PAGES + page] != fields[t].mapped[page];
  }
  return differing;
}

static void compare_with_kernel(struct field fields[THREADS]) {
  static char text[1 << 22];
  FILE *maps = fopen("/proc/self/maps", "r");
  CHECK(maps != NULL);
  text[fread(text, 1, sizeof text - 1, maps)] = 0;
  fclose(maps);
  static bool mapped[THREADS][PAGES];
  memset(mapped, 0, sizeof mapped);
  for (char *line = text; *line; line = strchr(line, '\n') + 1) {
    char *after;
    uintptr_t begin = strtoul(line, &after, 16), end = strtoul(after + 1, NULL, 16);
    for (int t = 0; t < THREADS; t++) {
      for (int page = 0; page < PAGES; page++) {
        uintptr_t at = (uintptr_t)fields[t].memory + (uintptr_t)page * PAGE;
        if (at >= begin && at < end) mapped[t][page] = true;
      }
    }
  }
  for (int t = 0; t < THREADS; t++) {
    for (int page = 0; page < PAGES; page++) CHECK_EQUAL(mapped[t][page], fields[t].mapped[page]);
  }
}

static void begin_field(struct field *field, int thread) {
  /* Addresses that the kernel chooses are far above the fields, so no other mapping takes a field's unmapped pages. */
  field->memory = map_there((char *)0x200000000000 + (size_t)thread * 2 * PAGES * PAGE, PAGES, 0);
  uint32_t site = site_now(field->memory);
  for (int page = 0; page < PAGES; page++) {
    field->mapped[page] = true;
    field->sites[page] = site;
  }
}

/* Changes all fields in one thread. No change can be missed here, so the map must be exact, even if it missed changes
 * before. */
static void change_alone(struct field fields[THREADS]) {
  uint64_t before = self().ranges_missed;
  for (int t = 0; t < THREADS; t++) {
    begin_field(&fields[t], t);
    for (int i = 0; i < 1000; i++) change(&fields[t]);
  }
  CHECK_EQUAL(self().ranges_missed, before);
  compare_with_kernel(fields);
  CHECK_EQUAL(differing_pages(fields), 0);
}

static void at_random(long calls) {
  static struct field fields[THREADS];
  pthread_t threads[THREADS], sender;
  struct sigaction action = {.sa_handler = handler, .sa_flags = SA_RESTART};
  CHECK_EQUAL(sigaction(SIGUSR1, &action, NULL), 0);
  calls_of_thread = calls / THREADS;
  int before = read_rows();
  for (int t = 0; t < THREADS; t++) {
    begin_field(&fields[t], t);
    fields[t].random = (uint64_t)t + 1;
  }
  for (int t = 0; t < THREADS; t++) CHECK_EQUAL(pthread_create(&threads[t], NULL, change_at_random, &fields[t]), 0);
  CHECK_EQUAL(pthread_create(&sender, NULL, send_signals, threads), 0);
  for (int i = 0; i < 20; i++) {
    pid_t child = fork();
    if (child == 0) {
      alarm(30);
      char *memory = map_here(3);
      CHECK(is_known(memory));
      CHECK_EQUAL(munmap(memory, 3 * PAGE), 0);
      CHECK(!is_known(memory));
      _exit(0);
    }
    CHECK_EQUAL(exit_code(child), 0);
  }
  for (int t = 0; t < THREADS; t++) pthread_join(threads[t], NULL);
  stop = true;
  pthread_join(sender, NULL);
  compare_with_kernel(fields);
  uint64_t missed = self().ranges_missed;
  CHECK(differing_pages(fields) <= missed * PAGES_OF_CHANGE);
  for (int t = 0; t < THREADS; t++) CHECK_EQUAL(munmap(fields[t].memory, PAGES * PAGE), 0);
  change_alone(fields);
  for (int t = 0; t < THREADS; t++) CHECK_EQUAL(munmap(fields[t].memory, PAGES * PAGE), 0);
  int more = read_rows() - before;
  CHECK(more >= 0 && (uint64_t)more <= 2 * missed);
}

/* ---- Cost ---------------------------------------------------------------------------------------------- */

static double processor_seconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static double microseconds_of_pair(void) {
  double best = 1e9;
  for (int attempt = 0; attempt < 40; attempt++) {
    double begin = processor_seconds();
    for (int i = 0; i < 50; i++) munmap(map_here(1), PAGE);
    double each = (processor_seconds() - begin) / 50 * 1e6;
    if (each < best) best = each;
  }
  return best;
}

/* Measures the time of mmap and munmap with a walk of the stack, without one, and while counting is off. Takes the
 * least of several times, because other processes can only add time. */
static void cost(void) {
  /* The library walks the stack at each of these 2,000 calls of mmap: it may walk up to 3,000 stacks for small
   * mappings. */
  double with_stack = microseconds_of_pair();
  while (self().ranges_without_site == 0) munmap(map_here(1), PAGE);
  double without_stack = microseconds_of_pair();
  CHECK_EQUAL(mallometer_disable(), 0);
  double forwarded = microseconds_of_pair();
  printf("mmap and munmap: %.2f us, %.2f us more with ranges, %.2f us more with a stack\n", forwarded,
         without_stack - forwarded, with_stack - forwarded);
  CHECK(without_stack - forwarded <= 2);
  CHECK(with_stack - forwarded <= 10);
}

int main(int count, char **arguments) {
  CHECK(count > 1);
  const char *name = arguments[1];
  if (strcmp(name, "reach_the_next") == 0) return reach_the_next(), 0;
  if (mallometer_available() && self().state == MALLOMETER_STATE_NOT_PRELOADED) return 77;
#define RUN(case) \
  if (strcmp(name, #case) == 0) return case(), 0
  RUN(sites);
  RUN(partly);
  RUN(over_others);
  RUN(failures);
  RUN(moves);
  RUN(own_stack);
  RUN(signal_stack);
  RUN(of_the_library);
  RUN(slices);
  RUN(full);
  RUN(budget);
  RUN(off);
  RUN(vforked);
  RUN(forked);
  RUN(cost);
  CHECK(strcmp(name, "random") == 0 && count > 2);
  at_random(atol(arguments[2]));
  return 0;
}
