/*
 * Uses objects that begin at a page boundary. With MALLOMETER_ACCOUNTING=header, the library puts a header before each
 * object that it allocates. The allocator's own objects have no header, and the page before them can be unmapped.
 *
 * The library must tell both kinds of objects apart without mincore(2): in the sandbox here, a call ends the process.
 */
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <malloc.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include "below.h"

#define PAGE ((size_t)4096)
#define OBJECTS 4000
#define SMALL_OBJECTS 20000

static bool begins_a_page(const void *object) { return (uintptr_t)object % PAGE == 0; }

static void close_the_sandbox(void) {
  struct sock_filter filter[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_mincore, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  struct sock_fprog program = {sizeof filter / sizeof *filter, filter};
  CHECK_EQUAL(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), 0);
  if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0) exit(77);
}

/* ---- Objects that the library returns ------------------------------------------------------------------ */

static void *filled(void *object, size_t size) {
  CHECK(object && malloc_usable_size(object) >= size);
  return memset(object, 'o', size);
}

static void is_filled(const char *object, size_t size) {
  for (size_t i = 0; i < size; i++) CHECK(object[i] == 'o');
}

static void resized_and_freed(char *object, size_t size) {
  object = realloc(object, 3 * size);
  is_filled(object, size);
  object = realloc(filled(object, 3 * size), size);
  is_filled(object, size);
  free(object);
}

static void aligned_objects(void) {
  struct mallometer_counters start = snapshot();
  uint64_t allocations = 0;
  for (size_t alignment = PAGE; alignment <= 64 * PAGE; alignment *= 4) {
    for (size_t size = 1; size < 200000; size = 7 * size + 1, allocations += 12) {
      void *other;
      CHECK_EQUAL(posix_memalign(&other, alignment, size), 0);
      resized_and_freed(filled(other, size), size);
      resized_and_freed(filled(memalign(alignment, size), size), size);
      resized_and_freed(filled(aligned_alloc(alignment, size), size), size);
      resized_and_freed(filled(valloc(size), size), size);
    }
  }
  struct mallometer_counters d = difference(start, snapshot());
  CHECK_EQUAL(mallometer_allocations(&d), allocations);
  CHECK_EQUAL(d.frees, allocations);
  CHECK_EQUAL(mallometer_live_bytes(&d), 0);
}

/* Returns a pseudo-random multiple of 16 from 16 to 512. */
static size_t small_size(size_t i) { return 16 + ((i * 0x9e3779b97f4a7c15u) >> 59) * 16; }

/* Allocates SMALL_OBJECTS small objects. Some of them begin at a page boundary. */
static void small_objects(void) {
  static char *objects[SMALL_OBJECTS];
  struct mallometer_counters start = snapshot();
  size_t pages = 0;
  for (size_t i = 0; i < SMALL_OBJECTS; i++) {
    objects[i] = filled(malloc(small_size(i)), small_size(i));
    pages += begins_a_page(objects[i]);
  }
  for (size_t i = 0; i < SMALL_OBJECTS; i++) {
    if (i % 2) objects[i] = realloc(objects[i], 1000);
    is_filled(objects[i], small_size(i));
  }
  for (size_t i = 0; i < SMALL_OBJECTS; i++) free(objects[i]);
  printf("%zu of %d small objects begin a page\n", pages, SMALL_OBJECTS);
  CHECK(pages > 0);
  struct mallometer_counters d = difference(start, snapshot());
  CHECK_EQUAL(mallometer_allocations(&d), SMALL_OBJECTS + SMALL_OBJECTS / 2);
  CHECK_EQUAL(d.frees, SMALL_OBJECTS + SMALL_OBJECTS / 2);
  CHECK_EQUAL(mallometer_live_bytes(&d), 0);
}

/* ---- Objects of the allocator, without a header -------------------------------------------------------- */

static bool is_mapped(const void *page) {
  unsigned char resident;
  return mincore((void *)(uintptr_t)page, PAGE, &resident) == 0;
}

static void *foreign[OBJECTS];

/* Allocates objects by the allocator's own functions. Prints how many of them lie behind an unmapped page. */
static void take_foreign_objects(void) {
  size_t alone = 0;
  for (size_t i = 0; i < OBJECTS; i++) {
    size_t size = i % 100 ? i : i * 10000;
    foreign[i] = i % 2 ? below.memalign(PAGE, size) : below.malloc(size);
    CHECK(foreign[i]);
    alone += begins_a_page(foreign[i]) && !is_mapped((char *)foreign[i] - PAGE);
  }
  printf("before %zu foreign objects there is nothing\n", alone);
}

static void foreign_objects(void) {
  struct mallometer_counters start = snapshot();
  for (size_t i = 0; i < OBJECTS; i++) {
    CHECK(malloc_usable_size(foreign[i]) >= (i % 100 ? i : i * 10000));
    if (i % 3 == 0) foreign[i] = realloc(foreign[i], 2 * i + 1);
    free(foreign[i]);
  }
  struct mallometer_counters d = difference(start, snapshot());
  if (self().byte_unit == MALLOMETER_UNIT_REQUESTED) CHECK_EQUAL(mallometer_allocations(&d) + d.frees, 0);
}

int main(void) {
  find_allocator_below();
  setvbuf(stdout, NULL, _IOLBF, 1024);
  take_foreign_objects();
  close_the_sandbox();
  aligned_objects();
  small_objects();
  foreign_objects();
  return 0;
}
