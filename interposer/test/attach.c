/*
 * Tests mallometer_attach() in a running program that opens the library. The attach replaces the words in memory that
 * hold the address of malloc, free or another function of the allocator, so that every later call counts once.
 * mallometer_detach() restores every word.
 *
 *   attach LIBRARY CASE [PLUGIN]
 */
#include "attach.h"

#include <dirent.h>
#include <errno.h>
#include <link.h>
#include <malloc.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <sys/resource.h>
#include <sys/wait.h>

static const char *plugin;

/* ---- Counts -------------------------------------------------------------------------------------------- */

static void *(*volatile taken_malloc)(size_t) = malloc;
static void (*volatile taken_free)(void *) = free;

#define COUNTS(expected, ...)                                                                            \
  do {                                                                                                   \
    struct mallometer_counters before = own_counters();                                                  \
    __VA_ARGS__;                                                                                         \
    struct mallometer_counters after = own_counters();                                                   \
    CHECK_EQUAL(mallometer_allocations(&after) - mallometer_allocations(&before), expected);             \
    CHECK_EQUAL(after.frees - before.frees, expected);                                                   \
    CHECK_EQUAL(after.allocated_bytes - before.allocated_bytes, after.freed_bytes - before.freed_bytes); \
  } while (0)

static void *aligned(size_t alignment, size_t size) {
  void *object;
  CHECK_EQUAL(posix_memalign(&object, alignment, size), 0);
  return object;
}

static void read_line(void) {
  char *line = NULL;
  size_t room = 0;
  static char text[] = "a line\n";
  FILE *stream = fmemopen(text, sizeof text - 1, "r");
  CHECK_EQUAL(getline(&line, &room, stream), sizeof text - 1);
  fclose(stream);
  free(line);
}

static uint64_t allocations_of(void (*act)(void)) {
  struct mallometer_counters before = own_counters();
  act();
  struct mallometer_counters after = own_counters();
  CHECK_EQUAL(after.frees - before.frees, mallometer_allocations(&after) - mallometer_allocations(&before));
  return mallometer_allocations(&after) - mallometer_allocations(&before);
}

static void read_folder(void) {
  DIR *folder = opendir("/");
  CHECK(folder && readdir(folder));
  closedir(folder);
}

static void print_to_memory(void) {
  char *text = NULL;
  CHECK(asprintf(&text, "%d", 12345) == 5);
  free(text);
}

static void resolve_path(void) {
  char *path = realpath("/", NULL);
  CHECK(path && strcmp(path, "/") == 0);
  free(path);
}

static void every_function_counts_once(void) {
  COUNTS(1, free(malloc(100)));
  COUNTS(1, free(calloc(3, 100)));
  COUNTS(2, free(realloc(malloc(100), 2000)));
  COUNTS(1, free(realloc(NULL, 100)));
  COUNTS(2, free(reallocarray(malloc(10), 30, 30)));
  COUNTS(1, free(memalign(64, 100)));
  COUNTS(1, free(aligned_alloc(64, 128)));
  COUNTS(1, free(aligned(64, 100)));
  COUNTS(1, free(valloc(100)));
  if (!getenv("LD_PRELOAD")) COUNTS(1, free(pvalloc(100))); /* a preloaded jemalloc has no pvalloc */
  COUNTS(1, taken_free(taken_malloc(100)));
  COUNTS(1, free(malloc(1 << 20)));
  COUNTS(0, free(NULL));
  COUNTS(1, free(strdup("by the C library")));
  COUNTS(1, free(strndup("by the C library", 3)));
  CHECK(allocations_of(resolve_path) >= 1);
  CHECK(allocations_of(read_line) >= 2);
  CHECK_EQUAL(allocations_of(read_folder), 1);
  CHECK(allocations_of(print_to_memory) >= 1);
}

static void nothing_is_counted(void) {
  struct mallometer_counters start = counters();
  free(realloc(malloc(10), 100));
  free(realloc(strdup("not counted"), 1000));
  free(aligned(64, 100));
  struct mallometer_counters end = counters();
  CHECK_EQUAL(mallometer_allocations(&end), mallometer_allocations(&start));
  CHECK_EQUAL(end.frees, start.frees);
}

static void *(*in_plugin(const char *name))(size_t) {
  void *(*function)(size_t);
  find(&function, loaded(plugin, RTLD_LAZY), name);
  return function;
}

static void libraries_that_come_later_count(void) {
  void *(*allocate)(size_t) = in_plugin("library_allocate");
  COUNTS(1, free(allocate(100)));
  /* libc_malloc_debug defines malloc only under an old symbol version, which dlsym() does not find. */
  const char *allocator = getenv("LD_PRELOAD");
  if (allocator && strstr(allocator, "libc_malloc_debug")) return;
  COUNTS(1, free(((void *(*)(size_t))dlsym(RTLD_DEFAULT, "malloc"))(100)));
}

static void load_and_unload(void) { dlclose(loaded(plugin, RTLD_LAZY)); }

/* Calls mallometer_attach_check(). Returns whether the call searched memory for words to change. A search sets
 * attach_lock_ns to its duration, and hardly any two durations are equal. */
static bool check_walks(void) {
  uint64_t before = report().attach_lock_ns;
  check();
  return report().attach_lock_ns != before;
}

static void checks_walk_when_objects_come_and_go(void) {
  CHECK_EQUAL(FUNCTION(mallometer_attach_check)(), -ENODATA);
  CHECK_EQUAL(report().mode, MALLOMETER_MODE_NONE);
  attach();
  load_and_unload(); /* makes the loader look up the functions that check() needs, which changes words in memory */
  CHECK(check_walks());
  uint32_t words = report().words;
  for (int i = 0; i < 100; i++) CHECK(!check_walks());
  void *opened = dlopen(plugin, RTLD_NOW);
  CHECK(check_walks() && report().words > words);
  CHECK(!check_walks());
  dlclose(opened);
  CHECK(check_walks());
  CHECK_EQUAL(report().words, words);
  CHECK(!check_walks());
  usleep(5100000);
  CHECK(check_walks()); /* a search is due after 5 s, because a thread may have stored malloc's address meanwhile */
  CHECK(!check_walks());
  every_function_counts_once();
  detach();
  CHECK_EQUAL(FUNCTION(mallometer_attach_check)(), -ENODATA);
  CHECK_EQUAL(report().mode, MALLOMETER_MODE_NONE);
}

/* RTLD_DEEPBIND makes the loader look for a library's symbols in the library itself and its dependencies before it
 * looks in the program. */
static void deeply_bound_libraries_count(void) {
  attach();
  void *(*allocate)(size_t);
  find(&allocate, loaded(plugin, RTLD_NOW | RTLD_DEEPBIND), "library_allocate");
  COUNTS(1, free(allocate(100)));
  detach();
}

/* Attaches after another library (attach_hook.c) has hooked malloc. A call then reaches the hook first. The hook and
 * mallometer can be removed in any order. */
static void hooks_of_others_go_on(const char *hook_path) {
  void *hook = loaded(hook_path, RTLD_NOW | RTLD_LOCAL);
  __typeof__(void(void)) *put = (__typeof__(void(void)) *)dlsym(hook, "hook_put");
  __typeof__(void(void)) *take_back = (__typeof__(void(void)) *)dlsym(hook, "hook_take_back");
  int *hooked = dlsym(hook, "hook_calls");
  char *zeros = dlsym(hook, "hook_zeros");
  CHECK(put && take_back && hooked && zeros);
  put();
  free(malloc(100));
  CHECK_EQUAL(*hooked, 1);
  attach();
  CHECK(report().words > 5);
  COUNTS(1, free(malloc(100)));
  CHECK_EQUAL(*hooked, 2);
  unsigned char resident;
  CHECK_EQUAL(mincore((void *)(((uintptr_t)zeros + (60 << 20)) & ~(uintptr_t)4095), 4096, &resident), 0);
  CHECK_EQUAL(resident & 1, 0); /* The attach must not read this page of zeros. */
  COUNTS(1, free(strdup("past the hook")));
  detach();
  free(malloc(100));
  CHECK_EQUAL(*hooked, 3);
  attach();
  take_back();
  load_and_unload();
  check();
  COUNTS(1, free(malloc(100)));
  CHECK_EQUAL(*hooked, 3);
  put();
  COUNTS(1, free(malloc(100)));
  CHECK_EQUAL(*hooked, 4);
  detach();
  free(malloc(100)); /* the hook still calls mallometer's function, which passes the call on */
  CHECK_EQUAL(*hooked, 5);
}

static void counts(void) {
  CHECK_EQUAL(report().state, MALLOMETER_STATE_NOT_PRELOADED);
  CHECK_EQUAL(report().mode, MALLOMETER_MODE_NONE);
  attach();
  struct mallometer_report self = report();
  CHECK_EQUAL(self.state, MALLOMETER_STATE_COUNTING);
  CHECK_EQUAL(self.mode, MALLOMETER_MODE_ATTACHED);
  CHECK(self.words > 3);
  CHECK_EQUAL(self.words_refused, 0);
  CHECK_EQUAL(self.calls_unseen, 0);
  CHECK(self.since_ns > 0 && self.attach_lock_ns > 0);
  CHECK_EQUAL(strlen(self.reason), 0);
  every_function_counts_once();
  libraries_that_come_later_count();
  attach();
  CHECK(report().words >= self.words);
  CHECK_EQUAL(report().since_ns, self.since_ns);
  every_function_counts_once();
  detach();
  CHECK_EQUAL(report().state, MALLOMETER_STATE_NOT_PRELOADED);
  nothing_is_counted();
  CHECK_EQUAL(FUNCTION(mallometer_detach)(), -ENODATA);
  attach();
  every_function_counts_once();
  detach();
}

static void counts_after_it_was_switched_off(void) {
  attach();
  CHECK_EQUAL(FUNCTION(mallometer_disable)(), 0);
  check();
  CHECK_EQUAL(report().state, MALLOMETER_STATE_DISABLED);
  COUNTS(0, free(malloc(100)));
  detach();
  CHECK_EQUAL(FUNCTION(mallometer_enable)(), -ENODATA);
  attach();
  CHECK_EQUAL(report().state, MALLOMETER_STATE_COUNTING);
  CHECK_EQUAL(counters().flags & MALLOMETER_INCOMPLETE, 0);
  every_function_counts_once();
  detach();
}

/* ---- Live bytes ---------------------------------------------------------------------------------------- */

/* Returns the most bytes of free chunks that a thread's cache can hold. glibc reports these bytes as in use. */
static uint64_t most_in_cache(void) {
  const char *tunables = getenv("GLIBC_TUNABLES");
  return tunables && strstr(tunables, "tcache_count=0") ? 0 : 240912;
}

static void is_in_use(uint64_t bytes) {
  uint64_t most = most_in_cache();
  CHECK(bytes <= in_use() && in_use() - bytes <= most);
}

static uint64_t chunk_bytes(void *object) { return ((size_t *)object)[-1] & ~(size_t)7; }

static void live_bytes_know_what_was_before(void) {
  enum { OBJECTS = 1000 };
  static void *before[OBJECTS];
  uint64_t bytes = 0;
  for (int i = 0; i < OBJECTS; i++) {
    before[i] = malloc(2000 + (size_t)i * 13);
    bytes += chunk_bytes(before[i]);
  }
  void *large = malloc(5 << 20);
  bytes += chunk_bytes(large);
  attach();
  struct mallometer_counters start = counters();
  CHECK_EQUAL(start.flags, 0);
  is_in_use(start.live_bytes);
  if (most_in_cache() > 0) CHECK_EQUAL(start.baseline_error_bytes, 0);
  CHECK_EQUAL(start.baseline_bytes, start.live_bytes);
  CHECK(start.baseline_bytes > bytes && start.peak_live_bytes >= start.live_bytes);
  for (int i = 0; i < OBJECTS; i++) free(before[i]);
  free(large);
  struct mallometer_counters end = counters();
  CHECK_EQUAL(start.live_bytes - end.live_bytes, bytes);
  CHECK_EQUAL(end.baseline_bytes, start.baseline_bytes);
  void *more = malloc(20 << 20);
  CHECK_EQUAL(counters().live_bytes, end.live_bytes + chunk_bytes(more));
  CHECK(counters().peak_live_bytes >= counters().live_bytes);
  free(more);
  CHECK(counters().peak_live_bytes >= end.live_bytes + (20 << 20));
  detach();
  void *between = malloc(3 << 20);
  attach();
  is_in_use(counters().live_bytes);
  CHECK_EQUAL(counters().baseline_bytes, counters().live_bytes);
  CHECK(counters().peak_live_bytes < (20 << 20));
  free(between);
  is_in_use(counters().live_bytes);
  detach();
}

/* ---- Words that the attach changes --------------------------------------------------------------------- */

static struct memory before;

static void nothing_differs(void) {
  struct differences differences = differences_since(&before);
  CHECK_EQUAL(differences.words, 0);
  CHECK_EQUAL(differences.protections, 0);
}

/* Calls functions for the first time, so that the loader stores their addresses now. The test would take a later
 * store for a change by the attach. */
static void warm_up(void) {
  free(strdup("x"));
  void *opened = dlopen(plugin, RTLD_LAZY);
  (void)dlsym(opened, "library_allocate");
  dlclose(opened);
  (void)dlsym(RTLD_DEFAULT, "mallometer_nothing");
  (void)dlerror();
  report();
}

static void remember_memory(void) {
  warm_up();
  copy_memory(&before);
}

static void words_are_as_they_were(void) {
  remember_memory();
  for (int i = 0; i < 3; i++) {
    attach();
    CHECK(differences_since(&before).words > 5);
    CHECK_EQUAL(differences_since(&before).protections, 0);
    free(strdup("x"));
    detach();
    nothing_differs();
  }
}

/* The tunable glibc.cpu.plt_rewrite makes the loader rewrite calls as direct jumps in programs linked with -z
 * mark-plt. The attach cannot change such calls, and the report must say so. */
static void rewritten_calls_are_told(void) {
  remember_memory();
  attach();
  if (report().calls_unseen == 0) {
    printf("not available: no call was rewritten\n");
    exit(77);
  }
  printf("%u calls unseen: %s\n", report().calls_unseen, report().reason);
  CHECK(strstr(report().reason, "incomplete"));
  check();
  CHECK(strstr(report().reason, "incomplete"));
  free(realloc(malloc(100), 200));
  detach();
  nothing_differs();
}

static void no_filter(void) {}

static void refuses(int error, const char *reason, void (*filters)(void)) {
  remember_memory();
  filters();
  CHECK_EQUAL(FUNCTION(mallometer_attach)(), error);
  printf("%s\n", report().reason);
  CHECK(strstr(report().reason, reason));
  nothing_differs();
  nothing_is_counted();
  CHECK_EQUAL(report().state, MALLOMETER_STATE_NOT_PRELOADED);
  CHECK_EQUAL(FUNCTION(mallometer_detach)(), -ENODATA);
}

static void seals(void) {
  enum { SYS_MSEAL = 462 };
  for (int i = 0; i < before.count; i++) {
    const struct area *area = &before.areas[i];
    if (!area->copy || area->protection[1] == 'w') continue;
    if (syscall(SYS_MSEAL, area->begin, area->end - area->begin, 0) != 0) {
      printf("not available: mseal\n");
      exit(77);
    }
  }
}

static void words_of_sealed_pages_are_written(void) {
  remember_memory();
  seals();
  attach();
  every_function_counts_once();
  detach();
  nothing_differs();
}

static void is_refused_beside_another_copy(void) {
  int result = FUNCTION(mallometer_attach)();
  if (result != -EALREADY) fprintf(stderr, "%s\n", report().reason);
  CHECK_EQUAL(result, -EALREADY);
  CHECK(strstr(report().reason, "another copy"));
}

static void global_copies_are_told_apart(const char *own_path, const char *other_path) {
  void *own = library, *other = dlopen(other_path, RTLD_NOW | RTLD_LOCAL);
  CHECK(other && other != own);
  remember_memory();
  attach();
  CHECK(dlopen(other_path, RTLD_NOW | RTLD_GLOBAL) == other);
  check();
  every_function_counts_once();
  library = other;
  is_refused_beside_another_copy();
  library = own;
  detach();
  nothing_differs();
  library = other;
  attach();
  library = own;
  is_refused_beside_another_copy();
  CHECK(dlopen(own_path, RTLD_NOW | RTLD_GLOBAL) == own);
  library = other;
  check();
  every_function_counts_once();
  detach();
  nothing_differs();
}

static void is_refused_beside_another_version(const char *path) {
  CHECK(dlopen(path, RTLD_NOW | RTLD_LOCAL));
  is_refused_beside_another_copy();
}

static void copies_do_not_meet(const char *other_path) {
  void *first = library;
  attach();
  open_library(other_path);
  CHECK(library != first);
  is_refused_beside_another_copy();
  void *second = library;
  library = first;
  every_function_counts_once();
  detach();
  library = second;
  attach();
  every_function_counts_once();
  library = first;
  CHECK_EQUAL(FUNCTION(mallometer_attach)(), -EALREADY);
  library = second;
  detach();
}

/* ---- Filters of system calls --------------------------------------------------------------------------- */

enum refusal { REFUSE_OPENING = 1, REFUSE_CLOSING = 2, REFUSE_FILE = 4 };

/* Installs a filter that refuses openat() with exactly the flags O_RDONLY | O_CLOEXEC. The library opens files with
 * these flags; the program itself does not. */
static void filter_reading(void) {
  struct sock_filter program[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_openat, 1, 0),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[2])),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, O_RDONLY | O_CLOEXEC, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EACCES),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  install(program, sizeof program / sizeof *program);
}

/* Installs a filter that forbids mprotect() with write permission (REFUSE_OPENING), mprotect() without it
 * (REFUSE_CLOSING) or writes to files at an offset (REFUSE_FILE). */
static void filter(int refusals) {
  struct sock_filter program[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_pwrite64, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, refusals & REFUSE_FILE ? SECCOMP_RET_ERRNO | EPERM : SECCOMP_RET_ALLOW),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_mprotect, 1, 0),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[2])),
      BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, PROT_WRITE, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, refusals & REFUSE_OPENING ? SECCOMP_RET_ERRNO | EPERM : SECCOMP_RET_ALLOW),
      BPF_STMT(BPF_RET | BPF_K, refusals & REFUSE_CLOSING ? SECCOMP_RET_ERRNO | EPERM : SECCOMP_RET_ALLOW),
  };
  install(program, sizeof program / sizeof *program);
}

static void filter_closing(uintptr_t begin, uintptr_t end) {
  struct sock_filter program[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_mprotect, 0, 8),
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[2])),
      BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, PROT_WRITE, 6, 0),
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[0]) + 4),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)(begin >> 32), 0, 4),
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[0])),
      BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, (uint32_t)begin, 0, 2),
      BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, (uint32_t)end, 1, 0),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  install(program, sizeof program / sizeof *program);
}

static int range_of_plugin(struct dl_phdr_info *info, size_t size, void *range) {
  (void)size;
  if (!strstr(plugin, info->dlpi_name) || !*info->dlpi_name) return 0;
  uintptr_t *ends = range;
  for (int i = 0; i < info->dlpi_phnum; i++) {
    if (info->dlpi_phdr[i].p_type != PT_GNU_RELRO) continue;
    ends[0] = (info->dlpi_addr + info->dlpi_phdr[i].p_vaddr) & ~(uintptr_t)4095;
    ends[1] = info->dlpi_addr + info->dlpi_phdr[i].p_vaddr + info->dlpi_phdr[i].p_memsz;
  }
  return 1;
}

static void page_that_stays_open_is_told(void) {
  uintptr_t range[2] = {0, 0};
  CHECK(dlopen(plugin, RTLD_NOW));
  dl_iterate_phdr(range_of_plugin, range);
  CHECK(range[1] > range[0]);
  remember_memory();
  filter_closing(range[0], range[1]);
  CHECK_EQUAL(FUNCTION(mallometer_attach)(), -EACCES);
  CHECK(strstr(report().reason, "forbids changes"));
  CHECK(report().words_refused > 0);
  CHECK_EQUAL(FUNCTION(mallometer_detach)(), -ENODATA);
  struct differences found = differences_since(&before);
  CHECK_EQUAL(found.words, 0);
  CHECK_EQUAL(found.protections, 1);
}

static void filter_writing(void) { filter(REFUSE_OPENING | REFUSE_FILE); }

static void works_under(int refusals) {
  remember_memory();
  filter(refusals);
  attach();
  every_function_counts_once();
  detach();
  nothing_differs();
}

/* Forbids reading /proc/self/maps after the attach. The detach then cannot restore the pointers that the attach
 * changed: later calls still pass through the library, but are not counted. */
static void counts_on_without_mappings(void) {
  attach();
  uint32_t words = report().words;
  load_and_unload();
  filter_reading();
  check();
  CHECK(strstr(report().reason, "incomplete") && report().words == words);
  every_function_counts_once();
  CHECK_EQUAL(FUNCTION(mallometer_detach)(), -EACCES);
  nothing_is_counted();
}

/* Detaches while the process has no free file descriptor, so that the library cannot open /proc/self/maps. The
 * detach then cannot restore the pointers that the attach changed. A later attach and detach with free descriptors
 * restores them all. */
static void goes_back_when_mappings_can_be_read(void) {
  struct rlimit few, limit;
  CHECK_EQUAL(getrlimit(RLIMIT_NOFILE, &limit), 0);
  few = (struct rlimit){0, limit.rlim_max};
  remember_memory();
  attach();
  uint32_t words = report().words;
  for (int i = 0; i < 2; i++) {
    CHECK_EQUAL(setrlimit(RLIMIT_NOFILE, &few), 0);
    CHECK_EQUAL(FUNCTION(mallometer_detach)(), -EACCES);
    CHECK_EQUAL(FUNCTION(mallometer_detach)(), -EACCES);
    CHECK_EQUAL(FUNCTION(mallometer_attach_check)(), -ENODATA);
    CHECK_EQUAL(setrlimit(RLIMIT_NOFILE, &limit), 0);
    CHECK_EQUAL(report().state, MALLOMETER_STATE_NOT_PRELOADED);
    CHECK_EQUAL(report().words_refused, words);
    CHECK(strstr(report().reason, "call mallometer_detach() again"));
    CHECK(differences_since(&before).words > 5);
    struct mallometer_counters start = counters();
    free(strdup("not counted")); /* is bound already: another function would add a word to the next attach */
    struct mallometer_counters end = counters();
    CHECK_EQUAL(mallometer_allocations(&end), mallometer_allocations(&start));
    if (i > 0) break;
    attach();
    every_function_counts_once();
  }
  detach();
  nothing_differs();
  CHECK_EQUAL(FUNCTION(mallometer_detach)(), -ENODATA);
}

/* Installs a filter of system calls after the attach. The detach then restores words on read-only pages through
 * /proc/self/mem. */
static void goes_back_under(int refusals) {
  remember_memory();
  attach();
  filter(refusals);
  detach();
  nothing_differs();
}

static void passes_on_when_nothing_goes_back(void) {
  remember_memory();
  attach();
  filter(REFUSE_OPENING | REFUSE_FILE);
  int result = FUNCTION(mallometer_detach)();
  if (result == 0) nothing_differs(); /* the pointers to restore were all on writable pages */
  CHECK(result == 0 || (result == -EACCES && report().words_refused > 0));
  CHECK_EQUAL(differences_since(&before).protections, 0);
  CHECK_EQUAL(report().mode, MALLOMETER_MODE_NONE);
  nothing_is_counted();
}

static void *attach_while_cancelled(void *result) {
  pthread_cancel(pthread_self()); /* takes effect at the first cancellation point */
  *(int *)result = FUNCTION(mallometer_attach)();
  return NULL;
}

/* Cancels a thread while it attaches. The thread must first release the locks of the attach, because otherwise no
 * other thread could attach or detach. */
static void attach_is_not_cancelled(void) {
  int result = 1;
  pthread_t thread;
  report();
  CHECK_EQUAL(pthread_create(&thread, NULL, attach_while_cancelled, &result), 0);
  pthread_join(thread, NULL);
  CHECK_EQUAL(result, 0);
  every_function_counts_once();
  detach();
}

static void allocate_in_handler(int unused) {
  (void)unused;
  free(malloc(100));
}

/* The attach calls malloc to test whether the call is counted. A signal handler allocates during this test, so the
 * attach must repeat the test. */
static void handlers_allocate_meanwhile(void) {
  int *interruptions = dlsym(RTLD_DEFAULT, "interruptions");
  CHECK(interruptions);
  signal(SIGUSR1, allocate_in_handler);
  *interruptions = 2;
  attach();
  CHECK_EQUAL(*interruptions, 0);
  every_function_counts_once();
  detach();
}

/* ---- Processes ----------------------------------------------------------------------------------------- */

static void in_child(void (*act)(void)) {
  pid_t child = fork();
  CHECK(child >= 0);
  if (child == 0) {
    act();
    _exit(0);
  }
  int status;
  CHECK(waitpid(child, &status, 0) == child);
  CHECK_EQUAL(status, 0);
}

static void child_of_attached(void) {
  every_function_counts_once();
  CHECK_EQUAL(report().mode, MALLOMETER_MODE_ATTACHED);
  CHECK_EQUAL(FUNCTION(mallometer_attach)(), -ECHILD);
  CHECK_EQUAL(FUNCTION(mallometer_attach_check)(), -ECHILD);
  CHECK_EQUAL(FUNCTION(mallometer_detach)(), -ECHILD);
  every_function_counts_once();
}

static void child_of_other(void) {
  CHECK_EQUAL(FUNCTION(mallometer_attach)(), -ECHILD);
  free(strdup("x"));
}

static void forks(void) {
  in_child(child_of_other);
  attach();
  in_child(child_of_attached);
  detach();
  in_child(child_of_other);
}

static void preloaded(void) {
  CHECK_EQUAL(report().mode, MALLOMETER_MODE_PRELOADED);
  CHECK_EQUAL(FUNCTION(mallometer_attach)(), -EALREADY);
  CHECK_EQUAL(FUNCTION(mallometer_detach)(), -ENODATA);
  CHECK_EQUAL(counters().since_ns, 0);
  struct mallometer_counters s = counters();
  CHECK_EQUAL(s.live_bytes, mallometer_live_bytes(&s));
  every_function_counts_once();
}

/* ---- Call sites ---------------------------------------------------------------------------------------- */

static int live_samples_of(uint32_t site) {
  enum { ROWS = 10000 };
  static struct mallometer_object rows[ROWS];
  int count = FUNCTION(mallometer_objects)(rows, ROWS), found = 0;
  for (int i = 0; i < count; i++) found += rows[i].site == site;
  return found;
}

#define COUNTS_FREES(expected, ...)                             \
  do {                                                          \
    struct mallometer_counters before = own_counters();         \
    __VA_ARGS__;                                                \
    CHECK_EQUAL(own_counters().frees - before.frees, expected); \
  } while (0)

static void samples_are_taken(void) {
  enum { OBJECTS = 100, ROWS = 4000 };
  static struct mallometer_site rows[ROWS];
  static void *kept[OBJECTS];
  attach();
  CHECK(FUNCTION(mallometer_sites)(rows, ROWS, 0) >= 0);
  for (volatile int i = 0; i < OBJECTS; i++) kept[i] = malloc(50000);
  int count = FUNCTION(mallometer_sites)(rows, ROWS, 0), found = -1;
  for (int i = 0; i < count; i++) {
    if (rows[i].allocated.samples == OBJECTS && rows[i].allocated.bytes >= OBJECTS * 50000.0) found = i;
  }
  CHECK(found >= 0);
  CHECK(rows[found].frames > 1 && rows[found].freed.samples == 0);
  for (int i = 0; i < OBJECTS / 2; i++) free(kept[i]);
  FUNCTION(mallometer_sites)(rows, ROWS, 0);
  CHECK_EQUAL(rows[found].freed.samples, OBJECTS / 2);
  CHECK_EQUAL(live_samples_of((uint32_t)found), OBJECTS / 2);
  detach();
  for (int i = OBJECTS / 2; i < OBJECTS - 10; i++) free(kept[i]); /* the library does not see these frees */
  attach();
  CHECK_EQUAL(live_samples_of((uint32_t)found), 0);
  FUNCTION(mallometer_sites)(rows, ROWS, 0);
  CHECK_EQUAL(rows[found].freed.samples, OBJECTS);
  CHECK(rows[found].freed.bytes == rows[found].allocated.bytes);
  COUNTS_FREES(10, for (int i = OBJECTS - 10; i < OBJECTS; i++) free(kept[i]));
  FUNCTION(mallometer_sites)(rows, ROWS, 0);
  CHECK_EQUAL(rows[found].freed.samples, OBJECTS);
  for (volatile int i = 0; i < OBJECTS; i++) kept[i] = malloc(50000); /* reuses some of the old addresses */
  for (int i = 0; i < OBJECTS; i++) free(kept[i]);
  FUNCTION(mallometer_sites)(rows, ROWS, 0);
  CHECK(rows[found].freed.samples <= rows[found].allocated.samples);
  detach();
}

/* The attach does not intercept dlopen(), so mallometer learns of a later library at the next
 * mallometer_attach_check(). From then on recorded stacks contain its frames. */
static void stacks_lead_through_later_libraries(void) {
  enum { OBJECTS = 10, ROWS = 4000 };
  static struct mallometer_site rows[ROWS];
  attach();
  CHECK(FUNCTION(mallometer_sites)(rows, ROWS, 0) >= 0);
  void *(*allocate)(size_t) = in_plugin("library_allocate");
  CHECK_EQUAL(FUNCTION(mallometer_attach_check)(), 0);
  for (volatile int i = 0; i < OBJECTS; i++) free(allocate(61234));
  int count = FUNCTION(mallometer_sites)(rows, ROWS, 0), found = 0;
  for (int i = 0; i < count; i++) {
    uint64_t innermost = 0, begin = (uint64_t)(uintptr_t)allocate;
    CHECK(FUNCTION(mallometer_site_stack)((uint32_t)i, &innermost, 1) >= 0);
    if (innermost > begin && innermost - begin < 100 && rows[i].frames > 2) found += (int)rows[i].allocated.samples;
  }
  CHECK_EQUAL(found, OBJECTS);
  detach();
}

enum { PLACED_OBJECTS = 20000 };
static void *placed_objects[PLACED_OBJECTS];

static __attribute__((noinline)) void *keeper(size_t size) {
  void *object = malloc(size);
  USE(object);
  return object;
}

static struct mallometer_observation observed(void) {
  struct mallometer_observation o = {0};
  CHECK_EQUAL(FUNCTION(mallometer_leaks)(&o), 0);
  return o;
}

static bool is_placed(const void *object) { return (uintptr_t)object < UINT32_MAX; }

static uint32_t slots_in_use(void) {
  struct mallometer_observation now = observed();
  uint32_t sum = 0;
  for (int i = 0; i < MALLOMETER_SLOT_CLASSES; i++) sum += now.slots_in_use[i];
  return sum;
}

static int live_samples_placed(void) {
  enum { ROWS = 100 };
  /* mallometer_objects() writes the objects in slots (pages of their own) first, so a hundred rows suffice. */
  static struct mallometer_object rows[ROWS];
  int count = FUNCTION(mallometer_objects)(rows, ROWS), found = 0;
  for (int i = 0; i < count && i < ROWS; i++) found += rows[i].placement > 0;
  return found;
}

/* Detaches while objects are in slots (pages of their own). The program then frees and reallocates them without the
 * library. */
static void placed_objects_outlive_the_library(void) {
  attach();
  CHECK_EQUAL(FUNCTION(mallometer_configure)(MALLOMETER_OPTION_SHORTEST_EPOCH, 10), 0);
  CHECK_EQUAL(FUNCTION(mallometer_configure)(MALLOMETER_OPTION_EPOCH_OVER_COST, 10), 0);
  CHECK_EQUAL(FUNCTION(mallometer_leaks_start)(), 0);
  while (observed().state == MALLOMETER_LEAKS_STARTING) usleep(1000);
  if (observed().state != MALLOMETER_LEAKS_ON) {
    printf("not available: %s\n", observed().reason);
    exit(77);
  }
  int count = 0, placed = 0;
  for (int round = 0; placed < 10 && round < 1000; round++, usleep(5000)) {
    for (int i = 0; i < 20 && count < PLACED_OBJECTS; i++) {
      placed_objects[count] = memset(keeper(3000), 0x5a, 3000);
      placed += is_placed(placed_objects[count++]);
    }
  }
  CHECK(placed >= 10);
  detach();
  int moved = 0, kept = 0;
  for (int i = 0; i < count; i++) {
    unsigned char *object = placed_objects[i];
    for (int k = 0; k < 3000; k++) CHECK_EQUAL(object[k], 0x5a);
    if (is_placed(object) && moved++ % 3 == 0) {
      placed_objects[kept++] = object;
      continue;
    }
    if (is_placed(object) && moved % 3 == 1) object = realloc(object, 10000);
    for (int k = 0; k < 3000; k++) CHECK_EQUAL(object[k], 0x5a);
    free(object);
  }
  attach();
  CHECK_EQUAL(slots_in_use(), (uint32_t)kept);
  CHECK_EQUAL(observed().retired, (uint64_t)(placed - kept));
  CHECK_EQUAL(live_samples_placed(), 0);
  for (int i = 0; i < kept; i++) {
    for (int k = 0; k < 3000; k++) CHECK_EQUAL(((unsigned char *)placed_objects[i])[k], 0x5a);
    COUNTS_FREES(1, free(placed_objects[i]));
  }
  CHECK_EQUAL(slots_in_use(), 0);
  for (int i = 0; i < 1000; i++) free(keeper(3000));
  usleep(50000);
  CHECK_EQUAL(FUNCTION(mallometer_leaks_stop)(), 0);
  detach();
}

/* The library must not place objects on pages of its own under libc_malloc_debug, whose checks would take such an
 * object for a corrupt one. */
static void nothing_is_placed(void) {
  attach();
  CHECK_EQUAL(FUNCTION(mallometer_leaks_start)(), 0);
  while (observed().state == MALLOMETER_LEAKS_STARTING) usleep(1000);
  CHECK(observed().state != MALLOMETER_LEAKS_ON);
  printf("%s\n", observed().reason);
  CHECK(strlen(observed().reason) > 0);
  for (int i = 0; i < 2000; i++) {
    void *object = keeper(3000);
    CHECK(!is_placed(object));
    free(object);
  }
  every_function_counts_once();
  CHECK_EQUAL(FUNCTION(mallometer_leaks_stop)(), 0);
  detach();
}

static void recording_is_written(const char *path) {
  attach();
  struct mallometer_recording_status recording = {0};
  CHECK_EQUAL(FUNCTION(mallometer_record)(path), 0);
  CHECK_EQUAL(FUNCTION(mallometer_recording)(&recording), 0);
  CHECK_EQUAL(recording.state, MALLOMETER_RECORDING_ON);
  CHECK_EQUAL(access(path, R_OK), 0);
  unlink(path);
  detach();
}

static int64_t length_of(const char *path) {
  int file = open(path, O_RDONLY);
  int64_t length = lseek(file, 0, SEEK_END);
  close(file);
  return length;
}

/* Detaches while the file of the termination message describes a rise of memory. The detach empties the file, and the
 * library must not write to it afterwards. */
static void message_goes_with_the_detach(void) {
  enum { RISE = 192 };
  static void *objects[RISE];
  char path[] = "/tmp/mallometer-attach-XXXXXX";
  CHECK_EQUAL(close(mkstemp(path)), 0);
  alarm(120);
  attach();
  struct mallometer_site site;
  CHECK(FUNCTION(mallometer_sites)(&site, 1, 0) >= 0); /* a rise is described only if call sites are recorded */
  CHECK_EQUAL(FUNCTION(mallometer_message_start)(path), 0);
  while (length_of(path) == 0) { /* the library must read the memory once before it can see a rise */
    for (int i = 0; i < RISE; i++) memset(objects[i] = malloc(1 << 20), 1, 1 << 20);
    for (int i = 0; i < 300 && length_of(path) == 0; i++) usleep(10000);
    for (int i = 0; i < RISE && length_of(path) == 0; i++) free(objects[i]);
  }
  CHECK_EQUAL(length_of(path), 1024);
  detach();
  for (int i = 0; i < 100 && length_of(path) != 0; i++) usleep(10000); /* the library may still be writing */
  for (int i = 0; i < 50; i++, usleep(10000)) CHECK_EQUAL(length_of(path), 0);
  CHECK_EQUAL(FUNCTION(mallometer_message_stop)(), 0);
  unlink(path);
}

/* ---- Under load ---------------------------------------------------------------------------------------- */

static volatile bool stop;
static uint64_t operations, opened;

/* Sleeps 0.1 ms after every 500 steps, so that the attaching thread gets a processor and the locks of glibc's
 * arenas. The attaching thread needs these locks to read the live bytes. */
static void *allocate_and_check(void *seed) {
  uint32_t random = (uint32_t)(uintptr_t)seed;
  unsigned char *live[64] = {0};
  size_t sizes[64] = {0};
  uint64_t done = 0;
  for (; !stop; done++) {
    random = random * 1103515245u + 12345u;
    unsigned i = random >> 8 & 63;
    size_t size = 1 + (random >> 14 & 4095);
    if (done % 500 == 499) usleep(100);
    CHECK(!live[i] || live[i][sizes[i] - 1] == (unsigned char)sizes[i]);
    unsigned kind = random >> 28;
    if (kind == 0) {
      live[i] = realloc(live[i], size);
    } else {
      free(live[i]);
      if (kind == 1) live[i] = calloc(1, size);
      if (kind == 2) live[i] = memalign(64, size);
      if (kind == 3) live[i] = aligned(32, size);
      if (kind == 4) live[i] = (unsigned char *)strdup("some text"), size = sizeof "some text";
      if (kind > 4) live[i] = malloc(size);
    }
    sizes[i] = size;
    live[i][size - 1] = (unsigned char)size;
  }
  for (int i = 0; i < 64; i++) free(live[i]);
  __atomic_fetch_add(&operations, done, __ATOMIC_RELAXED);
  return NULL;
}

static void forked_child(void) {
  CHECK_EQUAL(differences_since(&before).protections, 0);
  free(strdup("in a child"));
}

static void *fork_often(void *unused) {
  for (; !stop; usleep(3000)) {
    in_child(forked_child);
    pid_t child = vfork();
    if (child == 0) execl("/bin/true", "true", (char *)NULL);
    CHECK(child > 0 && waitpid(child, NULL, 0) == child);
  }
  return unused;
}

static void *once(void *unused) {
  free(malloc(100));
  return unused;
}

static void *open_and_close(void *unused) {
  for (; !stop; opened++) {
    void *handle = loaded(plugin, RTLD_LAZY), *(*allocate)(size_t);
    find(&allocate, handle, "library_allocate");
    free(allocate(10));
    dlclose(handle);
    pthread_t thread;
    if (pthread_create(&thread, NULL, once, NULL) == 0) pthread_join(thread, NULL);
  }
  return unused;
}

static void comes_and_goes(int cycles) {
  enum { WORKERS = 4, OTHERS = 2 };
  pthread_t threads[WORKERS + OTHERS];
  remember_memory();
  for (uintptr_t i = 0; i < WORKERS; i++) {
    CHECK_EQUAL(pthread_create(&threads[i], NULL, allocate_and_check, (void *)(i * 7919 + 1)), 0);
  }
  CHECK_EQUAL(pthread_create(&threads[WORKERS], NULL, open_and_close, NULL), 0);
  CHECK_EQUAL(pthread_create(&threads[WORKERS + 1], NULL, fork_often, NULL), 0);
  for (int i = 0; i < cycles; i++) {
    attach();
    if (i % 16 == 0) usleep(500);
    detach();
  }
  stop = true;
  for (int i = 0; i < WORKERS + OTHERS; i++) pthread_join(threads[i], NULL);
  printf("%d cycles, %" PRIu64 " operations, %" PRIu64 " libraries opened\n", cycles, operations, opened);
  attach(); /* a further attach and detach restore a word that the loader may have written during the last detach */
  detach();
  nothing_differs();
}

/* ---- Forks during attaches and detaches ---------------------------------------------------------------- */

static int least_words;

/* Checks that the attach changed either all words or none, and that each page has its original protection. */
static void is_whole(void) {
  struct differences found = differences_since(&before);
  CHECK_EQUAL(found.protections, 0);
  CHECK(found.words == 0 || found.words >= least_words);
  free(strdup("in a child"));
}

static void *fork_without_pause(void *unused) {
  for (; !stop; __atomic_fetch_add(&operations, 1, __ATOMIC_RELAXED)) in_child(is_whole);
  return unused;
}

static void children_are_whole(int cycles) {
  enum { FORKING = 3 };
  pthread_t threads[FORKING];
  warm_up();
  in_child(forked_child);
  copy_memory(&before);
  attach();
  least_words = differences_since(&before).words;
  detach();
  nothing_differs();
  CHECK(least_words > 5);
  for (int i = 0; i < FORKING; i++) CHECK_EQUAL(pthread_create(&threads[i], NULL, fork_without_pause, NULL), 0);
  for (int done = 0; done < cycles;) {
    int result = FUNCTION(mallometer_attach)();
    CHECK(result == 0 || result == -EBUSY);
    while (result == 0 && (result = FUNCTION(mallometer_detach)()) == -EBUSY) result = 0;
    done += result == 0;
  }
  stop = true;
  for (int i = 0; i < FORKING; i++) pthread_join(threads[i], NULL);
  printf("%d cycles, %" PRIu64 " children\n", cycles, operations);
  nothing_differs();
}

static void sums_are_right_under_load(void) {
  enum { WORKERS = 4 };
  pthread_t threads[WORKERS];
  attach();
  struct mallometer_counters start = counters();
  for (uintptr_t i = 0; i < WORKERS; i++) {
    CHECK_EQUAL(pthread_create(&threads[i], NULL, allocate_and_check, (void *)(i * 7919 + 1)), 0);
  }
  int walks = 0;
  for (int i = 0; i < 20; i++) {
    load_and_unload();
    walks += check_walks();
    usleep(10000);
  }
  CHECK(walks >= 18); /* check_walks() misses a search that takes exactly as long as the previous one */
  stop = true;
  for (int i = 0; i < WORKERS; i++) pthread_join(threads[i], NULL);
  struct mallometer_counters end = counters();
  CHECK(mallometer_allocations(&end) > mallometer_allocations(&start) + operations / 2);
  /* Live bytes may grow a little: the C library keeps memory of ended threads for later threads. */
  CHECK(end.live_bytes - start.live_bytes < 10000);
  detach();
}

int main(int argc, char **argv) {
  CHECK(argc >= 3);
  open_library(argv[1]);
  plugin = argc > 3 ? argv[3] : NULL;
  const char *name = argv[2];
#define CASE(text, ...)          \
  if (strcmp(name, text) == 0) { \
    __VA_ARGS__;                 \
    return 0;                    \
  }
  CASE("counts", counts())
  CASE("checks", checks_walk_when_objects_come_and_go())
  CASE("switched_off", counts_after_it_was_switched_off())
  CASE("deepbind", deeply_bound_libraries_count())
  CASE("hooked", hooks_of_others_go_on(argv[4]))
  CASE("live", live_bytes_know_what_was_before())
  CASE("words", words_are_as_they_were())
  CASE("rewritten", rewritten_calls_are_told())
  CASE("forbidden", refuses(-EPERM, argv[4], no_filter))
  CASE("refused", refuses(-ENOTSUP, argv[4], no_filter))
  CASE("not_opened", works_under(REFUSE_OPENING))
  CASE("not_closed", works_under(REFUSE_CLOSING))
  CASE("not_written", refuses(-EACCES, "forbids changes", filter_writing))
  CASE("not_opened_later", goes_back_under(REFUSE_OPENING))
  CASE("not_closed_later", goes_back_under(REFUSE_CLOSING))
  CASE("not_written_later", passes_on_when_nothing_goes_back())
  CASE("not_read", refuses(-EACCES, "protection of mappings", filter_reading))
  CASE("not_read_later", counts_on_without_mappings())
  CASE("not_read_for_a_moment", goes_back_when_mappings_can_be_read())
  CASE("stays_open", page_that_stays_open_is_told())
  CASE("sealed", words_of_sealed_pages_are_written())
  CASE("copies", copies_do_not_meet(argv[4]))
  CASE("global_copies", global_copies_are_told_apart(argv[1], argv[4]))
  CASE("preloaded_copy", is_refused_beside_another_copy())
  CASE("another_version", is_refused_beside_another_version(argv[4]))
  CASE("cancelled", attach_is_not_cancelled())
  CASE("interrupted", handlers_allocate_meanwhile())
  CASE("forks", forks())
  CASE("preloaded", preloaded())
  CASE("samples", samples_are_taken())
  CASE("later", stacks_lead_through_later_libraries())
  CASE("placed", placed_objects_outlive_the_library())
  CASE("not_placed", nothing_is_placed())
  CASE("recorded", recording_is_written(argv[4]))
  CASE("message", message_goes_with_the_detach())
  CASE("cycles", comes_and_goes(atoi(argv[4])))
  CASE("children", children_are_whole(atoi(argv[4])))
  CASE("load", sums_are_right_under_load())
  fprintf(stderr, "no such case: %s\n", name);
  return 1;
}
