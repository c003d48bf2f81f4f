/* Tests monitors: callbacks of the program that the library calls once for each allocation and each free ("event").
 * Events in a callback must call no monitor. The library must not access a monitor after it was unregistered. */
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"
#include "measured.h"

extern void *memalign(size_t, size_t), *valloc(size_t), *pvalloc(size_t), *reallocarray(void *, size_t, size_t);

/* ---- A monitor that records its events ----------------------------------------------------------------- */

struct heard {
  void *object;
  size_t requested, actual;
  bool is_free;
};

struct log {
  struct heard events[64];
  unsigned count;
};

static void log_allocated(void *context, void *object, size_t requested, size_t actual) {
  struct log *log = context;
  if (log->count < 64) log->events[log->count] = (struct heard){object, requested, actual, false};
  log->count++;
}

static void log_freed(void *context, void *object, size_t actual) {
  struct log *log = context;
  if (log->count < 64) log->events[log->count] = (struct heard){object, 0, actual, true};
  log->count++;
}

static int registered(void *context, void (*allocated)(void *, void *, size_t, size_t),
                      void (*freed)(void *, void *, size_t)) {
  const struct mallometer_monitor monitor = {context, allocated, freed};
  int number = mallometer_monitor_register(&monitor);
  CHECK(number > 0);
  return number;
}

static struct log heard;
static int log_number;

static void begin(void) {
  heard.count = 0;
  log_number = registered(&heard, log_allocated, log_freed);
}

static void end(unsigned count) {
  CHECK_EQUAL(mallometer_monitor_unregister((uint32_t)log_number), 0);
  CHECK_EQUAL(heard.count, count);
}

static void is_allocation(unsigned i, void *object, size_t requested, uint64_t actual) {
  CHECK(!heard.events[i].is_free);
  CHECK_EQUAL(heard.events[i].object, object);
  CHECK_EQUAL(heard.events[i].requested, requested);
  CHECK_EQUAL(heard.events[i].actual, actual);
}

static void is_free(unsigned i, void *object, uint64_t actual) {
  CHECK(heard.events[i].is_free);
  CHECK_EQUAL(heard.events[i].object, object);
  CHECK_EQUAL(heard.events[i].actual, actual);
}

/* ---- Functions of malloc's family ----------------------------------------------------------------------- */

#define ONCE(requested, expression)              \
  do {                                           \
    begin();                                     \
    void *volatile object = expression;          \
    end(1);                                      \
    CHECK(object);                               \
    uint64_t actual = unit_size(object);         \
    is_allocation(0, object, requested, actual); \
    begin();                                     \
    free(object);                                \
    end(1);                                      \
    is_free(0, object, actual);                  \
  } while (0)

static void *posix_aligned(size_t alignment, size_t size) {
  void *object;
  return posix_memalign(&object, alignment, size) == 0 ? object : NULL;
}

static void family(void) {
  ONCE(0, malloc(0));
  ONCE(64, malloc(64));
  ONCE(40000, malloc(40000)); /* the library serves requests above 32 KiB by other code */
  ONCE(100u << 20, malloc(100u << 20));
  ONCE(600, calloc(6, 100));
  ONCE(60000, calloc(6, 10000));
  ONCE(77, realloc(NULL, 77));
  ONCE(700, reallocarray(NULL, 7, 100));
  ONCE(300, memalign(256, 300));
  ONCE(512, aligned_alloc(256, 512));
  ONCE(300, posix_aligned(4096, 300));
  ONCE(100, valloc(100));
  ONCE((size_t)sysconf(_SC_PAGESIZE), pvalloc(100));
  ONCE(6, strdup("seven")); /* the C library calls malloc */
}

static void reallocs(void) {
  void *volatile object = malloc(100);
  for (size_t size = 200; size <= 3u << 20; size *= 4) {
    void *volatile old = object;
    uint64_t before = unit_size(object);
    begin();
    object = realloc(object, size);
    end(2);
    is_free(0, old, before);
    is_allocation(1, object, size, unit_size(object));
  }
  begin();
  CHECK(!realloc(object, (size_t)PTRDIFF_MAX));
  end(0);
  uint64_t last = unit_size(object);
  begin();
  void *nothing = realloc(object, 0);
  if (nothing) { /* the allocator returns an object of 0 bytes */
    end(2);
    free(nothing);
  } else {
    end(1);
  }
  is_free(0, object, last);
}

static void no_events(void) {
  begin();
  free(NULL);
  void *volatile none = malloc((size_t)PTRDIFF_MAX);
  volatile size_t many = SIZE_MAX / 2;
  void *volatile other = calloc(many, 4);
  end(0);
  CHECK(!none && !other);
}

/* ---- Several monitors, and invalid calls ----------------------------------------------------------------- */

static void several(void) {
  static struct log logs[8];
  int numbers[8];
  for (int i = 0; i < 8; i++) numbers[i] = registered(&logs[i], i % 2 ? log_allocated : NULL, log_freed);
  const struct mallometer_monitor ninth = {NULL, log_allocated, NULL};
  CHECK_EQUAL(mallometer_monitor_register(&ninth), -EAGAIN);
  for (int i = 0; i < 8; i++) logs[i].count = 0;
  free(malloc(10));
  for (int i = 0; i < 8; i++) CHECK_EQUAL(logs[i].count, i % 2 ? 2 : 1);
  CHECK_EQUAL(mallometer_monitor_unregister((uint32_t)numbers[3]), 0);
  CHECK_EQUAL(mallometer_monitor_unregister((uint32_t)numbers[3]), -EINVAL);
  int again = registered(&logs[3], log_allocated, log_freed);
  CHECK(again != numbers[3]);
  CHECK_EQUAL(mallometer_monitor_unregister((uint32_t)numbers[3]), -EINVAL);
  numbers[3] = again;
  for (int i = 0; i < 8; i++) CHECK_EQUAL(mallometer_monitor_unregister((uint32_t)numbers[i]), 0);
}

static void refusals(void) {
  const struct mallometer_monitor monitor = {NULL, NULL, NULL};
  CHECK_EQUAL(mallometer_monitor_register(NULL), -EINVAL);
  CHECK_EQUAL(mallometer_monitor_register(&monitor), -EINVAL);
  CHECK_EQUAL(mallometer_monitor_unregister(0), -EINVAL);
  CHECK_EQUAL(mallometer_monitor_unregister(7), -EINVAL);
  CHECK_EQUAL(mallometer_monitor_unregister(8), -EINVAL);
  CHECK_EQUAL(mallometer_monitor_unregister(UINT32_MAX), -EINVAL);
}

/* ---- Callbacks ------------------------------------------------------------------------------------------- */

/* Volatile, because callbacks change these variables during malloc(), while the compiler assumes that malloc() does
 * not. */
static volatile unsigned calls, depth;

static void allocates(void *context, void *object, size_t requested, size_t actual) {
  (void)context, (void)object, (void)requested, (void)actual;
  CHECK_EQUAL(depth, 0);
  depth = 1;
  calls = calls + 1;
  void *volatile own = malloc(1000);
  own = realloc(own, 50000);
  free(own);
  errno = ERANGE;
  depth = 0;
}

static void allocates_at_free(void *context, void *object, size_t actual) { allocates(context, object, 0, actual); }

static void own_allocations(void) {
  int number = registered(NULL, allocates, allocates_at_free);
  struct log beside = {.count = 0};
  int other = registered(&beside, log_allocated, log_freed);
  struct mallometer_counters before = thread_snapshot();
  calls = beside.count = 0;
  errno = 7;
  free(malloc(10));
  CHECK_EQUAL(errno, 7);
  CHECK_EQUAL(calls, 2);
  CHECK_EQUAL(beside.count, 2); /* events in the other monitor's callback are not included */
  struct mallometer_counters d = difference(before, thread_snapshot());
  CHECK_EQUAL(mallometer_allocations(&d), 1 + 2 * 2); /* the counters include events in callbacks */
  CHECK_EQUAL(d.frees, 1 + 2 * 2);
  CHECK_EQUAL(mallometer_monitor_unregister((uint32_t)number), 0);
  CHECK_EQUAL(mallometer_monitor_unregister((uint32_t)other), 0);
}

static volatile int own_number, own_result;

static void unregisters_itself(void *context, void *object, size_t requested, size_t actual) {
  (void)context, (void)object, (void)requested, (void)actual;
  own_result = mallometer_monitor_unregister((uint32_t)own_number);
  calls = calls + 1;
}

static void unregistered_within(void) {
  own_number = registered(NULL, unregisters_itself, NULL);
  calls = 0;
  free(malloc(10));
  free(malloc(10));
  CHECK_EQUAL(own_result, -EBUSY);
  CHECK_EQUAL(calls, 1);
  CHECK_EQUAL(mallometer_monitor_unregister((uint32_t)own_number), 0);
}

static int latch[2];

static void waits(void *context, void *object, size_t requested, size_t actual) {
  (void)object, (void)actual;
  char byte = 0;
  if (requested != 12345) return;
  CHECK_EQUAL(write(((int *)context)[1], &byte, 1), 1);
  CHECK_EQUAL(read(latch[0], &byte, 1), 1);
}

static void *allocates_12345(void *unused) {
  free(malloc(12345));
  return unused;
}

static void a_callback_that_does_not_return(void) {
  int reached[2];
  CHECK(pipe(latch) == 0 && pipe(reached) == 0);
  int number = registered(reached, waits, NULL);
  pthread_t thread;
  CHECK_EQUAL(pthread_create(&thread, NULL, allocates_12345, NULL), 0);
  char byte;
  CHECK_EQUAL(read(reached[0], &byte, 1), 1);
  CHECK_EQUAL(mallometer_monitor_unregister((uint32_t)number), -EBUSY);
  CHECK_EQUAL(write(latch[1], "", 1), 1);
  CHECK_EQUAL(pthread_join(thread, NULL), 0);
  CHECK_EQUAL(mallometer_monitor_unregister((uint32_t)number), 0);
}

/* ---- Threads --------------------------------------------------------------------------------------------- */

struct sums {
  uint64_t allocations, frees, requested, allocated, freed;
};

static void add(uint64_t *sum, uint64_t value) { __atomic_fetch_add(sum, value, __ATOMIC_RELAXED); }

static void sums_allocated(void *context, void *object, size_t requested, size_t actual) {
  struct sums *sums = context;
  (void)object;
  add(&sums->allocations, 1);
  add(&sums->requested, requested);
  add(&sums->allocated, actual);
}

static void sums_freed(void *context, void *object, size_t actual) {
  struct sums *sums = context;
  (void)object;
  add(&sums->frees, 1);
  add(&sums->freed, actual);
}

static pthread_key_t late;

static void allocates_late(void *rounds) {
  free(malloc(333));
  if ((uintptr_t)rounds > 1) pthread_setspecific(late, (void *)((uintptr_t)rounds - 1));
}

static void *works(void *unused) {
  /* allocates_late() runs in three rounds of key destructors when the thread ends. The later rounds follow the
   * library's own destructor. */
  pthread_setspecific(late, (void *)3);
  void *objects[16] = {NULL};
  for (size_t i = 0; i < 20000; i++) {
    void **object = &objects[i * 7 % 16];
    if (i % 3 == 0) {
      *object = realloc(*object, 1 + i * 131 % 50000);
    } else {
      free(*object);
      *object = i % 5 ? malloc(i % 900) : memalign(64, i % 3000);
    }
  }
  for (size_t i = 0; i < 16; i++) free(objects[i]);
  return unused;
}

static void threads(void) {
  enum { THREADS = 6 };
  static struct sums sums;
  pthread_t ids[THREADS];
  CHECK_EQUAL(pthread_key_create(&late, allocates_late), 0);
  int number = registered(&sums, sums_allocated, sums_freed);
  struct sums start = sums;
  struct mallometer_counters before = snapshot();
  for (int i = 0; i < THREADS; i++) CHECK_EQUAL(pthread_create(&ids[i], NULL, works, NULL), 0);
  for (int i = 0; i < THREADS; i++) CHECK_EQUAL(pthread_join(ids[i], NULL), 0);
  struct mallometer_counters d = difference(before, snapshot());
  CHECK_EQUAL(mallometer_monitor_unregister((uint32_t)number), 0);
  CHECK(d.frees > THREADS * 10000u);
  CHECK_EQUAL(sums.allocations - start.allocations, mallometer_allocations(&d));
  CHECK_EQUAL(sums.frees - start.frees, d.frees);
  CHECK_EQUAL(sums.requested - start.requested, d.requested_bytes);
  CHECK_EQUAL(sums.allocated - start.allocated, d.allocated_bytes);
  CHECK_EQUAL(sums.freed - start.freed, d.freed_bytes);
}

static bool done;

static void *works_until_done(void *unused) {
  while (!__atomic_load_n(&done, __ATOMIC_RELAXED)) free(realloc(malloc(100), 300));
  return unused;
}

/* Waits until the monitor has received a second allocation. The first was the calling thread's own. */
static void wait_for_another_event(const struct sums *sums) {
  double begin = seconds();
  for (; __atomic_load_n(&sums->allocations, __ATOMIC_RELAXED) == 1; usleep(100)) CHECK(seconds() - begin < 60);
}

/* Registers and unregisters monitors while threads allocate. The context of an unregistered monitor is unmapped, so
 * that any access to it ends the process. */
static void under_load(void) {
  enum { THREADS = 3, ROUNDS = 2000 };
  pthread_t ids[THREADS];
  for (int i = 0; i < THREADS; i++) CHECK_EQUAL(pthread_create(&ids[i], NULL, works_until_done, NULL), 0);
  for (int i = 0; i < ROUNDS; i++) {
    struct sums *sums = mmap(NULL, sizeof *sums, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK(sums != MAP_FAILED);
    int number = registered(sums, sums_allocated, sums_freed);
    free(malloc(50));
    if (i % 50 == 0) wait_for_another_event(sums);
    CHECK_EQUAL(mallometer_monitor_unregister((uint32_t)number), 0);
    CHECK(sums->allocations >= 1 && sums->frees >= 1);
    CHECK_EQUAL(munmap(sums, sizeof *sums), 0);
  }
  __atomic_store_n(&done, true, __ATOMIC_RELAXED);
  for (int i = 0; i < THREADS; i++) CHECK_EQUAL(pthread_join(ids[i], NULL), 0);
}

static uint32_t shared_number;

static void *unregisters_again(void *unused) {
  while (!__atomic_load_n(&done, __ATOMIC_RELAXED)) {
    int result = mallometer_monitor_unregister(__atomic_load_n(&shared_number, __ATOMIC_RELAXED));
    CHECK(result == 0 || result == -EINVAL || result == -EBUSY);
  }
  return unused;
}

/* Several threads unregister the same monitor. A late call must not unregister another monitor that has taken its
 * place. */
static void unregistered_twice(void) {
  enum { THREADS = 3 };
  pthread_t ids[THREADS];
  for (int i = 0; i < THREADS; i++) CHECK_EQUAL(pthread_create(&ids[i], NULL, unregisters_again, NULL), 0);
  for (int i = 0; i < 30000; i++) {
    struct sums sums = {0};
    int number = registered(&sums, sums_allocated, NULL);
    __atomic_store_n(&shared_number, (uint32_t)number, __ATOMIC_RELAXED);
    while (mallometer_monitor_unregister((uint32_t)number) == -EBUSY) sched_yield();
    struct sums second = {0};
    number = registered(&second, sums_allocated, NULL); /* shared_number is still the number of the first monitor */
    free(malloc(20));
    CHECK(second.allocations >= 1);
    CHECK_EQUAL(mallometer_monitor_unregister((uint32_t)number), 0);
  }
  __atomic_store_n(&done, true, __ATOMIC_RELAXED);
  for (int i = 0; i < THREADS; i++) CHECK_EQUAL(pthread_join(ids[i], NULL), 0);
}

static void *registers_and_hears(void *unused) {
  for (int i = 0; i < 40000; i++) {
    struct sums sums = {0};
    int number = registered(&sums, sums_allocated, sums_freed);
    void *volatile object = malloc(20);
    CHECK(__atomic_load_n(&sums.allocations, __ATOMIC_RELAXED) >= 1);
    free(object);
    CHECK(__atomic_load_n(&sums.frees, __ATOMIC_RELAXED) >= 1);
    CHECK_EQUAL(mallometer_monitor_unregister((uint32_t)number), 0);
  }
  return unused;
}

/* Unregistering the last monitor switches monitors off. A monitor that another thread registers meanwhile must
 * nevertheless receive the next event. */
static void register_at_once(void) {
  enum { THREADS = 7 };
  pthread_t ids[THREADS];
  for (int i = 0; i < THREADS; i++) CHECK_EQUAL(pthread_create(&ids[i], NULL, registers_and_hears, NULL), 0);
  for (int i = 0; i < THREADS; i++) CHECK_EQUAL(pthread_join(ids[i], NULL), 0);
}

/* ---- Forks ----------------------------------------------------------------------------------------------- */

/* Forks while another thread is in a callback. The child does not have that thread, so unregistering must not wait
 * for it. */
static void forks(void) {
  int reached[2], status;
  CHECK(pipe(latch) == 0 && pipe(reached) == 0);
  int number = registered(reached, waits, NULL);
  pthread_t thread;
  CHECK_EQUAL(pthread_create(&thread, NULL, allocates_12345, NULL), 0);
  char byte;
  CHECK_EQUAL(read(reached[0], &byte, 1), 1);
  begin();
  pid_t child = fork();
  if (child == 0) {
    heard.count = 0;
    free(malloc(10));
    CHECK_EQUAL(heard.count, 2);
    CHECK_EQUAL(mallometer_monitor_unregister((uint32_t)number), 0);
    CHECK_EQUAL(mallometer_monitor_unregister((uint32_t)log_number), 0);
    _exit(0);
  }
  CHECK_EQUAL(waitpid(child, &status, 0), child);
  CHECK_EQUAL(status, 0);
  CHECK_EQUAL(write(latch[1], "", 1), 1);
  CHECK_EQUAL(pthread_join(thread, NULL), 0);
  CHECK_EQUAL(mallometer_monitor_unregister((uint32_t)log_number), 0);
  CHECK_EQUAL(mallometer_monitor_unregister((uint32_t)number), 0);
}

/* Tries to unregister a monitor while its callback runs in another thread. The call fails with -EBUSY and leaves the
 * monitor half removed. A forked child does not have that thread, so the removal must be complete in the child. */
static void forks_while_unregistering(void) {
  enum { PLACES = 8 };
  int reached[2], status;
  CHECK(pipe(latch) == 0 && pipe(reached) == 0);
  int number = registered(reached, waits, NULL);
  pthread_t thread;
  CHECK_EQUAL(pthread_create(&thread, NULL, allocates_12345, NULL), 0);
  char byte;
  CHECK_EQUAL(read(reached[0], &byte, 1), 1);
  CHECK_EQUAL(mallometer_monitor_unregister((uint32_t)number), -EBUSY);
  pid_t child = fork();
  if (child == 0) {
    for (int i = 0; i < PLACES; i++) CHECK(registered(&heard, log_allocated, log_freed) != number);
    CHECK_EQUAL(mallometer_monitor_unregister((uint32_t)number), -EINVAL);
    _exit(0);
  }
  CHECK_EQUAL(waitpid(child, &status, 0), child);
  CHECK_EQUAL(status, 0);
  CHECK_EQUAL(write(latch[1], "", 1), 1);
  CHECK_EQUAL(pthread_join(thread, NULL), 0);
  CHECK_EQUAL(mallometer_monitor_unregister((uint32_t)number), 0);
}

static pid_t child_of_handler;

static void handler_forks(int signal) {
  (void)signal;
  child_of_handler = fork();
}

static void raises(void *context, void *object, size_t requested, size_t actual) {
  (void)context, (void)object, (void)actual;
  if (requested == 12345) raise(SIGUSR1);
}

/* A signal handler interrupts a callback and forks. The callback must end in the child, too. */
static void forks_in_a_handler(void) {
  int status;
  signal(SIGUSR1, handler_forks);
  int number = registered(NULL, raises, NULL);
  free(malloc(12345));
  CHECK(child_of_handler >= 0);
  begin();
  free(malloc(10));
  CHECK_EQUAL(heard.count, 2);
  CHECK_EQUAL(mallometer_monitor_unregister((uint32_t)number), 0);
  end(2);
  if (child_of_handler == 0) _exit(0);
  CHECK_EQUAL(waitpid(child_of_handler, &status, 0), child_of_handler);
  CHECK_EQUAL(status, 0);
}

static void actual_sizes(void) {
  uint64_t counts[MALLOMETER_SIZE_CLASSES] = {0}, expected[MALLOMETER_SIZE_CLASSES] = {0};
  int number = registered(counts, mallometer_count_actual, NULL);
  for (size_t size = 1; size < (size_t)100 << 20; size = size * 3 / 2 + 1) {
    void *volatile object = malloc(size);
    unsigned class = 0;
    while (class < MALLOMETER_SIZE_CLASSES - 1 && unit_size(object) > mallometer_class_limit(class)) class ++;
    expected[class]++;
    free(object);
  }
  CHECK_EQUAL(mallometer_monitor_unregister((uint32_t)number), 0);
  for (unsigned i = 0; i < MALLOMETER_SIZE_CLASSES; i++) CHECK_EQUAL(counts[i], expected[i]);
}

static void counting_off(void) {
  begin();
  CHECK_EQUAL(mallometer_disable(), 0);
  free(malloc(10));
  CHECK_EQUAL(heard.count, 0);
  CHECK_EQUAL(mallometer_enable(), 0);
  free(malloc(10));
  end(2);
}

/* ---- Monitors of an attached library --------------------------------------------------------------------- */

#define RESOLVE(name)                              \
  __typeof__(name) *found_##name;                  \
  *(void **)&found_##name = dlsym(library, #name); \
  CHECK(found_##name)

static void attached(const char *file) {
  void *library = dlopen(file, RTLD_NOW);
  CHECK(library);
  RESOLVE(mallometer_attach);
  RESOLVE(mallometer_detach);
  RESOLVE(mallometer_monitor_register);
  RESOLVE(mallometer_monitor_unregister);
  const struct mallometer_monitor monitor = {&heard, log_allocated, log_freed};
  CHECK_EQUAL(found_mallometer_monitor_register(&monitor), -ENODATA);
  CHECK_EQUAL(found_mallometer_attach(), 0);
  void *volatile before = malloc(500);
  int number = found_mallometer_monitor_register(&monitor);
  CHECK(number > 0);
  heard.count = 0;
  void *volatile object = realloc(malloc(10000), 40000);
  free(before);
  free(object);
  unsigned count = heard.count;
  CHECK_EQUAL(found_mallometer_detach(), 0);
  free(malloc(100));
  CHECK_EQUAL(heard.count, count);
  CHECK_EQUAL(count, 5);
  is_free(3, before, heard.events[3].actual);
  is_free(4, object, heard.events[2].actual);
  CHECK_EQUAL(found_mallometer_monitor_unregister((uint32_t)number), 0);
}

/* ---- Cost ------------------------------------------------------------------------------------------------ */

static void nothing_allocated(void *context, void *object, size_t requested, size_t actual) {
  (void)context, (void)object, (void)requested, (void)actual;
}

static void nothing_freed(void *context, void *object, size_t actual) { (void)context, (void)object, (void)actual; }

/* Lets callgrind measure `count` pairs of malloc and free, and ends the process. `kind` is the number of registered monitors ("none", "one" or
 * "two"), or "after" if one was registered and unregistered again. */
static _Noreturn void pairs(const char *kind, long count) {
  int number = strcmp(kind, "none") == 0 ? 0 : registered(NULL, nothing_allocated, nothing_freed);
  if (strcmp(kind, "two") == 0) registered(NULL, nothing_allocated, nothing_freed);
  if (strcmp(kind, "after") == 0) CHECK_EQUAL(mallometer_monitor_unregister((uint32_t)number), 0);
  MEASURED_ROUNDS(i, count) {
    void *object = malloc(64);
    USE(object);
    free(object);
  }
  _exit(0);
}

/* ---- Early registration ------------------------------------------------------------------------------------ */

static int early_number;

/* Registers a monitor before the program's first event. The loader calls this function through .preinit_array,
 * before any constructor. musl's loader does not call it. */
static void registers_early(int count, char **arguments) {
  const struct mallometer_monitor monitor = {&heard, log_allocated, log_freed};
  if (count < 2 || strcmp(arguments[1], "early") != 0) return;
  mallometer_disable();
  mallometer_enable();
  early_number = mallometer_monitor_register(&monitor);
}

__attribute__((section(".preinit_array"), used)) static void (*const early_function)(int, char **) = registers_early;

static void early(void) {
  CHECK(early_number > 0);
  heard.count = 0;
  log_number = early_number;
  free(malloc(10));
  end(2);
}

static const struct {
  const char *name;
  void (*run)(void);
} cases[] = {
    {"family", family},
    {"reallocs", reallocs},
    {"no_events", no_events},
    {"several", several},
    {"refusals", refusals},
    {"own_allocations", own_allocations},
    {"unregistered_within", unregistered_within},
    {"a_callback_that_does_not_return", a_callback_that_does_not_return},
    {"threads", threads},
    {"under_load", under_load},
    {"register_at_once", register_at_once},
    {"unregistered_twice", unregistered_twice},
    {"early", early},
    {"forks", forks},
    {"forks_while_unregistering", forks_while_unregistering},
    {"forks_in_a_handler", forks_in_a_handler},
    {"actual_sizes", actual_sizes},
    {"counting_off", counting_off},
};

int main(int count, char **arguments) {
  CHECK(count > 1);
  if (count > 2 && strcmp(arguments[1], "attached") == 0) {
    attached(arguments[2]);
    return 0;
  }
  if (count > 2) pairs(arguments[1], atol(arguments[2]));
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    if (strcmp(cases[i].name, arguments[1]) != 0) continue;
    cases[i].run();
    return 0;
  }
  CHECK(!"no case has this name");
}
