/*
 * Tests the baseline: the library's estimate of the bytes that were live before mallometer_attach(). After all threads
 * with caches of free chunks have ended, the test compares the library's live bytes with glibc's. Some cases have so
 * many free chunks that asking glibc would lock an arena for too long.
 *
 * Usage: attach_baseline LIBRARY CASE
 */
#include <dirent.h>
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/personality.h>
#include <sys/wait.h>

#include "attach.h"

/* ---- Threads' caches ----------------------------------------------------------------------------------- */

enum { THREADS = 40, OBJECTS = 200 };
static pthread_barrier_t barrier;

static void *fill_cache(void *seed) {
  uint32_t random = (uint32_t)(uintptr_t)seed;
  void *objects[OBJECTS] = {0};
  for (int i = 0; i < 20000; i++) {
    random = random * 1103515245u + 12345u;
    unsigned k = (random >> 8) % OBJECTS;
    free(objects[k]);
    objects[k] = malloc(1 + (random >> 12) % 1500);
  }
  for (int i = 0; i < OBJECTS / 2; i++) free(objects[i]);
  pthread_barrier_wait(&barrier); /* tells the main thread that the cache is full */
  pthread_barrier_wait(&barrier); /* waits until the library is attached */
  free(malloc(100));
  pthread_barrier_wait(&barrier);
  for (int i = OBJECTS / 2; i < OBJECTS; i++) free(objects[i]);
  return NULL;
}

static bool sleeps(const char *id) {
  char path[64], text[512] = "";
  snprintf(path, sizeof path, "/proc/self/task/%.20s/stat", id);
  FILE *file = fopen(path, "r");
  if (!file) return true; /* the thread has ended */
  size_t length = fread(text, 1, sizeof text - 1, file);
  fclose(file);
  text[length] = '\0';
  const char *end_of_name = strrchr(text, ')');
  return end_of_name && end_of_name[2] == 'S';
}

/* Waits until all other threads sleep, because the library cannot count a call of malloc or free that began before
 * the attach and ends after it. */
static void wait_until_others_sleep(void) {
  for (bool all = false; !all;) {
    DIR *folder = opendir("/proc/self/task");
    CHECK(folder);
    all = true;
    for (struct dirent *entry; (entry = readdir(folder));) {
      bool is_other = entry->d_name[0] != '.' && atoi(entry->d_name) != (int)syscall(SYS_gettid);
      if (is_other && !sleeps(entry->d_name)) all = false;
    }
    closedir(folder);
    if (!all) usleep(1000);
  }
}

/* Forbids get_robust_list(), as a sandbox may do. The library then cannot find the caches of other threads. */
static void filter_lists_of_threads(void) {
  struct sock_filter program[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_get_robust_list, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  install(program, sizeof program / sizeof *program);
}

static void caches_are_no_part_of_it(bool are_read) {
  if (!are_read) filter_lists_of_threads();
  pthread_t threads[THREADS];
  pthread_barrier_init(&barrier, NULL, THREADS + 1);
  for (uintptr_t i = 0; i < THREADS; i++) {
    CHECK_EQUAL(pthread_create(&threads[i], NULL, fill_cache, (void *)(i * 77 + 1)), 0);
  }
  pthread_barrier_wait(&barrier);
  wait_until_others_sleep();
  uint64_t with_caches = in_use();
  attach();
  struct mallometer_counters start = counters();
  if (are_read) {
    CHECK_EQUAL(start.baseline_error_bytes, 0);
    CHECK(start.baseline_bytes + (1 << 20) < with_caches);
  } else {
    CHECK(start.baseline_error_bytes >= THREADS * 200000 && start.baseline_error_bytes <= THREADS * 250000);
  }
  pthread_barrier_wait(&barrier);
  pthread_barrier_wait(&barrier);
  struct mallometer_counters met = counters();
  CHECK(met.baseline_error_bytes < (are_read ? 1 : 65536 + THREADS * 7280));
  CHECK(met.baseline_bytes + (1 << 20) < with_caches);
  CHECK(met.live_bytes + (1 << 20) < with_caches);
  for (int i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
  int64_t difference = (int64_t)(in_use() - counters().live_bytes);
  printf("live bytes are %" PRId64 " off, of %" PRIu64 "\n", difference, counters().live_bytes);
  /* glibc counts free chunks in this thread's cache as live. The library's error is at most baseline_error_bytes: a
   * thread whose cache it could not read reports the cache in its first malloc or free after the attach, and that
   * malloc or free may change the cache first. */
  CHECK(difference >= -(int64_t)counters().baseline_error_bytes && difference < 65536);
  detach();
}

static volatile bool stop;

static int events_between_pauses;

/* Sleeps 0.1 ms now and then, so that the attaching thread gets the locks of glibc's arenas. */
static void *allocate_often(void *seed) {
  uint32_t random = (uint32_t)(uintptr_t)seed;
  void *objects[OBJECTS] = {0};
  for (int i = 0; !stop; i++) {
    if (i % events_between_pauses == 0) usleep(100);
    random = random * 1103515245u + 12345u;
    unsigned k = (random >> 8) % OBJECTS;
    free(objects[k]);
    objects[k] = malloc(1 + (random >> 12) % 1500);
  }
  for (int i = 0; i < OBJECTS; i++) free(objects[i]);
  return NULL;
}

/* Calls check() until the baseline has no error. Threads that are still ending cause an error. */
static void check_until_exact(void) {
  for (int i = 0; i < 1000 && counters().baseline_error_bytes > 0; i++) {
    check();
    usleep(10000);
  }
}

/* Attaches while threads allocate, and again after the threads have ended. The second baseline is exact. The live
 * bytes of the first attach may differ from it by at most baseline_error_bytes. */
static void busy_threads_are_within_the_error(bool is_corrected) {
  events_between_pauses = is_corrected ? 50000 : 500;
  enum { BUSY = 4, ROUNDS = 20 };
  pthread_t threads[BUSY];
  int small = 0;
  for (int round = 0; round < ROUNDS; round++) {
    stop = false;
    for (uintptr_t i = 0; i < BUSY; i++) {
      CHECK_EQUAL(pthread_create(&threads[i], NULL, allocate_often, (void *)(i * 77 + 1)), 0);
    }
    usleep(20000);
    attach();
    int64_t error = (int64_t)counters().baseline_error_bytes;
    stop = true;
    for (int i = 0; i < BUSY; i++) pthread_join(threads[i], NULL);
    if (is_corrected) {
      check_until_exact();
      printf("error %" PRId64 " at first\n", error);
      error = 0;
    }
    CHECK_EQUAL(counters().baseline_error_bytes, error);
    int64_t live = (int64_t)counters().live_bytes;
    detach();
    attach();
    check_until_exact();
    CHECK_EQUAL(counters().baseline_error_bytes, 0);
    int64_t difference = (int64_t)counters().baseline_bytes - live;
    printf("live bytes are %" PRId64 " off, of %" PRId64 ", with an error of %" PRId64 "\n", difference, live, error);
    CHECK(difference >= -error && difference <= error);
    small += error < (1 << 20);
    detach();
  }
  CHECK(small >= ROUNDS / 2); /* the library may fail to read caches on a busy machine */
}

extern void __libc_free(void *object);
extern void *__libc_malloc(size_t size);

static void *object_in_event;
static bool allocates;

/* Simulates a thread that loses its processor at the first instruction of glibc's malloc or free before the attach,
 * and continues after it. The library cannot count this call. */
static void *begin_event_before_attach(void *unused) {
  free(malloc(100)); /* lets glibc create the thread's arena */
  pthread_barrier_wait(&barrier);
  while (!stop) continue;
  if (allocates) {
    object_in_event = __libc_malloc(1000);
  } else {
    __libc_free(object_in_event);
  }
  return unused;
}

static void event_in_progress_is_within_the_error(bool is_allocation) {
  enum { CHUNK = 1008 };
  pthread_t thread;
  allocates = is_allocation;
  object_in_event = is_allocation ? NULL : malloc(1000);
  pthread_barrier_init(&barrier, NULL, 2);
  CHECK_EQUAL(pthread_create(&thread, NULL, begin_event_before_attach, NULL), 0);
  pthread_barrier_wait(&barrier);
  attach();
  CHECK_EQUAL(counters().flags, 0);
  int64_t error = (int64_t)counters().baseline_error_bytes, baseline = (int64_t)counters().baseline_bytes;
  stop = true;
  pthread_join(thread, NULL);
  printf("error %" PRId64 " during the event\n", error);
  CHECK(error >= CHUNK);
  check_until_exact();
  CHECK_EQUAL(counters().baseline_error_bytes, 0);
  CHECK_EQUAL((int64_t)counters().baseline_bytes - baseline, is_allocation ? CHUNK : -CHUNK);
  detach();
}

/* ---- Free chunks --------------------------------------------------------------------------------------- */

static void free_chunks(size_t count, size_t size, bool known) {
  void **objects = calloc(2 * count, sizeof *objects);
  for (size_t i = 0; i < 2 * count; i++) objects[i] = malloc(size);
  for (size_t i = 0; i < 2 * count; i += 2) free(objects[i]);
  attach();
  struct mallometer_counters s = counters();
  printf("%zu free chunks of %zu bytes: flags %u, baseline %" PRIu64 " with an error of %" PRIu64 "\n", count, size,
         s.flags, s.baseline_bytes, s.baseline_error_bytes);
  CHECK_EQUAL(s.flags, known ? 0 : MALLOMETER_BASELINE_UNKNOWN);
  CHECK((s.baseline_bytes > count * size) == known);
  CHECK((s.baseline_error_bytes > count * size) == !known);
  for (size_t i = 1; i < 2 * count; i += 2) free(objects[i]);
  free(objects);
  CHECK((int64_t)counters().live_bytes >= 0 && counters().live_bytes < 1 << 20);
  detach();
}

/* Makes live objects whose first word points into the heap, so that they look like free chunks in a fast bin. */
static void linked_objects(size_t count) {
  void **list = NULL;
  for (size_t i = 0; i < count; i++) {
    void **object = calloc(1, 40);
    *object = list;
    list = object;
  }
  attach();
  CHECK_EQUAL(counters().flags, 0);
  CHECK(counters().baseline_bytes > count * 40);
  detach();
}

static void *free_chunks_of_thread(void *unused) {
  free_chunks(200000, 200, false);
  return unused;
}

/* Frees chunks in a thread's heap. The main heap has `gib` times 1000 MiB, and thus more pages than the library may
 * read to estimate free chunks. */
static void free_chunks_behind(size_t gib) {
  mallopt(M_MMAP_MAX, 0);
  for (size_t i = 0; i < gib; i++) CHECK(malloc((size_t)1000 << 20));
  pthread_t thread;
  CHECK_EQUAL(pthread_create(&thread, NULL, free_chunks_of_thread, NULL), 0);
  pthread_join(thread, NULL);
}

static pthread_barrier_t all_have_arenas;

static void *use_arena(void *unused) {
  CHECK(malloc((size_t)60 << 20));
  pthread_barrier_wait(&all_have_arenas);
  return unused;
}

static void *free_chunks_of_first_arena(void *unused) {
  free(malloc(2000));
  pthread_barrier_wait(&barrier);
  pthread_barrier_wait(&barrier);
  free_chunks(60000, 200, false);
  return unused;
}

/* Frees chunks in the first of many arenas. All heaps together have more pages than the library reads for its
 * estimate. The library must not skip the first arena's heap, which comes last in address order, because new heaps
 * get lower addresses. */
static void free_chunks_behind_arenas(unsigned arenas) {
  pthread_t threads[arenas], first;
  mallopt(M_MMAP_MAX, 0);
  mallopt(M_ARENA_MAX, (int)arenas + 2);
  pthread_barrier_init(&barrier, NULL, 2);
  pthread_barrier_init(&all_have_arenas, NULL, arenas);
  CHECK_EQUAL(pthread_create(&first, NULL, free_chunks_of_first_arena, NULL), 0);
  pthread_barrier_wait(&barrier);
  for (unsigned i = 0; i < arenas; i++) CHECK_EQUAL(pthread_create(&threads[i], NULL, use_arena, NULL), 0);
  for (unsigned i = 0; i < arenas; i++) pthread_join(threads[i], NULL);
  pthread_barrier_wait(&barrier);
  pthread_join(first, NULL);
}

/* Stops the growth of the data segment. The main arena then grows elsewhere, where the library does not find it. The
 * kernel and the library may merge a writable page that lies directly behind the break with the heap. */
static void break_cannot_grow(int protection, size_t distance) {
  char *behind = (char *)sbrk(0) + distance;
  CHECK(mmap(behind, 4096, protection, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0) == behind);
  free_chunks(5000, 200, false);
}

enum { MOVING = 64 };

/* Lets the main heap grow and shrink by 6 MiB, in steps of 100 to 200 KiB. */
static void *move_break(void *unused) {
  void *objects[MOVING];
  while (!stop) {
    for (int i = 0; i < MOVING; i++) objects[i] = malloc(100000);
    for (int i = MOVING; i-- > 0;) free(objects[i]);
  }
  return unused;
}

/* The break may move while the library reads the mappings, and then lie outside of the heap that it has read. */
static void break_moves(void) {
  enum { ATTACHES = 50 };
  pthread_t thread;
  int unknown = 0;
  mallopt(M_ARENA_MAX, 1);
  CHECK_EQUAL(pthread_create(&thread, NULL, move_break, NULL), 0);
  for (int i = 0; i < ATTACHES; i++) {
    attach();
    unknown += (counters().flags & MALLOMETER_BASELINE_UNKNOWN) != 0;
    detach();
  }
  stop = true;
  pthread_join(thread, NULL);
  printf("%d baselines of %d are unknown\n", unknown, ATTACHES);
  CHECK_EQUAL(unknown, 0);
}

/* Starts the program anew without random addresses, so that the heap of brk(2) begins where the program's data end. */
static void use_fixed_addresses(char **argv) {
  int now = personality(0xffffffff);
  if (now != -1 && now & ADDR_NO_RANDOMIZE) return;
  if (now != -1 && personality((unsigned long)now | ADDR_NO_RANDOMIZE) >= 0) execv("/proc/self/exe", argv);
  printf("not available: personality\n");
  exit(77);
}

static void no_chunk_below_break(void) {
  void *object = malloc(100);
  char *end = sbrk(0);
  if ((char *)object < end && end - (char *)object < 1 << 24) {
    printf("not available: glibc.malloc.hugetlb\n");
    exit(77);
  }
  free_chunks(5000, 200, false);
}

/* ---- Memory that malloc did not map -------------------------------------------------------------------- */

/* Maps memory that is not malloc's. The library may read a word in every 64 MiB of it, but must not make a page
 * resident or read a file. */
static void leaves_untouched(size_t bytes, int flags, int file, bool known) {
  const size_t step = (size_t)64 << 20;
  char *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, flags | MAP_NORESERVE, file, 0);
  if (memory == MAP_FAILED) {
    printf("not available: so much address space\n");
    exit(77);
  }
  attach();
  CHECK_EQUAL(counters().flags, known ? 0 : MALLOMETER_BASELINE_UNKNOWN);
  uintptr_t at = ((uintptr_t)memory + step - 1) & ~(step - 1);
  for (; at < (uintptr_t)memory + bytes; at += step) {
    unsigned char is_there;
    CHECK_EQUAL(mincore((void *)at, 4096, &is_there), 0);
    CHECK_EQUAL(is_there & 1, 0);
  }
  munmap(memory, bytes);
  detach();
}

static int sparse_file(size_t bytes) {
  int file = (int)syscall(SYS_memfd_create, "sparse", 0);
  CHECK(file >= 0);
  CHECK_EQUAL(ftruncate(file, (off_t)bytes), 0);
  return file;
}

static void child_has_no_memory_of_parent(void) {
  char path[64], target[256];
  for (int file = 3; file < 64; file++) {
    snprintf(path, sizeof path, "/proc/self/fd/%d", file);
    ssize_t length = readlink(path, target, sizeof target - 1);
    target[length > 0 ? length : 0] = '\0';
    if (strstr(target, "/mem") || strstr(target, "/pagemap")) _exit(1);
  }
  _exit(0);
}

static void *fork_often(void *unused) {
  while (!stop) {
    int status;
    pid_t child = fork();
    if (child == 0) child_has_no_memory_of_parent();
    CHECK(child > 0 && waitpid(child, &status, 0) == child);
    CHECK_EQUAL(status, 0);
  }
  return unused;
}

static void children_have_no_memory_of_parent(void) {
  pthread_t thread;
  CHECK_EQUAL(pthread_create(&thread, NULL, fork_often, NULL), 0);
  for (int i = 0; i < 50; i++) {
    attach();
    CHECK_EQUAL(counters().flags, 0);
    detach();
  }
  stop = true;
  pthread_join(thread, NULL);
}

/* ---- Drift: the difference between the library's live bytes and glibc's -------------------------------- */

static void *live_with_cache(void *unused) {
  free(malloc(100));
  pthread_barrier_wait(&barrier);
  pthread_barrier_wait(&barrier);
  free(malloc(100));
  pthread_barrier_wait(&barrier);
  pthread_barrier_wait(&barrier);
  return unused;
}

/* Waits at most a minute. */
static void compare_anew(void) {
  const double begin = seconds();
  struct mallometer_report before = report(), now;
  do {
    poll(NULL, 0, 10);
    check();
    now = report();
  } while (now.drift_bytes == before.drift_bytes && now.drift_bound_bytes == before.drift_bound_bytes &&
           seconds() - begin < 60);
}

/* The library does not see the memory that glibc and the loader allocate for a thread, so its live bytes differ from
 * glibc's, by at most drift_bound_bytes. Only a larger difference must be reported as a gap. */
static void gaps_show_above_the_bound_of_threads(unsigned count) {
  pthread_t threads[count + 1];
  pthread_barrier_init(&barrier, NULL, count + 1);
  for (unsigned i = 0; i < count; i++) {
    CHECK_EQUAL(pthread_create(&threads[i], NULL, live_with_cache, NULL), 0);
  }
  pthread_barrier_wait(&barrier);
  attach();
  pthread_barrier_wait(&barrier);
  pthread_barrier_wait(&barrier);
  check_until_exact();
  CHECK(__libc_malloc(800));
  compare_anew();
  const uint64_t bound = report().drift_bound_bytes;
  printf("%u threads: %" PRId64 " bytes differ, up to %" PRIu64 " may\n", count, report().drift_bytes, bound);
  CHECK(report().drift_bytes >= 800 && (uint64_t)report().drift_bytes <= bound);
  CHECK(bound <= 16384);
  CHECK_EQUAL(strlen(report().reason), 0);
  CHECK(__libc_malloc(bound + 65536));
  compare_anew();
  CHECK((uint64_t)report().drift_bytes > report().drift_bound_bytes);
  CHECK(strstr(report().reason, "incomplete"));
  pthread_barrier_wait(&barrier);
  for (unsigned i = 0; i < count; i++) pthread_join(threads[i], NULL);
  detach();
}

static void frees_past_the_library_show(bool are_read) {
  if (!are_read) filter_lists_of_threads();
  enum { BIG = 1000 };
  static void *objects[BIG];
  attach();
  for (int i = 0; i < BIG; i++) objects[i] = malloc(50000);
  attach();
  CHECK(report().drift_bound_bytes < (are_read ? 1 << 17 : 1 << 20));
  CHECK((report().drift_bound_bytes > 200000) == !are_read);
  CHECK(report().drift_bytes >= 0 && (uint64_t)report().drift_bytes <= report().drift_bound_bytes);
  CHECK_EQUAL(strlen(report().reason), 0);
  for (int i = 0; i < BIG; i++) __libc_free(objects[i]);
  while (report().drift_bytes >= 0) { /* comparisons are rare, because they may take only 0.1 % of the time */
    usleep(10000);
    attach();
  }
  CHECK(report().drift_bytes < -(int64_t)BIG * 50000 + 500000);
  CHECK(strstr(report().reason, "incomplete"));
  printf("%s\n", report().reason);
  detach();
}

/* ---- The pause between comparisons --------------------------------------------------------------------- */

/* Makes the kernel send SIGSYS instead of running this system call of the calling thread. */
static void trap(uint32_t system_call, void (*handler)(int)) {
  struct sock_filter program[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, system_call, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRAP),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  signal(SIGSYS, handler);
  install(program, sizeof program / sizeof *program);
}

static bool slept;

static void sleep_once(int signal) {
  (void)signal;
  bool again = __atomic_exchange_n(&slept, true, __ATOMIC_SEQ_CST);
  if (!again) poll(NULL, 0, 2000);
}

/* Holds the lock of the main arena for two seconds: malloc_trim() calls madvise() under the lock, and the trapped call
 * sleeps. */
static void *lock_main_arena(void *unused) {
  trap(SYS_madvise, sleep_once);
  malloc_trim(0);
  for (;;) pause(); /* A thread's end calls madvise() with signals blocked; the trapped call would kill the process. */
  return unused;
}

/* The longer a comparison waits for glibc, the later the next comparison must come. */
static void slow_comparison_is_seldom(void) {
  void *object = malloc((size_t)10 << 20);
  void *trimmed[] = {malloc(100000), malloc(100000)}, *behind = malloc(1000);
  free(trimmed[0]);
  free(trimmed[1]);
  attach();
  pthread_t thread;
  CHECK_EQUAL(pthread_create(&thread, NULL, lock_main_arena, NULL), 0);
  while (!__atomic_load_n(&slept, __ATOMIC_SEQ_CST)) usleep(100);
  check();
  CHECK(report().drift_bound_bytes > 0);
  int64_t drift = report().drift_bytes;
  __libc_free(object);
  for (int i = 0; i < 300; i++) {
    usleep(10000);
    check();
    CHECK_EQUAL(report().drift_bytes, drift);
  }
  free(behind);
  detach();
}

/* A comparison that takes long without a wait for glibc must not delay the next one. Here the library's pause between
 * two readings lasts two seconds, as if other programs had the processors. */
static void delayed_comparison_is_not_seldom(void) {
  void *object = malloc((size_t)10 << 20);
  attach();
  trap(SYS_clock_nanosleep, sleep_once);
  double begin = seconds();
  check();
  CHECK(slept && seconds() - begin >= 1.5);
  __libc_free(object);
  compare_anew();
  printf("the next comparison after %.1f s\n", seconds() - begin);
  CHECK(report().drift_bytes < -(10 << 20) + 65536);
  detach();
}

int main(int argc, char **argv) {
  CHECK(argc == 3);
  open_library(argv[1]);
#define CASE(text, ...)             \
  if (strcmp(argv[2], text) == 0) { \
    __VA_ARGS__;                    \
    return 0;                       \
  }
  CASE("caches", caches_are_no_part_of_it(true))
  CASE("caches_that_threads_tell", caches_are_no_part_of_it(false))
  CASE("busy_threads", busy_threads_are_within_the_error(false))
  CASE("busier_threads", busy_threads_are_within_the_error(true))
  CASE("allocation_in_progress", event_in_progress_is_within_the_error(true))
  CASE("free_in_progress", event_in_progress_is_within_the_error(false))
  CASE("unseen_frees", frees_past_the_library_show(true))
  CASE("unseen_frees_and_caches", frees_past_the_library_show(false))
  CASE("gap", gaps_show_above_the_bound_of_threads(0))
  CASE("gap_and_threads", gaps_show_above_the_bound_of_threads(9))
  CASE("forks", children_have_no_memory_of_parent())
  CASE("slow_comparison", slow_comparison_is_seldom())
  CASE("delayed_comparison", delayed_comparison_is_not_seldom())
  CASE("few_free_chunks", free_chunks(5000, 200, true))
  CASE("many_free_chunks", free_chunks(200000, 200, false))
  CASE("many_in_fast_bins", free_chunks(200000, 40, false))
  CASE("linked_objects", linked_objects(200000))
  CASE("free_chunks_behind_a_large_heap", free_chunks_behind(24))
  CASE("free_chunks_behind_many_arenas", free_chunks_behind_arenas(300))
  CASE("break_that_cannot_grow", break_cannot_grow(PROT_NONE, 4096))
  CASE("break_before_a_mapping", break_cannot_grow(PROT_READ | PROT_WRITE, 0))
  CASE("break_that_moves", break_moves())
  CASE("large_pages", no_chunk_below_break())
  CASE("large_pages_and_fixed_addresses", {
    use_fixed_addresses(argv);
    no_chunk_below_break();
  })
  const size_t gib = (size_t)1 << 30;
  CASE("untouched_memory", leaves_untouched(100 * gib, MAP_PRIVATE | MAP_ANONYMOUS, -1, true))
  CASE("untouched_file", leaves_untouched(100 * gib, MAP_SHARED, sparse_file(100 * gib), true))
  CASE("untouched_private_file", leaves_untouched(100 * gib, MAP_PRIVATE, sparse_file(100 * gib), true))
  CASE("too_much_memory", leaves_untouched(2048 * gib, MAP_PRIVATE | MAP_ANONYMOUS, -1, false))
  CASE("many_of_thread", {
    pthread_t thread;
    CHECK_EQUAL(pthread_create(&thread, NULL, free_chunks_of_thread, NULL), 0);
    pthread_join(thread, NULL);
  })
  fprintf(stderr, "no such case: %s\n", argv[2]);
  return 1;
}
