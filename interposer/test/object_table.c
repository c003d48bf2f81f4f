/*
 * Tests the table of loaded objects (executable and libraries), which must agree with the loader. Threads and signal
 * handlers must find objects that stay loaded while other libraries come and go. Old tables must be unmapped when no
 * thread reads them. The arguments are the paths of two libraries.
 */
#include "../src/platform/object_table.c"

#include <dlfcn.h>
#include <link.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/time.h>

#include "check.h"

/* The functions below replace those that object_table.c calls. `mapped` is the number of mappings in use. */
static unsigned mapped;

void *memory_map(void *wish, size_t bytes) {
  mapped++;
  void *memory = calloc(1, bytes);
  CHECK(!wish && memory);
  return memory;
}

void memory_unmap(void *memory, size_t bytes) {
  mapped--;
  memset(memory, 0xa5, bytes); /* a late reader would read invalid values */
  free(memory);
}

size_t memory_whole_pages(size_t bytes) { return (bytes + 4095) / 4096 * 4096; }

static bool readable = true;

bool is_readable(uintptr_t begin, size_t bytes) { return readable && begin && bytes; }

/* ---- Agreement with the loader ------------------------------------------------------------------------- */

static int compare_with_table(struct dl_phdr_info *info, size_t size, void *compared) {
  (void)size;
  for (ElfW(Half) i = 0; i < info->dlpi_phnum; i++) {
    uintptr_t begin = info->dlpi_addr + info->dlpi_phdr[i].p_vaddr;
    if (info->dlpi_phdr[i].p_type != PT_LOAD) continue;
    struct loaded_object object = {0};
    CHECK(object_table_find(begin, &object));
    CHECK(object_table_find(begin + info->dlpi_phdr[i].p_memsz - 1, &object));
    CHECK_EQUAL(object.bias, info->dlpi_addr);
    CHECK(strcmp(object.path, info->dlpi_name) == 0);
    CHECK(object.begin <= begin && begin < object.end);
  }
  ++*(int *)compared;
  return 0;
}

static void agrees_with_the_loader(void) {
  struct loaded_object object;
  int compared = 0, here;
  CHECK(!object_table_find((uintptr_t)compare_with_table, &object));
  CHECK(object_table_refresh());
  dl_iterate_phdr(compare_with_table, &compared);
  CHECK(compared >= 3);
  CHECK_EQUAL(current->count, compared);
  for (uint32_t i = 1; i < current->count; i++) CHECK(current->objects[i - 1].end <= current->objects[i].begin);
  CHECK(!object_table_find((uintptr_t)&here, &object));
  CHECK(!object_table_find(1, &object));
  CHECK(!object_table_find(UINTPTR_MAX, &object));
}

/* ---- Libraries that are loaded and unloaded ------------------------------------------------------------- */

static void *open_library(const char *path, uintptr_t *inside) {
  void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  CHECK(library);
  *inside = (uintptr_t)dlsym(library, "library_allocate");
  CHECK(*inside);
  return library;
}

static void changes_with_the_loaders_list(const char *path) {
  struct loaded_object object;
  uintptr_t inside;
  const struct table *before = current;
  CHECK(object_table_refresh());
  CHECK(current == before); /* no new table, because no object was loaded or unloaded */
  void *library = open_library(path, &inside);
  CHECK(!object_table_find(inside, &object));
  CHECK(object_table_refresh());
  CHECK(object_table_find(inside, &object) && strcmp(object.path, path) == 0);
  CHECK(object_table_confirms(&object));
  struct loaded_object another = object;
  another.begin = current->objects[0].begin;
  CHECK(!object_table_confirms(&another));
  CHECK_EQUAL(dlclose(library), 0);
  CHECK(object_table_refresh());
  CHECK(!object_table_find(inside, &object));
  CHECK_EQUAL(mapped, 2); /* the mappings of the table and of the paths */
}

static void unreadable_objects_are_left_out(const char *path) {
  struct loaded_object object;
  uintptr_t inside;
  void *library = open_library(path, &inside);
  readable = false;
  object_table_refresh();
  CHECK(!object_table_find(inside, &object));
  readable = true;
  object_table_refresh();
  CHECK(object_table_find(inside, &object));
  CHECK_EQUAL(dlclose(library), 0);
  object_table_refresh();
}

static bool enough;
static unsigned long found_by_threads, found_by_handler;

static void find_what_stays(unsigned long *found) {
  struct loaded_object object;
  CHECK(object_table_find((uintptr_t)find_what_stays, &object));
  CHECK(object.path && object.path[0] == '\0' && object.begin < object.end);
  CHECK(object_table_find((uintptr_t)dlopen, &object));
  __atomic_fetch_add(found, 1, __ATOMIC_RELAXED);
}

static void *read_all_the_time(void *unused) {
  while (!__atomic_load_n(&enough, __ATOMIC_RELAXED)) find_what_stays(&found_by_threads);
  return unused;
}

static void on_signal(int signal) {
  find_what_stays(&found_by_handler);
  USE(signal);
}

static char *const *libraries;

static void *open_and_close(void *unused) {
  for (int i = 0; i < 2000; i++) {
    uintptr_t inside;
    struct loaded_object object = {0};
    void *library = open_library(libraries[i % 2], &inside);
    object_table_refresh(); /* makes a new table, unless another thread is making one */
    CHECK(!object_table_find(inside, &object) || (inside >= object.begin && inside < object.end));
    CHECK_EQUAL(dlclose(library), 0);
  }
  return unused;
}

static void readers_find_what_stays(void) {
  enum { THREADS = 4 };
  pthread_t threads[THREADS];
  signal(SIGALRM, on_signal);
  const struct itimerval often = {{0, 500}, {0, 500}};
  CHECK_EQUAL(setitimer(ITIMER_REAL, &often, NULL), 0);
  for (int i = 0; i < THREADS; i++)
    CHECK_EQUAL(pthread_create(&threads[i], NULL, i < 2 ? read_all_the_time : open_and_close, NULL), 0);
  for (int i = 2; i < THREADS; i++) pthread_join(threads[i], NULL);
  enough = true;
  for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL);
  CHECK_EQUAL(setitimer(ITIMER_REAL, &(struct itimerval){0}, NULL), 0);
  CHECK(found_by_threads > 0 && found_by_handler > 0);
  CHECK(mapped <= 2 + MOST_OLD_TABLES);
  CHECK_EQUAL(readers, 0);
  void *library = dlopen(libraries[0], RTLD_NOW | RTLD_LOCAL);
  object_table_refresh();
  CHECK_EQUAL(dlclose(library), 0);
  object_table_refresh();
  CHECK_EQUAL(mapped, 2);
  CHECK(bytes_of_paths < 2000); /* a path is stored only once */
}

/* ---- A reader that never ends --------------------------------------------------------------------------- */

static void lost_readers_cost_no_more_than_the_bound(void) {
  struct loaded_object object;
  uintptr_t inside = 0;
  void *library = NULL;
  readers++;
  for (unsigned i = 0; i < 3 * MOST_OLD_TABLES; i++) {
    library = open_library(libraries[i % 2], &inside);
    object_table_refresh();
    if (i < 3 * MOST_OLD_TABLES - 1) CHECK_EQUAL(dlclose(library), 0);
    object_table_refresh();
    CHECK(mapped <= 2 + MOST_OLD_TABLES);
  }
  CHECK_EQUAL(mapped, 2 + MOST_OLD_TABLES);
  CHECK(object_table_find((uintptr_t)open_library, &object));
  readers--;
  CHECK_EQUAL(dlclose(library), 0);
  object_table_refresh();
  CHECK(!object_table_find(inside, &object));
  CHECK_EQUAL(mapped, 2);
}

int main(int argc, char **argv) {
  CHECK(argc == 3);
  libraries = argv + 1;
  agrees_with_the_loader();
  changes_with_the_loaders_list(argv[1]);
  unreadable_objects_are_left_out(argv[1]);
  lost_readers_cost_no_more_than_the_bound();
  readers_find_what_stays();
  object_table_forked();
  CHECK(object_table_footprint() > 0);
  printf("found %lu times by threads, %lu times in handlers\n", found_by_threads, found_by_handler);
  return 0;
}
