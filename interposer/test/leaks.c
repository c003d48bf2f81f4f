/*
 * Tests the observation: the library places sampled objects on memory pages of their own ("slots"), and reads after
 * each period ("epoch") which slots were accessed. Objects in slots must behave and count like other objects. The first
 * argument names the case.
 */
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <malloc.h>
#include <math.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "loaded_library.h"

#define NOINLINE __attribute__((noinline, noclone))
#define MILLISECOND UINT64_C(1000000)
#define MOST_OBJECTS 70000u

static struct mallometer_object objects[MOST_OBJECTS];
static size_t page_size;

/* The longest wait for an expected event, in nanoseconds. PATIENCE_SECONDS in the environment replaces it on emulated
 * machines. */
static uint64_t patience = 20000 * MILLISECOND;

static uint64_t now_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static void pause_ms(long ms) { nanosleep(&(struct timespec){ms / 1000, ms % 1000 * 1000000}, NULL); }

static struct mallometer_observation observed(void) {
  struct mallometer_observation o = {0};
  CHECK_EQUAL(mallometer_leaks(&o), 0);
  return o;
}

static void start(void) {
  CHECK_EQUAL(mallometer_leaks_start(), 0);
  while (observed().state == MALLOMETER_LEAKS_STARTING) pause_ms(1);
  struct mallometer_observation o = observed();
  if (o.state != MALLOMETER_LEAKS_ON) fprintf(stderr, "not on: %s\n", o.reason);
  CHECK_EQUAL(o.state, MALLOMETER_LEAKS_ON);
}

/* Sets the time between readings of accesses to `ms` milliseconds, or to ten times the CPU time of a reading if that
 * is longer. */
static void epochs_of(uint64_t ms) {
  CHECK_EQUAL(mallometer_configure(MALLOMETER_OPTION_SHORTEST_EPOCH, ms), 0);
  CHECK_EQUAL(mallometer_configure(MALLOMETER_OPTION_EPOCH_OVER_COST, 10), 0);
}

static void wait_for_whole_epoch(void) {
  uint64_t valid = observed().epochs - observed().void_epochs;
  for (uint64_t begin = now_ns(); observed().epochs - observed().void_epochs < valid + 2;) {
    CHECK(now_ns() - begin < patience);
    pause_ms(2);
  }
}

static bool has_reason(const char *reason) {
  struct mallometer_observation o = observed();
  return reason ? strstr(o.reason, reason) != NULL : o.reason[0] == '\0';
}

/* Waits until the library gives this reason for not observing. NULL: waits until it gives none. */
static void wait_for_reason(const char *reason) {
  for (uint64_t begin = now_ns(); !has_reason(reason); pause_ms(2)) CHECK(now_ns() - begin < patience);
}

static void wait_for_epochs(unsigned count) {
  uint64_t end = observed().epochs + count;
  for (uint64_t begin = now_ns(); observed().epochs < end; pause_ms(2)) CHECK(now_ns() - begin < patience);
}

static uint64_t resident_bytes(void) {
  unsigned long all, resident = 0;
  FILE *file = fopen("/proc/self/statm", "r");
  CHECK(file && fscanf(file, "%lu %lu", &all, &resident) == 2);
  fclose(file);
  return (uint64_t)resident * page_size;
}

static bool is_slot(const void *object) { return (uintptr_t)object >= 0x10000000 && (uintptr_t)object < 0x100000000; }

static NOINLINE void *one_of_many(size_t size) {
  void *object = malloc(size);
  USE(object);
  return object;
}

/* Empties the kernel's batch of new pages on each processor. The kernel does not clear the accessed bits of pages in
 * such a batch. */
static void empty_batches(void) {
  cpu_set_t mine;
  void *page = mmap(NULL, page_size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  CHECK(page != MAP_FAILED);
  CHECK_EQUAL(sched_getaffinity(0, sizeof mine, &mine), 0);
  for (int i = 0; i < CPU_SETSIZE; i++) {
    if (!CPU_ISSET(i, &mine)) continue;
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(i, &one);
    CHECK_EQUAL(sched_setaffinity(0, sizeof one, &one), 0);
    munlock(page, page_size);
    madvise(page, page_size, MADV_COLD);
  }
  CHECK_EQUAL(sched_setaffinity(0, sizeof mine, &mine), 0);
  munmap(page, page_size);
}

/* Allocates until `count` objects are on pages of their own (slots). Frees all other objects. */
static void in_slots(void *slots[], unsigned count, size_t size, void *(*allocate)(size_t)) {
  unsigned found = 0;
  for (uint64_t begin = now_ns(); found < count; pause_ms(2)) {
    CHECK(now_ns() - begin < patience);
    for (unsigned tried = 0; found < count && tried < 500; tried++) {
      void *object = allocate(size);
      CHECK(object);
      if (is_slot(object)) {
        slots[found++] = object;
      } else {
        free(object);
      }
    }
  }
  for (unsigned i = 0; i < count; i++) ((volatile char *)slots[i])[0] = 0;
  empty_batches();
}

/* Sets `in_all` to the number of objects in slots (pages of their own). Counts only objects of `bytes` bytes, or all
 * if `bytes` is 0. Returns how many of them were last accessed before `moment`. */
static unsigned idle_since(uint64_t moment, uint64_t bytes, unsigned *in_all) {
  int count = mallometer_objects(objects, MOST_OBJECTS);
  unsigned idle = 0;
  *in_all = 0;
  for (int i = 0; i < count; i++) {
    if (objects[i].placement == 0) {
      CHECK_EQUAL(objects[i].last_access_ns, 0);
      continue;
    }
    CHECK(objects[i].placement > 0 && objects[i].placement <= 1);
    CHECK(objects[i].last_access_ns != 0);
    if (bytes && objects[i].bytes != bytes) continue;
    ++*in_all;
    idle += objects[i].last_access_ns < moment;
  }
  return idle;
}

/* ---- Accesses that are seen ---------------------------------------------------------------------------- */

static void *read_elsewhere(void *object) { return (void *)(uintptr_t)((volatile char *)object)[5]; }

static void by_read(char *object) { (void)((volatile char *)object)[7]; }
static void by_write(char *object) { ((volatile char *)object)[7] = 3; }
static void by_thread(char *object) {
  pthread_t thread;
  CHECK_EQUAL(pthread_create(&thread, NULL, read_elsewhere, object), 0);
  pthread_join(thread, NULL);
}
static void by_system_read(char *object) {
  int zeros = open("/dev/zero", O_RDONLY);
  CHECK_EQUAL(read(zeros, object, 16), 16);
  close(zeros);
}
static void by_system_write(char *object) {
  int pipes[2];
  CHECK_EQUAL(pipe(pipes), 0);
  CHECK_EQUAL(write(pipes[1], object, 16), 16);
  close(pipes[0]);
  close(pipes[1]);
}

static const struct mallometer_site_evidence *evidence_with_gaps(void) {
  static struct mallometer_site_evidence all[4096];
  int count = mallometer_evidence(all, 4096, 0);
  for (int i = 0; i < count; i++) {
    if (all[i].gaps.count > 0) return &all[i];
  }
  return NULL;
}

static void uses_are_seen(void) {
  static void (*const uses[])(char *) = {by_read, by_write, by_thread, by_system_read, by_system_write};
  enum { EACH = 4, COUNT = 5 * EACH + EACH };
  void *slots[COUNT];
  epochs_of(100);
  start();
  in_slots(slots, COUNT, 1000, one_of_many);
  wait_for_whole_epoch();
  wait_for_whole_epoch();
  uint64_t before_uses = observed().epoch_end_ns;
  for (unsigned i = 0; i < 5 * EACH; i++) uses[i / EACH](slots[i]);
  wait_for_whole_epoch();
  unsigned in_all;
  unsigned idle = idle_since(before_uses + 1, 1000, &in_all);
  printf("%u of %u idle\n", idle, in_all);
  CHECK_EQUAL(in_all - idle, 5 * EACH);
  CHECK(idle >= EACH);
  const struct mallometer_site_evidence *evidence = evidence_with_gaps();
  CHECK(evidence && evidence->gaps.count >= 5 * EACH);
  for (unsigned i = 0; i < COUNT; i++) free(slots[i]);
  CHECK(evidence_with_gaps()->freed >= COUNT);
  CHECK(evidence_with_gaps()->lifetimes.count >= COUNT);
  CHECK(evidence_with_gaps()->idle_before_free.count >= COUNT);
}

/* ---- Objects in slots behave like other objects -------------------------------------------------------- */

static NOINLINE void *by_calloc(size_t size) {
  unsigned char *object = calloc(1, size);
  for (size_t i = 0; i < size; i++) CHECK_EQUAL(object[i], 0);
  memset(object, 0xff, malloc_usable_size(object));
  return object;
}

static NOINLINE void *by_realloc(size_t size) {
  unsigned char *object = malloc(size / 2 + 1);
  for (size_t i = 0; i < size / 2 + 1; i++) object[i] = (unsigned char)(i * 7);
  object = realloc(object, size);
  for (size_t i = 0; i < size / 2 + 1; i++) CHECK_EQUAL(object[i], (unsigned char)(i * 7));
  memset(object, 0xff, malloc_usable_size(object));
  return object;
}

static size_t alignment;

static NOINLINE void *by_memalign(size_t size) {
  char *object = memalign(alignment, size);
  CHECK_EQUAL((uintptr_t)object % alignment, 0);
  memset(object, 0xff, malloc_usable_size(object));
  return object;
}

static NOINLINE void *by_malloc(size_t size) {
  char *object = malloc(size);
  CHECK_EQUAL((uintptr_t)object % 16, 0);
  CHECK(malloc_usable_size(object) >= size);
  memset(object, 0xff, malloc_usable_size(object));
  return object;
}

/* The library moves sampled objects to slots, pages of their own. An object in a slot must have room for its bytes,
 * keep its contents in a realloc, and be counted with the same bytes when it is allocated and freed. */
static void behaves(void *(*allocate)(size_t), size_t size) {
  enum { COUNT = 6 };
  void *slots[COUNT];
  struct mallometer_counters begin = snapshot();
  in_slots(slots, COUNT, size, allocate);
  struct mallometer_counters there = difference(begin, snapshot());
  CHECK(mallometer_live_bytes(&there) >= (int64_t)(COUNT * size));
  CHECK(mallometer_live_bytes(&there) <= (int64_t)(COUNT * (size + 32 + size / 8 + 4096)));
  for (unsigned i = 0; i < COUNT; i++) {
    memset(slots[i], (int)i, size);
    if (i % 2 == 0) {
      unsigned char *moved = realloc(slots[i], size * 2);
      for (size_t at = 0; at < size; at++) CHECK_EQUAL(moved[at], i);
      free(moved);
    } else if (i % 4 == 1) {
      unsigned char *moved = realloc(slots[i], size / 2 + 1);
      for (size_t at = 0; at < size / 2 + 1; at++) CHECK_EQUAL(moved[at], i);
      free(moved);
    } else {
      free(slots[i]);
    }
  }
  struct mallometer_counters d = difference(begin, snapshot());
  CHECK_EQUAL(mallometer_live_bytes(&d), 0);
  CHECK_EQUAL(mallometer_allocations(&d), d.frees);
}

static void objects_behave_as_others(void) {
  static const size_t sizes[] = {1, 100, 3000, 4030, 4096, 60000, 300000};
  epochs_of(10);
  start();
  for (unsigned i = 0; i < sizeof sizes / sizeof *sizes; i++) {
    behaves(by_malloc, sizes[i]);
    behaves(by_calloc, sizes[i]);
    behaves(by_realloc, sizes[i]);
    alignment = (size_t)8 << i;
    behaves(by_memalign, sizes[i]);
  }
  alignment = 2048;
  behaves(by_memalign, 100);
  alignment = 4096;
  for (unsigned i = 0; i < 1000; i++) {
    void *object = by_memalign(100);
    CHECK(!is_slot(object));
    free(object);
  }
  for (unsigned class = 0; class < MALLOMETER_SLOT_CLASSES; class ++) {
    CHECK(observed().slots_in_use[class] <= observed().slots[class]);
  }
}

/* ---- Objects in slots that glibc's own functions free or resize ---------------------------------------- */

static uint64_t mapped_bytes(void) {
  struct mallometer_allocator_state figures = {0};
  CHECK_EQUAL(mallometer_allocator(&figures, NULL, 0), 0);
  CHECK(figures.used_bytes <= figures.system_bytes && figures.system_bytes < (uint64_t)1 << 40);
  return figures.mapped_bytes;
}

static void freed_past_the_hook(void) {
  enum { COUNT = 12 };
  void *slots[COUNT], *libc = dlopen("libc.so.6", RTLD_NOLOAD | RTLD_LAZY);
  void (*libc_free)(void *);
  void *(*libc_realloc)(void *, size_t);
  size_t (*libc_usable_size)(void *);
  find(&libc_free, libc, "free");
  find(&libc_realloc, libc, "realloc");
  find(&libc_usable_size, libc, "malloc_usable_size");
  CHECK(libc_free != free);
  epochs_of(100);
  start();
  uint64_t mapped = mapped_bytes();
  in_slots(slots, COUNT, 200, by_malloc);
  for (unsigned i = 0; i < COUNT; i++) {
    memset(slots[i], (int)i, 200);
    CHECK(libc_usable_size(slots[i]) >= malloc_usable_size(slots[i]));
    if (i % 3 == 0) libc_free(slots[i]);
    if (i % 3 == 1) {
      unsigned char *moved = libc_realloc(slots[i], page_size * 5 / 2);
      for (unsigned at = 0; at < 200; at++) CHECK_EQUAL(moved[at], i);
      free(moved);
    }
  }
  unsigned in_all, retired = 2 * COUNT / 3;
  wait_for_whole_epoch();
  wait_for_whole_epoch();
  CHECK_EQUAL(observed().retired, retired);
  idle_since(0, 0, &in_all);
  CHECK_EQUAL(in_all, observed().slots_in_use[0] + observed().slots_in_use[1] + observed().slots_in_use[2]);
  CHECK(in_all >= COUNT - retired);
  for (unsigned i = 2; i < COUNT; i += 3) free(slots[i]);
  CHECK_EQUAL(mapped_bytes(), mapped);
  in_slots(slots, COUNT, 200, by_malloc);
  for (unsigned i = 0; i < COUNT; i++) free(slots[i]);
}

/* A direct call of glibc's realloc shrinks an object in a slot by unmapping the slot's last pages. The library must
 * not use this slot for another object. */
static void made_smaller_past_the_hook(void) {
  enum { COUNT = 6 };
  const size_t large = 10 * page_size, small = page_size * 5 / 4;
  unsigned char *slots[COUNT];
  void *libc = dlopen("libc.so.6", RTLD_NOLOAD | RTLD_LAZY);
  void *(*libc_realloc)(void *, size_t);
  find(&libc_realloc, libc, "realloc");
  epochs_of(20);
  start();
  uint64_t mapped = mapped_bytes();
  in_slots((void **)slots, COUNT, large, by_malloc);
  for (unsigned i = 0; i < COUNT; i++) {
    memset(slots[i], (int)i, large);
    CHECK(libc_realloc(slots[i], small) == slots[i]);
    CHECK(malloc_usable_size(slots[i]) >= small && malloc_usable_size(slots[i]) < 3 * page_size);
  }
  for (unsigned i = 0; i < 100; i++, pause_ms(5)) slots[i % COUNT][0]++; /* spreads the accesses over several epochs */
  CHECK_EQUAL(observed().void_epochs, 0);
  for (unsigned i = 0; i < COUNT; i++) {
    memset(slots[i], (int)i, small);
    if (i % 2) {
      free(slots[i]);
      continue;
    }
    slots[i] = realloc(slots[i], 5 * page_size);
    for (unsigned at = 0; at < small; at++) CHECK_EQUAL(slots[i][at], i);
    free(slots[i]);
  }
  CHECK_EQUAL(observed().retired, COUNT);
  CHECK_EQUAL(mapped_bytes(), mapped);
  in_slots((void **)slots, COUNT, 15 * page_size, by_malloc);
  for (unsigned i = 0; i < COUNT; i++) free(memset(slots[i], 1, 15 * page_size));
}

/* glibc's own free unmaps a slot's pages. glibc's own realloc can then extend the object of the previous slot into
 * the unmapped pages. The extended object must keep its contents. */
static void made_larger_past_the_hook(void) {
  enum { COUNT = 12, BEFORE = 200 };
  const size_t after = page_size * 3 / 2;
  unsigned char *slots[COUNT];
  unsigned grown = 0;
  void *libc = dlopen("libc.so.6", RTLD_NOLOAD | RTLD_LAZY);
  void (*libc_free)(void *);
  void *(*libc_realloc)(void *, size_t);
  find(&libc_free, libc, "free");
  find(&libc_realloc, libc, "realloc");
  epochs_of(20);
  start();
  in_slots((void **)slots, COUNT, BEFORE, by_malloc);
  epochs_of(60000);
  for (unsigned i = 0; i < COUNT; i++) {
    for (unsigned j = 0; slots[i] && j < COUNT; j++) {
      if (!slots[j] || (uintptr_t)slots[j] / page_size != (uintptr_t)slots[i] / page_size + 1) continue;
      libc_free(slots[j]);
      slots[j] = NULL;
      unsigned char *larger = libc_realloc(slots[i], after);
      grown += larger == slots[i];
      CHECK(malloc_usable_size(larger) >= after);
      for (unsigned at = 0; at < after; at++) larger[at] = (unsigned char)(at % 251);
      if (grown % 2) larger = realloc(larger, 2 * after);
      for (unsigned at = 0; at < after; at++) CHECK_EQUAL(larger[at], at % 251);
      free(larger);
      slots[i] = NULL;
    }
  }
  CHECK(grown >= 2);
  for (unsigned i = 0; i < COUNT; i++) free(slots[i]);
  CHECK(mapped_bytes() < 1 << 20);
}

static void works(void);

struct mappings {
  unsigned long all, of_slots;
};

static struct mappings mappings(void) {
  static char line[4096];
  struct mappings count = {0, 0};
  FILE *maps = fopen("/proc/self/maps", "r");
  CHECK(maps);
  while (fgets(line, sizeof line, maps)) {
    count.all++;
    count.of_slots += is_slot((const void *)strtoul(line, NULL, 16));
  }
  fclose(maps);
  return count;
}

static NOINLINE void *at_depth(unsigned depth, size_t size);

/* Makes at least 20 times `bytes` resident, because observed objects may take a twentieth of the resident memory. */
static void resident_for_slots_of(size_t bytes) {
  size_t resident = 20 * bytes / 4096 * page_size;
  CHECK(memset(malloc(resident), 1, resident));
}

/* Allocates until `wanted` objects are in slots, then frees seven of eight. Stores the others in `stay`, and returns
 * their number. */
static unsigned fill_many_slots(void *stay[], unsigned wanted) {
  enum { SITES = 60, MOST = 4000 };
  static void *made[MOST];
  unsigned count = 0, staying = 0;
  for (uint64_t begin = now_ns(); count < wanted; pause_ms(2)) {
    CHECK(now_ns() - begin < patience);
    for (unsigned i = 0; i < 20 * SITES && count < wanted; i++) {
      void *object = at_depth(i % SITES, i % 2 ? 100 : 30000);
      if (is_slot(object)) {
        made[count++] = object;
      } else {
        free(object);
      }
    }
  }
  for (unsigned i = 0; i < count; i++) {
    if (i % 8 == 0) {
      stay[staying++] = memset(made[i], (int)i, 100);
    } else {
      free(made[i]);
    }
  }
  return staying;
}

/* Near the limit of mappings, the library must merge the mappings of free slots. Objects must be placed in slots
 * again after the program has unmapped its own pages. */
static void merged(void) {
  enum { IN_SLOTS = 800, PAGES = 70000, SPARE = 300 };
  static void *stay[IN_SLOTS];
  unsigned long most = 0;
  FILE *file = fopen("/proc/sys/vm/max_map_count", "r");
  if (!file || fscanf(file, "%lu", &most) != 1 || most < 65530 || most > 70000) exit(77);
  fclose(file);
  resident_for_slots_of(5 << 20);
  epochs_of(10);
  start();
  unsigned staying = fill_many_slots(stay, IN_SLOTS);
  struct mappings split = mappings(), now = split;
  CHECK(split.of_slots > IN_SLOTS);

  char *pages = mmap(NULL, (size_t)PAGES * page_size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  unsigned page = 0;
  for (; split.all + page < most / 10 * 8; page += 2)
    CHECK_EQUAL(mprotect(pages + page * page_size, page_size, PROT_READ), 0);
  for (uint64_t begin = now_ns(); now.of_slots > split.of_slots / 2; now = mappings()) {
    if (now_ns() - begin > patience) break;
    pause_ms(50);
  }
  printf("%lu mappings of slots, %u in use; then %lu\n", split.of_slots, staying, now.of_slots);
  CHECK(now.of_slots <= split.of_slots / 2);
  CHECK(has_reason("max_map_count"));
  for (now = mappings(); now.all < most - SPARE; now.all += 2, page += 2) {
    CHECK_EQUAL(mprotect(pages + page * page_size, page_size, PROT_READ), 0);
  }
  for (unsigned i = 0; i < 1000; i++) {
    void *object = one_of_many(1000);
    CHECK(!is_slot(object));
    free(object);
  }
  CHECK_EQUAL(munmap(pages, (size_t)PAGES * page_size), 0);
  wait_for_reason(NULL);
  for (unsigned i = 0; i < staying; i++) {
    for (unsigned at = 0; at < 100; at++) CHECK_EQUAL(((unsigned char *)stay[i])[at], (unsigned char)(8 * i));
    free(stay[i]);
  }
  works();
  fill_many_slots(stay, IN_SLOTS);
  wait_for_whole_epoch();
  CHECK_EQUAL(observed().retired, 0);
  works();
}

static bool is_mapped_singly(size_t size) {
  size_t *object = memalign(4096, size); /* the library never places objects of this alignment in a slot */
  CHECK(object && !is_slot(object));
  return object[-1] & 2;
}

/* glibc maps large objects separately until one of them is freed. The library must not cause such a free when it
 * places an object in a slot. */
static void large_objects_are_mapped_as_before(void) {
  enum { MOST = 2000, LARGE = 150000 };
  unsigned found = 0;
  CHECK(is_mapped_singly(LARGE));
  epochs_of(10);
  start();
  for (unsigned i = 0; found < 5; i++, pause_ms(2)) {
    CHECK(i < MOST);
    found += is_slot(one_of_many(LARGE));
  }
  CHECK(is_mapped_singly(LARGE));
}

static void freed_twice(void) {
  void *slots[4];
  epochs_of(100);
  start();
  in_slots(slots, 4, 100, by_malloc);
  struct mallometer_counters begin = snapshot();
  free(slots[0]);
  free(slots[0]);
  free((char *)slots[1] + 16);
  struct mallometer_counters d = difference(begin, snapshot());
  CHECK_EQUAL(d.frees, 1);
  memset(slots[1], 1, 100);
  for (unsigned i = 1; i < 4; i++) free(slots[i]);
}

/* ---- Accessed bits that others clear, and locked memory ------------------------------------------------ */

static void epochs_of_others_are_void(void) {
  void *slots[4];
  epochs_of(50);
  start();
  in_slots(slots, 4, 1000, one_of_many);
  wait_for_whole_epoch();
  CHECK_EQUAL(observed().void_epochs, 0);
  uint64_t last_end = observed().epoch_end_ns;
  for (unsigned cleared = 0; cleared < 200 && observed().void_epochs < 3; cleared++) {
    int file = open("/proc/self/clear_refs", O_WRONLY);
    if (file < 0) exit(77);
    CHECK_EQUAL(write(file, "1", 1), 1);
    close(file);
    pause_ms(5);
  }
  CHECK(observed().void_epochs >= 3);
  CHECK(observed().epoch_end_ns <= last_end + 100 * MILLISECOND);
  wait_for_whole_epoch();
  CHECK(observed().epoch_end_ns > last_end);
  for (unsigned i = 0; i < 4; i++) free(slots[i]);
}

/* The library must see accesses to objects in slots, and calloc must return zeros in a slot that was used before. */
static void works(void) {
  enum { COUNT = 6 };
  void *slots[COUNT];
  unsigned in_all;
  in_slots(slots, COUNT, 1000, one_of_many);
  wait_for_whole_epoch();
  wait_for_whole_epoch();
  uint64_t before_uses = observed().epoch_end_ns;
  by_read(slots[0]);
  by_write(slots[1]);
  wait_for_whole_epoch();
  CHECK_EQUAL(idle_since(before_uses + 1, 1000, &in_all), COUNT - 2);
  CHECK_EQUAL(in_all, COUNT);
  for (unsigned i = 0; i < COUNT; i++) free(memset(slots[i], 1, 1000));
  behaves(by_calloc, 1000);
}

static uint64_t locked_kib_at_once(void) {
  char line[128];
  unsigned long kib = 0;
  FILE *status = fopen("/proc/self/status", "r");
  while (status && fgets(line, sizeof line, status)) sscanf(line, "VmLck: %lu kB", &kib);
  if (status) fclose(status);
  return kib;
}

/* Returns the lowest of ten readings. In each epoch the library maps a page for a moment, and this page may be
 * locked. */
static uint64_t locked_kib(void) {
  uint64_t lowest = UINT64_MAX;
  for (unsigned i = 0; i < 10; i++) {
    uint64_t kib = locked_kib_at_once();
    if (kib < lowest) lowest = kib;
  }
  return lowest;
}

static void nothing_is_placed(void) {
  uint64_t placed = observed().placed;
  for (uint64_t begin = now_ns(); now_ns() - begin < 300 * MILLISECOND; pause_ms(2)) {
    for (unsigned i = 0; i < 200; i++) {
      void *object = one_of_many(1000);
      CHECK(!is_slot(object));
      free(object);
    }
  }
  CHECK_EQUAL(observed().placed, placed);
}

/* While all memory is locked (mlockall), no object may be placed in a slot, because slots are not locked. */
static void locked(int flags, bool before) {
  void *slots[2];
  epochs_of(20);
  if (!before) {
    start();
    in_slots(slots, 2, 3000000, by_malloc);
  }
  uint64_t resident = resident_bytes();
  if (mlockall(flags) != 0) exit(77);
  uint64_t kib = locked_kib();
  if (before) start();
  wait_for_reason("mlockall");
  nothing_is_placed();
  for (unsigned i = 0; !before && i < 2; i++) ((volatile char *)slots[i])[0]++;
  wait_for_epochs(3);
  CHECK_EQUAL(observed().state, MALLOMETER_LEAKS_ON);
  printf("%" PRIu64 " KiB locked, then %" PRIu64 "\n", kib, locked_kib());
  CHECK(locked_kib() >= kib);
  /*
   * The library's tables (about 32 MiB) may become resident. Its address range for slots is much larger, and must not
   * become resident.
   */
  CHECK(resident_bytes() < resident + (64u << 20));
  for (unsigned i = 0; !before && i < 2; i++) free(slots[i]);
  nothing_is_placed();
  CHECK_EQUAL(munlockall(), 0);
  wait_for_reason(NULL);
  works();
}

static unsigned seen_of(uint64_t bytes) {
  unsigned in_all;
  idle_since(0, bytes, &in_all);
  return in_all;
}

static void wait_for_seen(uint64_t bytes, unsigned count) {
  for (uint64_t begin = now_ns(); seen_of(bytes) != count; pause_ms(2)) {
    CHECK(now_ns() - begin < patience);
  }
}

/* While pages of an object are locked with mlock, the library cannot see accesses to it. */
static void locked_object(void) {
  enum { COUNT = 4, SMALL = 1000 };
  const size_t large_bytes = 10 * page_size, middle = 2 * page_size;
  void *small[COUNT], *large[COUNT];
  epochs_of(20);
  start();
  in_slots(small, COUNT, SMALL, one_of_many);
  in_slots(large, COUNT, large_bytes, one_of_many);
  uint64_t bytes = malloc_usable_size(large[0]);
  wait_for_whole_epoch();
  CHECK_EQUAL(seen_of(SMALL), COUNT);
  CHECK_EQUAL(locked_kib(), 0);
  CHECK_EQUAL(mlock(small[0], SMALL), 0);
  CHECK_EQUAL(mlock((char *)large[0] + middle, 1), 0);
  for (unsigned i = 0; i < 5; i++) {
    ((volatile char *)small[0])[0]++;
    ((volatile char *)large[0])[middle]++;
    wait_for_whole_epoch();
  }
  printf("%" PRIu64 " KiB locked\n", locked_kib());
  CHECK_EQUAL(locked_kib(), 2 * page_size / 1024);
  CHECK_EQUAL(seen_of(SMALL), COUNT - 1);
  CHECK_EQUAL(seen_of(bytes), COUNT - 1);
  CHECK_EQUAL(observed().slots_in_use[0] >= COUNT, 1);
  CHECK_EQUAL(observed().void_epochs, 0);
  CHECK_EQUAL(observed().reason[0], 0);

  uint64_t before = now_ns();
  CHECK_EQUAL(munlock(small[0], SMALL), 0);
  wait_for_seen(SMALL, COUNT);
  unsigned in_all;
  CHECK(idle_since(before, SMALL, &in_all) < COUNT);
  for (unsigned i = 0; i < COUNT; i++) {
    free(small[i]);
    free(large[i]); /* large[0] still has a locked page */
  }
  CHECK_EQUAL(locked_kib(), 0);
  works();
}

/* Ignores SIGCHLD, so that the kernel keeps no exit status of ended children. The library tests the system in child
 * processes, and must obtain the results without an exit status. */
static void without_children(void) {
  signal(SIGCHLD, SIG_IGN);
  uint64_t begin = now_ns();
  start();
  CHECK(now_ns() - begin < 3000 * MILLISECOND);
  CHECK(signal(SIGCHLD, SIG_DFL) == SIG_IGN);
  errno = 0;
  CHECK(waitpid(-1, NULL, __WALL) == -1 && errno == ECHILD);
}

/* The library cannot read accessed bits without free descriptors. It must state this reason, and resume the
 * observation when descriptors are free again. */
static void without_descriptors(void) {
  struct rlimit limit, none = {0, 0};
  void *slots[2];
  epochs_of(20);
  start();
  in_slots(slots, 2, 1000, one_of_many);
  CHECK_EQUAL(getrlimit(RLIMIT_NOFILE, &limit), 0);
  none.rlim_max = limit.rlim_max;
  CHECK(has_reason(NULL));
  CHECK_EQUAL(setrlimit(RLIMIT_NOFILE, &none), 0);
  wait_for_reason("smaps cannot be read at present");
  CHECK(has_reason("RLIMIT_NOFILE"));
  uint64_t epochs = observed().epochs;
  pause_ms(300);
  CHECK(has_reason("RLIMIT_NOFILE"));
  CHECK_EQUAL(observed().epochs, epochs);
  CHECK_EQUAL(setrlimit(RLIMIT_NOFILE, &limit), 0);
  wait_for_reason(NULL);
  CHECK_EQUAL(observed().state, MALLOMETER_LEAKS_ON);
  for (unsigned i = 0; i < 2; i++) free(slots[i]);
  works();
}

static void in_a_child(void) {
  enum { COUNT = 4 };
  void *slots[COUNT];
  epochs_of(50);
  start();
  in_slots(slots, COUNT, 1000, one_of_many);
  for (unsigned i = 0; i < COUNT; i++) memset(slots[i], (int)i, 1000);
  pid_t child = fork();
  if (child == 0) {
    struct mallometer_counters begin = snapshot();
    CHECK_EQUAL(observed().state, MALLOMETER_LEAKS_FAILED);
    CHECK(strstr(observed().reason, "child"));
    for (unsigned i = 0; i < COUNT; i++) {
      for (unsigned at = 0; at < 1000; at++) CHECK_EQUAL(((unsigned char *)slots[i])[at], i);
      slots[i] = realloc(slots[i], 1 + i * 1000);
      CHECK(!is_slot(slots[i]));
      free(slots[i]);
    }
    struct mallometer_counters d = difference(begin, snapshot());
    CHECK_EQUAL(mallometer_live_bytes(&d), -(int64_t)COUNT * 1000);
    for (unsigned i = 0; i < 10000; i++) {
      void *object = one_of_many(i);
      CHECK(!is_slot(object));
      free(object);
    }
    _exit(0);
  }
  int status;
  CHECK_EQUAL(waitpid(child, &status, 0), child);
  CHECK_EQUAL(status, 0);
  for (unsigned i = 0; i < COUNT; i++) {
    for (unsigned at = 0; at < 1000; at++) CHECK_EQUAL(((unsigned char *)slots[i])[at], i);
    free(slots[i]);
  }
  works();
}

/* ---- Sandboxes ----------------------------------------------------------------------------------------- */

/* Makes a system call fail if its third argument is `third`, or always if `third` is -1. */
static void forbid(unsigned call, unsigned third) {
  struct sock_filter filter[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, call, 0, 3),
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[2])),
      BPF_JUMP(BPF_JMP | (third == -1u ? BPF_JGE : BPF_JEQ) | BPF_K, third == -1u ? 0 : third, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  struct sock_fprog program = {sizeof filter / sizeof *filter, filter};
  CHECK_EQUAL(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), 0);
  if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0) exit(77);
}

static void forbid_by_name(const char *what) {
  enum { COLD = 20 };
  if (strcmp(what, "cold") == 0) forbid(SYS_madvise, COLD);
  if (strcmp(what, "madvise") == 0) forbid(SYS_madvise, -1u);
  if (strcmp(what, "exec") == 0) forbid(SYS_execve, -1u);
  if (strcmp(what, "open") == 0) forbid(SYS_openat, -1u);
}

static void by_clear_refs(void) {
  forbid_by_name("cold");
  epochs_of(20);
  start();
  CHECK_EQUAL(observed().method, MALLOMETER_LEAKS_BY_CLEAR_REFS);
  works();
}

/* ---- Reasons for no observation ------------------------------------------------------------------------ */

static void off_because(const char *why) {
  CHECK_EQUAL(mallometer_leaks_start(), 0);
  while (observed().state == MALLOMETER_LEAKS_STARTING) pause_ms(1);
  struct mallometer_observation o = observed();
  printf("state %u: %s\n", o.state, o.reason);
  CHECK_EQUAL(o.state, MALLOMETER_LEAKS_FAILED);
  CHECK(strstr(o.reason, why));
  for (unsigned i = 0; i < 5000; i++) {
    void *object = one_of_many(i);
    CHECK(!is_slot(object));
    free(object);
  }
  CHECK_EQUAL(observed().placed, 0);
}

static void unwanted(void) {
  CHECK_EQUAL(mallometer_leaks_start(), -ENODATA);
  CHECK_EQUAL(observed().state, MALLOMETER_LEAKS_OFF);
  CHECK_EQUAL(mallometer_evidence(&(struct mallometer_site_evidence){.site = 0}, 1, 0), -ENODATA);
}

/* ---- Stops and restarts -------------------------------------------------------------------------------- */

static bool read_line(const char *thread, const char *file, const char *begin, char line[128]) {
  char path[300];
  snprintf(path, sizeof path, "/proc/self/task/%s/%s", thread, file);
  FILE *opened = fopen(path, "r");
  bool found = false;
  while (opened && !found && fgets(line, 128, opened)) found = strncmp(line, begin, strlen(begin)) == 0;
  if (opened) fclose(opened);
  return found;
}

static void line_of_thread(const char *begin, char line[128]) {
  DIR *threads = opendir("/proc/self/task");
  bool found = false;
  for (const struct dirent *thread; !found && (thread = readdir(threads));) {
    found = read_line(thread->d_name, "comm", "mallometer-leak", line);
    if (found) CHECK(read_line(thread->d_name, "status", begin, line));
  }
  closedir(threads);
  CHECK(found);
}

static long sleeps_of_thread(void) {
  char line[128];
  line_of_thread("voluntary_ctxt_switches:", line);
  return atol(strchr(line, ':') + 1);
}

static void wait_for_rest(void) {
  char line[128];
  long before;
  uint64_t begin = now_ns();
  do {
    CHECK(now_ns() - begin < patience);
    before = sleeps_of_thread();
    pause_ms(100);
    line_of_thread("State:", line);
  } while (!strstr(line, "S (sleeping)") || sleeps_of_thread() != before);
}

struct idle_frees {
  uint64_t freed, seen_idle;
};

static struct idle_frees idle_frees(void) {
  static struct mallometer_site_evidence all[4096];
  struct idle_frees sum = {0, 0};
  int count = mallometer_evidence(all, 4096, 0);
  for (int i = 0; i < count; i++) {
    sum.freed += all[i].freed;
    sum.seen_idle += all[i].idle_before_free.count;
  }
  return sum;
}

static void nothing_happens(void) {
  struct mallometer_observation before = observed();
  long sleeps = sleeps_of_thread();
  for (uint64_t begin = now_ns(); now_ns() - begin < 400 * MILLISECOND; pause_ms(2)) {
    for (unsigned i = 0; i < 200; i++) {
      void *object = one_of_many(1000);
      CHECK(!is_slot(object));
      free(object);
    }
  }
  CHECK_EQUAL(observed().epochs, before.epochs);
  CHECK_EQUAL(observed().cpu_ns, before.cpu_ns);
  CHECK_EQUAL(sleeps_of_thread(), sleeps);
}

/* The first stop after two starts must change nothing. The second must end the observation of accesses until the next
 * start. */
static void rests_when_nobody_wants_to_know(void) {
  enum { COUNT = 8 };
  void *slots[COUNT];
  CHECK_EQUAL(mallometer_leaks_stop(), -ENODATA);
  epochs_of(20);
  start();
  start();
  in_slots(slots, COUNT, 1000, one_of_many);
  wait_for_whole_epoch();
  CHECK_EQUAL(mallometer_leaks_stop(), 0);
  wait_for_whole_epoch();
  CHECK_EQUAL(mallometer_leaks_stop(), 0);
  CHECK_EQUAL(mallometer_leaks_stop(), -ENODATA);
  CHECK_EQUAL(observed().state, MALLOMETER_LEAKS_OFF);
  CHECK(strstr(observed().reason, "was stopped"));
  wait_for_rest();
  nothing_happens();
  struct idle_frees before = idle_frees();
  for (unsigned i = 0; i < COUNT / 2; i++) free(slots[i]);
  CHECK_EQUAL(idle_frees().freed, before.freed + COUNT / 2);
  CHECK_EQUAL(idle_frees().seen_idle, before.seen_idle);

  uint64_t again = now_ns();
  start();
  CHECK_EQUAL(observed().reason[0], 0);
  CHECK(observed().started_ns + MILLISECOND > again);
  wait_for_whole_epoch();
  unsigned in_all;
  CHECK_EQUAL(idle_since(again - MILLISECOND, 1000, &in_all), 0);
  CHECK(in_all >= COUNT / 2);
  void *more[COUNT];
  in_slots(more, COUNT, 1000, one_of_many);
  for (unsigned i = 0; i < COUNT; i++) free(more[i]);
  for (unsigned i = COUNT / 2; i < COUNT; i++) free(slots[i]);
  CHECK(idle_frees().seen_idle > before.seen_idle);
}

/* A start fails because no thread can be created. A later start must succeed. */
static void a_start_that_fails_can_be_tried_again(void) {
  struct rlimit before, none;
  CHECK_EQUAL(getrlimit(RLIMIT_AS, &before), 0);
  none = before;
  none.rlim_cur = resident_bytes();
  CHECK_EQUAL(setrlimit(RLIMIT_AS, &none), 0);
  int result = mallometer_leaks_start();
  CHECK_EQUAL(setrlimit(RLIMIT_AS, &before), 0);
  CHECK_EQUAL(result, -EAGAIN);
  CHECK_EQUAL(observed().state, MALLOMETER_LEAKS_OFF);
  CHECK(strstr(observed().reason, "thread"));
  CHECK_EQUAL(mallometer_leaks_stop(), -ENODATA);
  epochs_of(20);
  start();
  wait_for_whole_epoch();
}

/* ---- Estimates and bounds ------------------------------------------------------------------------------ */

/* Allocates after `depth` recursive calls, so that each depth is a call site of its own. */
static NOINLINE void *at_depth(unsigned depth, size_t size) {
  void *object = depth == 0 ? malloc(size) : at_depth(depth - 1, size);
  USE(object);
  return object;
}

/* Estimates the number of live objects of `least_bytes` to `most_bytes` from the live objects in slots. Adds the
 * variance of the estimate to `variance`. */
static double estimated(uint64_t least_bytes, uint64_t most_bytes, double *variance) {
  double estimate = 0;
  int count = mallometer_objects(objects, MOST_OBJECTS);
  for (int i = 0; i < count; i++) {
    if (objects[i].placement == 0 || objects[i].bytes < least_bytes || objects[i].bytes > most_bytes) continue;
    double weight = 1 / (objects[i].probability * objects[i].placement);
    estimate += weight;
    *variance += weight * (weight - 1);
  }
  return estimate;
}

enum { KEEPING_SITES = 24, MOST_KEPT = 2000 };
static void *kept[KEEPING_SITES][MOST_KEPT];
static unsigned live[KEEPING_SITES];

static unsigned keep_some(void) {
  unsigned all = 0;
  for (unsigned round = 0; round < 60; round++) {
    for (unsigned site = 0; site < KEEPING_SITES; site++) {
      for (unsigned i = 0; i < 1 + site / 2; i++) kept[site][live[site]++] = at_depth(site, 64 + 8 * site);
      for (unsigned i = 0; site % 2 == 1 && i < live[site] / 2; i++) free(kept[site][--live[site]]);
    }
    pause_ms(10);
  }
  for (unsigned site = 0; site < KEEPING_SITES; site++) all += live[site];
  return all;
}

static void keep_nothing(void) {
  for (unsigned site = 0; site < KEEPING_SITES; site++) {
    while (live[site] > 0) free(kept[site][--live[site]]);
  }
}

/* Adds up the estimates of live objects from three runs, and compares the sum with the true number. The standard
 * error of the sum is about 10 %. */
static void estimates_have_no_bias(void) {
  double truth = 0, estimate = 0, variance = 0;
  resident_for_slots_of(1 << 20);
  epochs_of(20);
  start();
  for (unsigned run = 0; run < 4; run++) {
    double kept = keep_some();
    if (run > 0) { /* the sites are new in the first run, and the library does not yet place their objects in slots */
      truth += kept;
      estimate += estimated(64, 64 + 8 * KEEPING_SITES + 16, &variance);
    }
    keep_nothing();
    for (uint64_t epochs = observed().epochs; run == 0 && observed().epochs < epochs + 8;) pause_ms(2);
  }
  printf("%.0f live, %.0f +- %.0f by slots\n", truth, estimate, sqrt(variance));
  CHECK(sqrt(variance) < truth / 4);
  CHECK(estimate > truth * 0.6 && estimate < truth * 1.4);
}

/* The slots must take at most 1 MiB although nothing is freed, and a new call site must still get a slot. */
static void memory_is_bounded(void) {
  enum { FULL_ROUNDS = 30 };
  const unsigned sites = (unsigned)(60 * 4096 / page_size); /* a page for each site takes at most 240 KiB in all */
  epochs_of(10);
  start();
  CHECK(observed().limit_bytes == 1 << 20);
  uint64_t taken = 0, begin = now_ns();
  for (unsigned full = 0; full<FULL_ROUNDS; full += taken> 700000) {
    CHECK(now_ns() - begin < patience);
    for (unsigned site = 0; site < sites; site++) {
      for (unsigned i = 0; i < 10; i++) USE(at_depth(site, 100));
    }
    struct mallometer_observation o = observed();
    if (o.resident_bytes > taken) taken = o.resident_bytes;
    pause_ms(12);
  }
  printf("%" PRIu64 " bytes taken, %" PRIu64 " not placed\n", taken, observed().not_placed);
  CHECK(taken / page_size * (page_size - 100) <= 1 << 20);
  CHECK(observed().not_placed > 100);
  void *late;
  in_slots(&late, 1, 5000, one_of_many);
}

/* A call site allocates four objects in each of about a hundred epochs, and frees none. The library may place four
 * objects of a site in an epoch, but must place fewer if many of the site's objects are already in slots. */
static void who_keeps_much_gets_fewer_slots(void) {
  epochs_of(10);
  start();
  for (uint64_t end = observed().epochs + 106; observed().epochs < end; pause_ms(2)) {
    for (unsigned i = 0; i < 4; i++) USE(one_of_many(20000));
  }
  uint32_t live = observed().slots_in_use[1];
  printf("%u in slots\n", live);
  CHECK(live >= 50 && live <= 200);
}

static unsigned in_slots_of(unsigned sites, size_t size) {
  static void *made[100 * 20];
  unsigned found = 0, count = 0;
  for (unsigned site = 0; site < sites; site++) {
    for (unsigned i = 0; i < 20; i++) {
      made[count] = at_depth(site, size);
      found += is_slot(made[count++]);
    }
  }
  for (unsigned i = 0; i < count; i++) free(made[i]);
  return found;
}

/* If a call site allocates in one epoch only, its objects must not be placed in slots. */
static void who_comes_once_gets_no_slot(void) {
  epochs_of(100); /* long enough for all allocations of a round */
  start();
  unsigned placed[2];
  for (unsigned round = 0; round < 2; round++) {
    placed[round] = in_slots_of(round == 0 ? 50 : 100, 20000);
    for (uint64_t epochs = observed().epochs; observed().epochs < epochs + 8;) pause_ms(2);
  }
  printf("%u and %u in slots\n", placed[0], placed[1]);
  CHECK_EQUAL(placed[0], 0);
  CHECK(placed[1] >= 50 && placed[1] <= 50 * 12); /* objects of the 50 sites that allocate in both rounds */
}

/* ---- Concurrent threads -------------------------------------------------------------------------------- */

enum { CHURNING = 4, SHARED = 512 };
struct held {
  unsigned char *object;
  size_t size;
};
static struct held shared[SHARED];
static pthread_mutex_t locks[SHARED];
static volatile bool stop;

static uint64_t next_random(uint64_t *state) {
  *state ^= *state << 13;
  *state ^= *state >> 7;
  return *state ^= *state << 17;
}

static size_t any_size(uint64_t *state) {
  uint64_t kind = next_random(state) % 1000;
  size_t below = kind < 900 ? 4000 : kind < 990 ? 60000 : kind < 999 ? 500000 : 5000000;
  return 1 + next_random(state) % below;
}

static void fill(struct held *held) {
  unsigned char mark = (unsigned char)((uintptr_t)held->object >> 4 ^ held->size);
  for (size_t at = 0; at < held->size; at += 1 + held->size / 64) held->object[at] = mark;
  held->object[held->size - 1] = mark;
}

static void check(const struct held *held, unsigned char mark, size_t size) {
  for (size_t at = 0; at < size; at += 1 + held->size / 64) CHECK_EQUAL(held->object[at], mark);
}

static NOINLINE void allocate_in(struct held *held, uint64_t *state, unsigned depth) {
  if (depth > 0) {
    allocate_in(held, state, depth - 1);
    USE(held);
    return;
  }
  held->size = any_size(state);
  switch (next_random(state) % 3) {
    case 0:
      held->object = malloc(held->size);
      break;
    case 1:
      held->object = calloc(1, held->size);
      for (size_t at = 0; at < held->size; at += 97) CHECK_EQUAL(held->object[at], 0);
      break;
    default:
      held->object = memalign((size_t)16 << next_random(state) % 9, held->size);
  }
  CHECK(held->object);
  fill(held);
}

static NOINLINE void reallocate_in(struct held *held, uint64_t *state) {
  unsigned char mark = (unsigned char)((uintptr_t)held->object >> 4 ^ held->size);
  size_t size = any_size(state);
  held->object = realloc(held->object, size);
  CHECK(held->object);
  check(held, mark, held->size < size ? held->size : size);
  held->size = size;
  fill(held);
}

static void free_in(struct held *held) {
  check(held, (unsigned char)((uintptr_t)held->object >> 4 ^ held->size), held->size);
  free(held->object);
  held->object = NULL;
}

static void *churn(void *seed) {
  uint64_t state = 88172645463325252u + (uintptr_t)seed * 7919;
  while (!stop) {
    unsigned at = next_random(&state) % SHARED;
    pthread_mutex_lock(&locks[at]);
    struct held *held = &shared[at];
    if (!held->object) {
      allocate_in(held, &state, next_random(&state) % 16);
    } else if (next_random(&state) % 2) {
      reallocate_in(held, &state);
    } else {
      free_in(held);
    }
    pthread_mutex_unlock(&locks[at]);
  }
  return NULL;
}

static void *read_all_the_time(void *unused) {
  static struct mallometer_object read[MOST_OBJECTS];
  static struct mallometer_site_evidence evidence[4096];
  while (!stop) {
    int count = mallometer_objects(read, MOST_OBJECTS);
    for (int i = 0; i < count; i++) {
      CHECK(read[i].probability > 0 && read[i].probability <= 1);
      CHECK(read[i].placement >= 0 && read[i].placement <= 1);
      CHECK(read[i].placement == 0 || read[i].last_access_ns >= read[i].born_ns - 100 * MILLISECOND);
      CHECK(read[i].last_access_ns <= now_ns());
    }
    count = mallometer_evidence(evidence, 4096, 0);
    for (int i = 0; i < count; i++) CHECK(evidence[i].freed <= evidence[i].placed);
  }
  return unused;
}

/* Makes 1,000 mappings of one page each, or unmaps them. */
static void map_much(bool much) {
  enum { PAGES = 1000 };
  static char *pages;
  if (pages) munmap(pages, PAGES * page_size);
  pages = much ? mmap(NULL, PAGES * page_size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) : NULL;
  for (unsigned i = 0; much && i < PAGES; i += 2) mprotect(pages + i * page_size, page_size, PROT_READ);
}

static void everything_at_once(unsigned seconds) {
  enum { LEAST_PLACED = 1000 };
  bool much = false;
  pthread_t threads[CHURNING + 1];
  struct mallometer_counters begin = snapshot();
  epochs_of(10);
  start();
  for (unsigned i = 0; i < SHARED; i++) pthread_mutex_init(&locks[i], NULL);
  for (uintptr_t i = 0; i < CHURNING; i++) CHECK_EQUAL(pthread_create(&threads[i], NULL, churn, (void *)i), 0);
  CHECK_EQUAL(pthread_create(&threads[CHURNING], NULL, read_all_the_time, NULL), 0);
  const uint64_t end = now_ns() + seconds * 1000 * MILLISECOND;
  for (; now_ns() < end || observed().placed <= LEAST_PLACED; pause_ms(100)) {
    CHECK(now_ns() < end + patience);
    map_much(much = !much);
    pid_t child = fork();
    if (child == 0) {
      for (unsigned at = 0; at < SHARED; at++) {
        if (pthread_mutex_trylock(&locks[at]) == 0 && shared[at].object) free_in(&shared[at]);
      }
      _exit(0);
    }
    int status;
    CHECK_EQUAL(waitpid(child, &status, 0), child);
    CHECK_EQUAL(status, 0);
    CHECK_EQUAL(mallometer_leaks_stop(), 0);
    pause_ms(now_ns() % 10);
    CHECK_EQUAL(mallometer_leaks_start(), 0);
  }
  stop = true;
  for (unsigned i = 0; i <= CHURNING; i++) pthread_join(threads[i], NULL);
  struct mallometer_observation o = observed();
  printf("%" PRIu64 " placed, %" PRIu64 " epochs, %" PRIu64 " void\n", o.placed, o.epochs, o.void_epochs);
  CHECK_EQUAL(o.retired, 0);
  uint64_t held = 0;
  for (unsigned i = 0; i < SHARED; i++) {
    if (!shared[i].object) continue;
    free_in(&shared[i]);
  }
  for (unsigned class = 0; class < MALLOMETER_SLOT_CLASSES; class ++) held += observed().slots_in_use[class];
  CHECK(held < 20); /* the C library keeps some objects */
  struct mallometer_counters d = difference(begin, snapshot());
  CHECK(mallometer_live_bytes(&d) >= 0 && mallometer_live_bytes(&d) < 100000);
}

int main(int argc, char **argv) {
  CHECK(argc >= 2);
  page_size = (size_t)sysconf(_SC_PAGESIZE);
  if (getenv("PATIENCE_SECONDS")) patience = (uint64_t)atoi(getenv("PATIENCE_SECONDS")) * 1000 * MILLISECOND;
  const char *name = argv[1];
  if (strcmp(name, "seen") == 0) uses_are_seen();
  if (strcmp(name, "behave") == 0) objects_behave_as_others();
  if (strcmp(name, "past") == 0) freed_past_the_hook();
  if (strcmp(name, "twice") == 0) freed_twice();
  if (strcmp(name, "smaller") == 0) made_smaller_past_the_hook();
  if (strcmp(name, "larger") == 0) made_larger_past_the_hook();
  if (strcmp(name, "merged") == 0) merged();
  if (strcmp(name, "large") == 0) large_objects_are_mapped_as_before();
  if (strcmp(name, "void") == 0) epochs_of_others_are_void();
  if (strcmp(name, "locked_before") == 0) locked(MCL_CURRENT | MCL_FUTURE, true);
  if (strcmp(name, "locked_after") == 0) locked(MCL_CURRENT | MCL_FUTURE, false);
  if (strcmp(name, "locked_now") == 0) locked(MCL_CURRENT, true);
  if (strcmp(name, "locked_from_now_on") == 0) locked(MCL_FUTURE, false);
  if (strcmp(name, "locked_object") == 0) locked_object();
  if (strcmp(name, "fork") == 0) in_a_child();
  if (strcmp(name, "childless") == 0) without_children();
  if (strcmp(name, "descriptors") == 0) without_descriptors();
  if (strcmp(name, "estimates") == 0) estimates_have_no_bias();
  if (strcmp(name, "bounded") == 0) memory_is_bounded();
  if (strcmp(name, "fewer") == 0) who_keeps_much_gets_fewer_slots();
  if (strcmp(name, "once") == 0) who_comes_once_gets_no_slot();
  if (strcmp(name, "churn") == 0) everything_at_once((unsigned)atoi(argv[2]));
  if (strcmp(name, "clear_refs") == 0) by_clear_refs();
  if (strcmp(name, "off") == 0 && argc > 3) forbid_by_name(argv[3]);
  if (strcmp(name, "off_locked") == 0 && mlockall(MCL_FUTURE) != 0) exit(77);
  if (strcmp(name, "off_locked") == 0) off_because("RLIMIT_MEMLOCK");
  if (strcmp(name, "off") == 0) off_because(argv[2]);
  if (strcmp(name, "unwanted") == 0) unwanted();
  if (strcmp(name, "rest") == 0) rests_when_nobody_wants_to_know();
  if (strcmp(name, "again") == 0) a_start_that_fails_can_be_tried_again();
  return 0;
}
