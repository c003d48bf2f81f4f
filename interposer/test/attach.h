/* Helpers for test programs that open the library with dlopen(): calls of its functions, and copies of memory that
 * show which words the library has changed. */
#ifndef MALLOMETER_TEST_ATTACH_H
#define MALLOMETER_TEST_ATTACH_H

#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <malloc.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "loaded_library.h"

static void *library;
static const char *library_path;

#define FUNCTION(name) ((__typeof__(name) *)dlsym(library, #name))

static inline void open_library(const char *path) {
  library_path = path;
  library = loaded(path, RTLD_NOW | RTLD_LOCAL);
}

static inline struct mallometer_report report(void) {
  struct mallometer_report r = {0};
  CHECK_EQUAL(FUNCTION(mallometer_self)(&r), 0);
  return r;
}

static inline struct mallometer_counters counters(void) {
  struct mallometer_counters s = {0};
  CHECK_EQUAL(FUNCTION(mallometer_snapshot)(&s), 0);
  return s;
}

static inline struct mallometer_counters own_counters(void) {
  struct mallometer_counters s = {0};
  CHECK_EQUAL(FUNCTION(mallometer_thread_snapshot)(&s), 0);
  return s;
}

static inline void attach(void) {
  int result = FUNCTION(mallometer_attach)();
  if (result != 0) fprintf(stderr, "%s\n", report().reason);
  CHECK_EQUAL(result, 0);
}

static inline void check(void) { CHECK_EQUAL(FUNCTION(mallometer_attach_check)(), 0); }

static inline void detach(void) { CHECK_EQUAL(FUNCTION(mallometer_detach)(), 0); }

static inline uint64_t in_use(void) {
#if __GLIBC_PREREQ(2, 33)
  struct mallinfo2 info = mallinfo2();
#else
  struct mallinfo info = mallinfo();
#endif
  return (uint64_t)info.uordblks + (uint64_t)info.hblkhd;
}

static inline void install(struct sock_filter *program, unsigned short length) {
  struct sock_fprog filter = {length, program};
  prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
  if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) != 0) {
    printf("not available: seccomp\n");
    exit(77);
  }
}

/* ---- Changes of memory --------------------------------------------------------------------------------- */

enum { MOST_AREAS = 2000 };

struct area {
  uintptr_t begin, end;
  char protection[5];
  bool of_file, of_library;
  char *copy;
};

struct memory {
  struct area areas[MOST_AREAS];
  int count;
};

/* Reads the mappings without malloc. */
static inline void read_areas(struct memory *memory) {
  static char text[1 << 20];
  int file = open("/proc/self/maps", O_RDONLY);
  ssize_t length = 0, got;
  while ((got = read(file, text + length, sizeof text - 1 - (size_t)length)) > 0) length += got;
  close(file);
  text[length] = '\0';
  memory->count = 0;
  for (char *line = text, *end; *line && memory->count < MOST_AREAS; line = end + 1) {
    end = strchr(line, '\n');
    *end = '\0';
    char *path = strchr(line, '/'), *at;
    struct area *area = &memory->areas[memory->count++];
    memset(area, 0, sizeof *area);
    area->begin = strtoul(line, &at, 16);
    area->end = strtoul(at + 1, &at, 16);
    memcpy(area->protection, at + 1, 4);
    area->of_file = path;
    area->of_library = path && strstr(path, strrchr(library_path, '/') + 1);
  }
}

static inline void copy_memory(struct memory *memory) {
  read_areas(memory);
  for (int i = 0; i < memory->count; i++) {
    struct area *area = &memory->areas[i];
    if (!area->of_file || area->of_library || area->protection[0] != 'r') continue;
    size_t bytes = area->end - area->begin;
    area->copy = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK(area->copy != MAP_FAILED);
    memcpy(area->copy, (void *)area->begin, bytes);
  }
}

static inline bool leads_to_library(const struct memory *now, uintptr_t value) {
  for (int i = 0; i < now->count; i++) {
    const struct area *area = &now->areas[i];
    if (area->of_library && value >= area->begin && value < area->end) return true;
  }
  return false;
}

static inline const char *protection_at(const struct memory *now, uintptr_t address) {
  for (int i = 0; i < now->count; i++) {
    if (address >= now->areas[i].begin && address < now->areas[i].end) return now->areas[i].protection;
  }
  return "none";
}

struct differences {
  int words; /* changed words that are on a read-only page or hold an address of the library */
  int protections;
};

/*
 * Compares the memory with `before`, which was copied when the library was already open. A changed word on a writable
 * page counts only if it holds an address of the library and was not 0 before. The second condition excludes the head
 * of the C library's list of fork handlers.
 */
static inline struct differences differences_since(const struct memory *before) {
  static struct memory now;
  struct differences found = {0};
  read_areas(&now);
  for (int i = 0; i < before->count; i++) {
    const struct area *area = &before->areas[i];
    if (!area->copy) continue;
    for (uintptr_t page = area->begin; page < area->end; page += 4096) {
      if (memcmp(protection_at(&now, page), area->protection, 4) == 0) continue;
      found.protections++;
      fprintf(stderr, "page %lx was %s and is %s\n", (unsigned long)page, area->protection, protection_at(&now, page));
    }
    const uintptr_t *is = (const uintptr_t *)area->begin, *was = (const uintptr_t *)area->copy;
    for (size_t word = 0; word < (area->end - area->begin) / sizeof *is; word++) {
      if (is[word] == was[word]) continue;
      bool leads_here_now = was[word] != 0 && leads_to_library(&now, is[word]);
      if (area->protection[1] != 'w' || leads_here_now) found.words++;
    }
  }
  return found;
}

#endif
