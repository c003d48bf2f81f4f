/* Tests scopes, which count the allocations and frees of a thread or of the process while they are open. The expected
 * figures are computed by hand. Each case runs in a process of its own. */
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"
#include "measured.h"

extern void *memalign(size_t alignment, size_t size);

static uint32_t opened(uint32_t options) {
  int number = mallometer_scope_open(options);
  CHECK(number > 0);
  return (uint32_t)number;
}

static struct mallometer_scope reading(uint32_t number) {
  struct mallometer_scope figures = {0};
  CHECK_EQUAL(mallometer_scope_read(number, &figures), 0);
  return figures;
}

static struct mallometer_scope closed(uint32_t number) {
  struct mallometer_scope figures = {0};
  CHECK_EQUAL(mallometer_scope_close(number, &figures), 0);
  CHECK_EQUAL(mallometer_scope_read(number, &figures), -EINVAL);
  CHECK_EQUAL(mallometer_scope_close(number, &figures), -EINVAL);
  return figures;
}

static uint64_t calls(const struct mallometer_scope *s) {
  uint64_t sum = 0;
  for (unsigned i = 0; i < MALLOMETER_SIZE_CLASSES; i++) sum += s->allocations[i];
  return sum;
}

static void *kept(size_t size) {
  void *object = malloc(size);
  USE(object);
  return object;
}

static uint64_t unit_of(size_t size) {
  void *object = kept(size);
  uint64_t bytes = unit_size(object);
  free(object);
  return bytes;
}

#define ON_A_THREAD(body, argument)                               \
  do {                                                            \
    pthread_t other;                                              \
    CHECK_EQUAL(pthread_create(&other, NULL, body, argument), 0); \
    CHECK_EQUAL(pthread_join(other, NULL), 0);                    \
  } while (0)

/* ---- Figures of a scope ------------------------------------------------------------------------------- */

static void figures(void) {
  void *before = kept(3000);
  const uint64_t small = unit_of(100), medium = unit_size(before);
  uint32_t scope = opened(MALLOMETER_SCOPE_THREAD);
  void *a = kept(100), *b = kept(300000);
  const uint64_t large = unit_size(b);
  free(b);
  free(before);
  void *c = kept(3000);
  const uint64_t of_c = unit_size(c);
  struct mallometer_scope so_far = reading(scope);
  free(kept(100));
  struct mallometer_scope end = closed(scope);
  free(a), free(c);

  CHECK_EQUAL(calls(&so_far), 3);
  CHECK_EQUAL(calls(&end), 4);
  CHECK_EQUAL(end.allocations[3], 2); /* the size class of 100 bytes */
  CHECK_EQUAL(end.allocations[8], 1); /* the size class of 3,000 bytes */
  CHECK_EQUAL(end.frees, 3);
  CHECK_EQUAL(end.requested_bytes, 100 + 300000 + 3000 + 100);
  CHECK_EQUAL(end.net_bytes, (int64_t)(small + of_c - medium));
  CHECK_EQUAL(end.net_bytes, (int64_t)(end.allocated_bytes - end.freed_bytes));
  CHECK_EQUAL(end.freed_bytes, small + medium + large);
  CHECK_EQUAL(end.peak_bytes, small + large);
  CHECK_EQUAL(end.peak_error_bytes, 0);
  CHECK_EQUAL(end.largest_bytes, 300000);
  CHECK_EQUAL(end.largest_error_bytes, 0);
  CHECK_EQUAL(end.flags, 0);
  CHECK_EQUAL(end.temporary_allocations + end.retained_allocations, 0);
}

static void every_way_in(void) {
  uint32_t scope = opened(MALLOMETER_SCOPE_MATCHED);
  void *objects[8] = {kept(10), calloc(3, 20), memalign(256, 1000), aligned_alloc(64, 640), malloc(70000)};
  CHECK_EQUAL(posix_memalign(&objects[5], 32, 5000), 0);
  objects[6] = realloc(NULL, 50);
  uint64_t live = 0;
  for (unsigned i = 0; i < 7; i++) live += unit_size(objects[i]);
  struct mallometer_scope grown = reading(scope);
  CHECK_EQUAL(calls(&grown), 7);
  CHECK_EQUAL(grown.retained_allocations, 7);
  CHECK_EQUAL(grown.peak_bytes, live);
  CHECK_EQUAL(grown.largest_bytes, 70000);
  for (unsigned i = 0; i < 7; i++) free(objects[i]);
  struct mallometer_scope end = closed(scope);
  CHECK_EQUAL(end.temporary_allocations, 7);
  CHECK_EQUAL(end.retained_allocations, 0);
  CHECK_EQUAL(end.temporary_bytes, live);
  CHECK_EQUAL(end.foreign_frees, 0);
  CHECK_EQUAL(end.net_bytes, 0);
}

/* A realloc counts as a free and then an allocation. The peak must therefore not include the old and the new object
 * together. */
static void reallocations(uint32_t options) {
  const uint64_t small = unit_of(100), middle = unit_of(5000), large = unit_of(100000);
  void *foreign = kept(100);
  uint32_t scope = opened(options);
  void *object = kept(100);
  object = realloc(object, 5000);
  object = realloc(object, 100000);
  object = realloc(object, 100);
  CHECK(!realloc(kept(100), PTRDIFF_MAX)); /* fails, so the object of kept(100) stays live */
  foreign = realloc(foreign, 5000);
  struct mallometer_scope end = closed(scope);
  CHECK_EQUAL(calls(&end), 6);
  CHECK_EQUAL(end.frees, 4);
  CHECK_EQUAL(end.failed, 1);
  CHECK_EQUAL(end.allocated_bytes, 3 * small + 2 * middle + large);
  CHECK_EQUAL(end.peak_bytes, end.peak_bytes >= large ? large : middle + 2 * small);
  CHECK_EQUAL(end.peak_bytes, large);
  CHECK_EQUAL(end.largest_bytes, 100000);
  if (options & MALLOMETER_SCOPE_MATCHED) {
    CHECK_EQUAL(end.temporary_allocations, 3);
    CHECK_EQUAL(end.retained_allocations, 3);
    CHECK_EQUAL(end.retained_bytes, 2 * small + middle);
    CHECK_EQUAL(end.foreign_frees, 1);
    CHECK_EQUAL(end.foreign_freed_bytes, small);
  }
  free(object), free(foreign);
}

static void realloc_unmatched(void) { reallocations(MALLOMETER_SCOPE_THREAD); }
static void realloc_matched(void) { reallocations(MALLOMETER_SCOPE_MATCHED); }

static void failures(void) {
  uint32_t scope = opened(MALLOMETER_SCOPE_THREAD);
  CHECK(!malloc(PTRDIFF_MAX));
  static volatile size_t too_many = SIZE_MAX / 2;
  CHECK(!calloc(too_many, 4));
  struct mallometer_scope end = closed(scope);
  CHECK_EQUAL(end.failed, 2);
  CHECK_EQUAL(calls(&end), 0);
  CHECK_EQUAL(end.peak_bytes, 0);
  CHECK_EQUAL(end.largest_bytes, 0);
}

static void freed_from_outside(void) {
  void *objects[100];
  uint64_t bytes = 0;
  for (unsigned i = 0; i < 100; i++) bytes += unit_size(objects[i] = kept(1000));
  uint32_t scope = opened(MALLOMETER_SCOPE_MATCHED);
  for (unsigned i = 0; i < 100; i++) free(objects[i]);
  free(kept(100)); /* must not raise the peak: live bytes are lower than at the opening */
  struct mallometer_scope end = closed(scope);
  CHECK_EQUAL(end.net_bytes, -(int64_t)bytes);
  CHECK_EQUAL(end.peak_bytes, 0);
  CHECK_EQUAL(end.foreign_frees, 100);
  CHECK_EQUAL(end.foreign_freed_bytes, bytes);
  CHECK_EQUAL(end.temporary_allocations, 1);
}

static void zero_bytes(void) {
  uint32_t scope = opened(MALLOMETER_SCOPE_THREAD);
  void *object = malloc(0);
  USE(object);
  struct mallometer_scope end = closed(scope);
  free(object);
  CHECK_EQUAL(calls(&end), 1);
  CHECK_EQUAL(end.requested_bytes, 0);
  CHECK_EQUAL(end.largest_bytes, 0);
}

/* A scope's peak must be exact, whatever was allocated or freed before its opening. */
static void exact_peaks(void) {
  enum { ROUNDS = 200, MOST = 60 };
  void *objects[MOST];
  unsigned seed = 1;
  for (int round = 0; round < ROUNDS; round++) {
    uint32_t scope = opened(round % 2 ? MALLOMETER_SCOPE_MATCHED : MALLOMETER_SCOPE_THREAD);
    int64_t live = 0, peak = 0;
    uint64_t largest = 0;
    unsigned count = 0;
    for (int step = 0; step < 400; step++) {
      if (count == MOST || (count > 0 && rand_r(&seed) % 2)) {
        unsigned which = (unsigned)rand_r(&seed) % count;
        live -= (int64_t)unit_size(objects[which]);
        free(objects[which]);
        objects[which] = objects[--count];
      } else {
        size_t size = (size_t)rand_r(&seed) % (rand_r(&seed) % 8 ? 2000 : 80000) + 1;
        objects[count] = kept(size);
        live += (int64_t)unit_size(objects[count++]);
        if (live > peak) peak = live;
        if (size > largest) largest = size;
      }
    }
    struct mallometer_scope end = closed(scope);
    CHECK_EQUAL(end.peak_bytes, peak);
    CHECK_EQUAL(end.net_bytes, live);
    CHECK_EQUAL(end.largest_bytes, largest);
    if (round % 2) CHECK_EQUAL(end.retained_allocations, count);
    while (count > 0) free(objects[--count]);
  }
}

/* While every allocation is sampled, mallometer_scope_objects() must return all objects that were allocated in a
 * scope and are still live. */
static void retained_objects(void) {
  enum { KEPT = 30 };
  static struct mallometer_object rows[100];
  void *before = kept(777), *objects[KEPT];
  uint32_t scope = opened(MALLOMETER_SCOPE_MATCHED), unmatched = opened(MALLOMETER_SCOPE_THREAD);
  for (unsigned i = 0; i < KEPT; i++) {
    objects[i] = kept(1000);
    free(kept(500));
  }
  CHECK_EQUAL(mallometer_scope_objects(scope, rows, 100), KEPT);
  for (unsigned i = 0; i < KEPT; i++) CHECK(rows[i].bytes >= 1000 && rows[i].bytes < 1100 && rows[i].probability == 1);
  CHECK_EQUAL(mallometer_scope_objects(scope, rows, 10), 10);
  CHECK_EQUAL(mallometer_scope_objects(unmatched, rows, 100), -ENODATA);
  for (unsigned i = 0; i < KEPT; i++) free(objects[i]);
  CHECK_EQUAL(mallometer_scope_objects(scope, rows, 100), 0);
  (void)closed(unmatched);
  (void)closed(scope);
  CHECK_EQUAL(mallometer_scope_objects(scope, rows, 100), -EINVAL);
  free(before);
}

/* ---- Several scopes ----------------------------------------------------------------------------------- */

static void nested(void) {
  const uint64_t small = unit_of(100), large = unit_of(50000);
  uint32_t outer = opened(MALLOMETER_SCOPE_MATCHED);
  void *a = kept(100);
  uint32_t inner = opened(MALLOMETER_SCOPE_MATCHED);
  void *b = kept(50000);
  free(a);
  struct mallometer_scope of_inner = closed(inner);
  free(b);
  free(kept(100));
  struct mallometer_scope of_outer = closed(outer);
  CHECK_EQUAL(calls(&of_inner), 1);
  CHECK_EQUAL(of_inner.peak_bytes, large);
  CHECK_EQUAL(of_inner.net_bytes, (int64_t)(large - small));
  CHECK_EQUAL(of_inner.retained_allocations, 1);
  CHECK_EQUAL(of_inner.foreign_frees, 1);
  CHECK_EQUAL(calls(&of_outer), 3);
  CHECK_EQUAL(of_outer.peak_bytes, small + large); /* reached while both scopes were open */
  CHECK_EQUAL(of_outer.largest_bytes, 50000);
  CHECK_EQUAL(of_outer.temporary_allocations, 3);
  CHECK_EQUAL(of_outer.foreign_frees, 0);
}

static void closed_out_of_order(void) {
  const uint64_t small = unit_of(100), large = unit_of(50000);
  uint32_t first = opened(MALLOMETER_SCOPE_THREAD);
  void *a = kept(100);
  uint32_t second = opened(MALLOMETER_SCOPE_MATCHED), third = opened(MALLOMETER_SCOPE_THREAD);
  free(kept(50000));
  struct mallometer_scope of_second = closed(second);
  void *b = kept(100);
  struct mallometer_scope of_first = closed(first);
  free(b);
  struct mallometer_scope of_third = closed(third);
  CHECK_EQUAL(of_second.peak_bytes, large);
  CHECK_EQUAL(of_second.temporary_allocations, 1);
  CHECK_EQUAL(calls(&of_first), 3);
  CHECK_EQUAL(of_first.peak_bytes, small + large);
  CHECK_EQUAL(of_first.net_bytes, (int64_t)(2 * small));
  CHECK_EQUAL(calls(&of_third), 2);
  CHECK_EQUAL(of_third.frees, 2);
  CHECK_EQUAL(of_third.net_bytes, 0);
  free(a);
}

static void all_records_are_free(void) {
  enum { COUNT = 4096 };
  static uint32_t scopes[COUNT];
  unsigned count = 0;
  int result;
  while ((result = mallometer_scope_open(MALLOMETER_SCOPE_THREAD)) > 0) {
    CHECK(count < COUNT);
    scopes[count++] = (uint32_t)result;
  }
  CHECK_EQUAL(result, -EAGAIN);
  CHECK_EQUAL(count, COUNT);
  free(kept(1000));
  for (unsigned i = 0; i < count; i++) {
    struct mallometer_scope end = closed(scopes[i * 1237 % COUNT]);
    CHECK_EQUAL(calls(&end), 1);
    CHECK_EQUAL(end.largest_bytes, 1000);
  }
}

/* Uses a record more often than its number can count. */
static void many(void) {
  all_records_are_free();
  for (unsigned i = 0; i < 1000000; i++) CHECK_EQUAL(mallometer_scope_close(opened(0), NULL), 0);
}

static void refusals(void) {
  struct mallometer_scope figures = {0};
  CHECK_EQUAL(mallometer_scope_open(3), -EINVAL);
  CHECK_EQUAL(mallometer_scope_open(4), -EINVAL);
  CHECK_EQUAL(mallometer_scope_read(1, &figures), -EINVAL);
  CHECK_EQUAL(mallometer_scope_close(0, NULL), -EINVAL);
  CHECK_EQUAL(mallometer_scope_close(UINT32_MAX, NULL), -EINVAL);
  uint32_t scope = opened(0);
  CHECK_EQUAL(mallometer_scope_read(scope, NULL), -EINVAL);
  CHECK_EQUAL(mallometer_scope_close(scope, NULL), 0);
  CHECK_EQUAL(mallometer_scope_close(scope, NULL), -EINVAL);
}

static void overflow(void) {
  enum { OBJECTS = 50000 };
  static void *objects[OBJECTS];
  uint32_t scope = opened(MALLOMETER_SCOPE_MATCHED);
  for (unsigned i = 0; i < OBJECTS; i++) objects[i] = kept(24);
  for (unsigned i = 0; i < OBJECTS; i++) free(objects[i]);
  struct mallometer_scope end = closed(scope);
  CHECK_EQUAL(end.flags, MALLOMETER_SCOPE_OVERFLOWED);
  CHECK_EQUAL(end.temporary_allocations, 0);
  CHECK_EQUAL(calls(&end), OBJECTS); /* the calls and net bytes are exact even after an overflow of the table */
  CHECK_EQUAL(end.net_bytes, 0);
  /* Allocates more objects than the scope's table of live objects can hold, but only one is live at a time. */
  scope = opened(MALLOMETER_SCOPE_MATCHED);
  for (unsigned i = 0; i < 4 * OBJECTS; i++) free(kept(24 + i % 1000));
  end = closed(scope);
  CHECK_EQUAL(end.flags, MALLOMETER_SCOPE_HAS_MATCHES);
  CHECK_EQUAL(end.temporary_allocations, 4 * OBJECTS);
}

/* ---- Threads ------------------------------------------------------------------------------------------ */

static void *allocates(void *unused) {
  (void)unused;
  return kept(200000);
}

static void *frees(void *object) {
  free(object);
  return NULL;
}

static void only_its_thread(void) {
  void *mine = kept(500);
  uint32_t scope = opened(MALLOMETER_SCOPE_MATCHED);
  void *given = kept(600);
  pthread_t other;
  CHECK_EQUAL(pthread_create(&other, NULL, frees, given), 0);
  CHECK_EQUAL(pthread_join(other, NULL), 0);
  struct mallometer_scope half = reading(scope);
  CHECK_EQUAL(half.frees, 0);
  CHECK_EQUAL(half.temporary_allocations, 0);
  CHECK(half.retained_bytes >= 600);
  free(mine);
  struct mallometer_scope end = closed(scope);
  CHECK_EQUAL(end.frees, 1);
  CHECK(end.largest_bytes < 200000);
}

static sem_t may_go_on, has_done;
static uint32_t of_other;

static void *opens_and_waits(void *unused) {
  (void)unused;
  of_other = opened(MALLOMETER_SCOPE_MATCHED);
  void *object = kept(4000);
  sem_post(&has_done);
  sem_wait(&may_go_on);
  for (unsigned i = 0; i < 1000; i++) free(kept(100 + i)); /* removes the closed scope from the thread's list */
  uint32_t own = opened(MALLOMETER_SCOPE_THREAD);
  free(object);
  struct mallometer_scope end = closed(own);
  CHECK_EQUAL(end.frees, 1);
  CHECK_EQUAL(end.peak_bytes, 0);
  return NULL;
}

static void closed_by_another_thread(void) {
  const uint64_t bytes = unit_of(4000);
  sem_init(&may_go_on, 0, 0), sem_init(&has_done, 0, 0);
  for (unsigned round = 0; round < 100; round++) {
    pthread_t other;
    CHECK_EQUAL(pthread_create(&other, NULL, opens_and_waits, NULL), 0);
    sem_wait(&has_done);
    struct mallometer_scope read = reading(of_other), end = closed(of_other);
    CHECK_EQUAL(calls(&read), 1);
    CHECK_EQUAL(calls(&end), 1);
    CHECK_EQUAL(end.peak_bytes, bytes);
    CHECK_EQUAL(end.largest_bytes, 4000);
    CHECK_EQUAL(end.retained_bytes, bytes);
    if (round % 2 == 0) sem_post(&may_go_on);
    if (round % 2 == 1) pthread_cancel(other); /* ends the thread without a further allocation */
    CHECK_EQUAL(pthread_join(other, NULL), 0);
  }
  all_records_are_free();
}

static void *ends_with_open_scopes(void *unused) {
  (void)unused;
  of_other = opened(MALLOMETER_SCOPE_MATCHED);
  (void)opened(MALLOMETER_SCOPE_THREAD);
  free(kept(70000));
  return kept(300);
}

static void thread_ends(void) {
  const uint64_t small = unit_of(300), large = unit_of(70000);
  for (unsigned round = 0; round < 5000; round++) { /* opens more scopes than there are records */
    ON_A_THREAD(ends_with_open_scopes, NULL);
    if (round % 100 > 0) continue;
    ON_A_THREAD(allocates, NULL); /* allocates in a thread that takes the ended thread's block of counters */
    struct mallometer_scope read = reading(of_other), end = closed(of_other);
    CHECK_EQUAL(read.flags, MALLOMETER_SCOPE_ENDED | MALLOMETER_SCOPE_HAS_MATCHES);
    CHECK_EQUAL(end.flags, MALLOMETER_SCOPE_ENDED | MALLOMETER_SCOPE_HAS_MATCHES);
    CHECK(end.net_bytes >= (int64_t)small && end.net_bytes < (int64_t)(small + 5000));
    CHECK(end.peak_bytes >= large && end.peak_bytes < large + 5000);
    CHECK_EQUAL(end.largest_bytes, 70000);
  }
}

/* A thread reads and closes scopes that other threads also close. Only one of two closes may succeed, and a reading
 * must not mix figures of different scopes. */
enum { RACERS = 3, RACES = 20000 };
static uint32_t shared[RACERS];
static bool races_end;

static void *closes_others(void *unused) {
  (void)unused;
  for (unsigned i = 0; !__atomic_load_n(&races_end, __ATOMIC_ACQUIRE); i++) {
    struct mallometer_scope figures = {0};
    uint32_t number = __atomic_load_n(&shared[i % RACERS], __ATOMIC_ACQUIRE);
    int result = i % 3 ? mallometer_scope_read(number, &figures) : mallometer_scope_close(number, &figures);
    CHECK(result == 0 || result == -EINVAL);
    /* mallometer_scope_close() may exceed the limits of 2 and 10000: the thread that opened the scope may make
     * further calls during the close, which the scope may count. */
    bool of_process = figures.peak_error_bytes > 0;
    if (result == 0 && i % 3 && !of_process) CHECK(calls(&figures) <= 2 && figures.peak_bytes < 10000);
    if (result == 0) CHECK(calls(&figures) >= figures.temporary_allocations);
  }
  return NULL;
}

static void *opens_and_closes(void *place) {
  for (unsigned i = 0; i < RACES; i++) {
    uint32_t number = opened(i % 4 == 3 ? MALLOMETER_SCOPE_PROCESS
                             : i % 16   ? MALLOMETER_SCOPE_THREAD
                                        : MALLOMETER_SCOPE_MATCHED);
    __atomic_store_n((uint32_t *)place, number, __ATOMIC_RELEASE);
    void *object = kept(1000);
    free(kept(2000));
    free(object);
    int result = mallometer_scope_close(number, NULL);
    CHECK(result == 0 || result == -EINVAL);
  }
  return NULL;
}

static void races(void) {
  pthread_t closer, others[RACERS];
  CHECK_EQUAL(pthread_create(&closer, NULL, closes_others, NULL), 0);
  for (unsigned i = 0; i < RACERS; i++) CHECK_EQUAL(pthread_create(&others[i], NULL, opens_and_closes, &shared[i]), 0);
  for (unsigned i = 0; i < RACERS; i++) pthread_join(others[i], NULL);
  __atomic_store_n(&races_end, true, __ATOMIC_RELEASE);
  pthread_join(closer, NULL);
  all_records_are_free();
}

/* ---- Forks, counting switched off, signals ------------------------------------------------------------ */

static void forks(void) {
  const uint64_t small = unit_of(100), large = unit_of(5000);
  sem_init(&may_go_on, 0, 0), sem_init(&has_done, 0, 0);
  pthread_t other;
  CHECK_EQUAL(pthread_create(&other, NULL, opens_and_waits, NULL), 0);
  sem_wait(&has_done);
  uint32_t scope = opened(MALLOMETER_SCOPE_MATCHED);
  void *object = kept(100);
  pid_t child = fork();
  CHECK(child >= 0);
  free(kept(child == 0 ? 5000 : 100));
  free(object);
  struct mallometer_scope of_other_thread = reading(of_other), end = closed(scope);
  CHECK(end.temporary_allocations >= 2);
  if (child == 0) {
    CHECK(of_other_thread.flags & MALLOMETER_SCOPE_ENDED);
    CHECK_EQUAL(of_other_thread.largest_bytes, 4000);
    CHECK(end.peak_bytes >= large + small);
    (void)closed(of_other);
    all_records_are_free();
    _exit(0);
  }
  CHECK(!(of_other_thread.flags & MALLOMETER_SCOPE_ENDED));
  CHECK(end.peak_bytes < large);
  int status;
  CHECK(waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0);
  sem_post(&may_go_on);
  pthread_join(other, NULL);
}

static void counting_off_within(void) {
  uint32_t scopes[] = {opened(MALLOMETER_SCOPE_MATCHED), opened(MALLOMETER_SCOPE_PROCESS)};
  void *object = kept(100);
  CHECK_EQUAL(mallometer_disable(), 0);
  CHECK_EQUAL(mallometer_scope_open(0), -ENODATA);
  free(object);
  free(kept(100));
  CHECK_EQUAL(mallometer_enable(), 0);
  object = kept(100);
  uint32_t later = opened(MALLOMETER_SCOPE_MATCHED);
  free(object);
  for (unsigned i = 0; i < 2; i++) {
    struct mallometer_scope end = closed(scopes[i]);
    CHECK_EQUAL(end.flags, MALLOMETER_SCOPE_INCOMPLETE);
    CHECK_EQUAL(calls(&end), 2);
    CHECK_EQUAL(end.net_bytes, 0);
    CHECK_EQUAL(end.peak_bytes, 0);
    CHECK_EQUAL(end.retained_allocations, 0);
  }
  struct mallometer_scope end = closed(later);
  CHECK_EQUAL(end.flags, MALLOMETER_SCOPE_HAS_MATCHES);
  CHECK_EQUAL(end.foreign_frees, 1);
}

static volatile sig_atomic_t handled;

static void handles(int signal) {
  (void)signal;
  int number = mallometer_scope_open(handled % 2 ? MALLOMETER_SCOPE_MATCHED : MALLOMETER_SCOPE_THREAD);
  CHECK(number > 0);
  CHECK_EQUAL(mallometer_scope_close((uint32_t)number, NULL), 0);
  handled = handled + 1;
}

/* Opens and closes scopes in signal handlers, which interrupt the thread at any place. The thread's own scopes must
 * stay exact. */
static void signals(void) {
  struct sigaction action = {.sa_handler = handles, .sa_flags = SA_RESTART};
  sigaction(SIGPROF, &action, NULL);
  timer_t timer;
  struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGPROF};
  CHECK_EQUAL(timer_create(CLOCK_THREAD_CPUTIME_ID, &event, &timer), 0);
  CHECK_EQUAL(timer_settime(timer, 0, &(struct itimerspec){{0, 200000}, {0, 200000}}, NULL), 0);
  const uint64_t small = unit_of(100), large = unit_of(3000);
  for (unsigned round = 0; round < 4000 || handled < 100; round++) {
    uint32_t outer = opened(round % 8 ? MALLOMETER_SCOPE_THREAD : MALLOMETER_SCOPE_MATCHED);
    void *object = kept(100);
    uint32_t inner = opened(MALLOMETER_SCOPE_THREAD);
    free(kept(3000));
    struct mallometer_scope of_inner = closed(inner), of_outer;
    free(object);
    of_outer = closed(outer);
    CHECK_EQUAL(of_inner.peak_bytes, large);
    CHECK_EQUAL(of_outer.peak_bytes, large + small);
    CHECK_EQUAL(calls(&of_outer), 2);
    if (round % 8 == 0) CHECK_EQUAL(of_outer.temporary_allocations, 2);
  }
  timer_delete(timer);
  all_records_are_free();
}

/* ---- Scopes over the process -------------------------------------------------------------------------- */

static void *allocates_and_waits(void *unused) {
  (void)unused;
  void *object = kept(8 << 20);
  sem_post(&has_done);
  sem_wait(&may_go_on);
  free(object);
  return NULL;
}

static void of_process(void) {
  sem_init(&may_go_on, 0, 0), sem_init(&has_done, 0, 0);
  free(kept(64 << 20)); /* makes a higher peak of the process before the scopes are opened */
  uint32_t outer = opened(MALLOMETER_SCOPE_PROCESS), thread = opened(MALLOMETER_SCOPE_THREAD);
  void *mine = kept(8 << 20);
  uint32_t inner = opened(MALLOMETER_SCOPE_PROCESS);
  pthread_t other;
  CHECK_EQUAL(pthread_create(&other, NULL, allocates_and_waits, NULL), 0);
  sem_wait(&has_done);
  free(mine);
  sem_post(&may_go_on);
  pthread_join(other, NULL);
  struct mallometer_scope of_inner = closed(inner), of_outer = closed(outer), of_thread = closed(thread);
  const uint64_t size = 8 << 20;
  CHECK(of_inner.peak_bytes + of_inner.peak_error_bytes >= size);
  CHECK(of_inner.peak_bytes <= size + of_inner.peak_error_bytes);
  CHECK(of_outer.peak_bytes + of_outer.peak_error_bytes >= 2 * size);
  CHECK(of_outer.peak_bytes <= 2 * size + of_outer.peak_error_bytes);
  CHECK(of_outer.peak_error_bytes < size);
  CHECK(calls(&of_outer) >= 2 && calls(&of_thread) < calls(&of_outer));
  CHECK(of_outer.net_bytes < 10000 && of_inner.net_bytes < -(int64_t)size + 10000);
  CHECK(of_outer.largest_bytes >= size && of_outer.largest_bytes - of_outer.largest_error_bytes <= size);
}

static void hooked(void) {
  struct mallometer_scope statistics = {0};
  int scope = mallometer_hook();
  CHECK(scope > 0);
  void *mine = kept(8 << 20);
  CHECK_EQUAL(mallometer_unhook(scope, &statistics), 0);
  free(mine);
  CHECK(calls(&statistics) >= 1 && statistics.net_bytes >= 8 << 20);
  CHECK_EQUAL(mallometer_unhook(scope, &statistics), -EINVAL);
}

static void of_process_many(void) {
  uint32_t scopes[32];
  for (unsigned i = 0; i < 32; i++) scopes[i] = opened(MALLOMETER_SCOPE_PROCESS);
  CHECK_EQUAL(mallometer_scope_open(MALLOMETER_SCOPE_PROCESS), -EAGAIN);
  free(kept(1 << 20));
  for (unsigned i = 0; i < 32; i++) {
    struct mallometer_scope end = closed(scopes[i]);
    CHECK(calls(&end) >= 1 && end.peak_bytes + end.peak_error_bytes >= 1 << 20);
  }
  CHECK_EQUAL(mallometer_scope_close(opened(MALLOMETER_SCOPE_PROCESS), NULL), 0);
}

static void peak_of_process_within(void) {
  uint32_t scope = opened(MALLOMETER_SCOPE_THREAD);
  enum { COUNT = 1000 };
  static void *objects[COUNT];
  uint64_t before = snapshot().live_bytes, bytes = 0;
  for (unsigned i = 0; i < COUNT; i++) bytes += unit_size(objects[i] = kept(30000));
  for (unsigned i = 0; i < COUNT; i++) free(objects[i]);
  struct mallometer_counters after = snapshot();
  CHECK(after.peak_live_bytes + after.peak_error_bytes >= before + bytes);
  CHECK(after.peak_live_bytes <= before + bytes + after.peak_error_bytes);
  struct mallometer_scope end = closed(scope);
  CHECK(end.peak_bytes >= bytes);
}

/* ---- Scopes of an attached library -------------------------------------------------------------------- */

#define RESOLVE(name) __typeof__(name) *found_##name = (__typeof__(name) *)(uintptr_t)dlsym(library, #name)

static void attached(const char *file) {
  void *library = dlopen(file, RTLD_NOW);
  CHECK(library);
  RESOLVE(mallometer_attach);
  RESOLVE(mallometer_detach);
  RESOLVE(mallometer_scope_open);
  RESOLVE(mallometer_scope_close);
  CHECK_EQUAL(found_mallometer_scope_open(0), -ENODATA);
  CHECK_EQUAL(found_mallometer_attach(), 0);
  void *volatile before = malloc(500);
  int scope = found_mallometer_scope_open(MALLOMETER_SCOPE_MATCHED);
  int process = found_mallometer_scope_open(MALLOMETER_SCOPE_PROCESS);
  CHECK(scope > 0 && process > 0);
  void *object = malloc(10000);
  USE(object);
  object = realloc(object, 40000);
  free(before);
  struct mallometer_scope end = {0}, of_process = {0};
  CHECK_EQUAL(found_mallometer_scope_close((uint32_t)process, &of_process), 0);
  CHECK_EQUAL(found_mallometer_scope_close((uint32_t)scope, &end), 0);
  free(object);
  CHECK_EQUAL(calls(&end), 2);
  CHECK_EQUAL(end.frees, 2);
  CHECK_EQUAL(end.largest_bytes, 40000);
  CHECK(end.peak_bytes >= 40000 && end.peak_bytes < 41000);
  CHECK_EQUAL(end.temporary_allocations, 1);
  CHECK_EQUAL(end.foreign_frees, 1);
  CHECK_EQUAL(of_process.net_bytes, end.net_bytes); /* no other thread allocates */

  scope = found_mallometer_scope_open(MALLOMETER_SCOPE_THREAD);
  CHECK_EQUAL(found_mallometer_detach(), 0);
  free(malloc(100));
  CHECK_EQUAL(found_mallometer_scope_open(0), -ENODATA);
  CHECK_EQUAL(found_mallometer_attach(), 0);
  CHECK_EQUAL(found_mallometer_scope_close((uint32_t)scope, &end), 0);
  CHECK_EQUAL(end.flags, MALLOMETER_SCOPE_INCOMPLETE);
}

/* ---- Cost --------------------------------------------------------------------------------------------- */

/* Calls the functions that `kind` names, by default malloc and free, for a measurement by callgrind. The calls are in
 * a scope unless `kind` ends with "none". */
static _Noreturn void pairs(const char *kind, long count) {
  int scope = strcmp(kind, "none") == 0      ? 0
              : strcmp(kind, "matched") == 0 ? mallometer_scope_open(MALLOMETER_SCOPE_MATCHED)
                                             : mallometer_scope_open(MALLOMETER_SCOPE_THREAD);
  if (strcmp(kind, "grow") == 0 || strcmp(kind, "grow-none") == 0) {
    void **last = NULL;
    if (strcmp(kind, "grow-none") == 0) mallometer_scope_close((uint32_t)scope, NULL);
    MEASURED_ROUNDS(i, count) {
      void **object = malloc(64);
      *object = last;
      last = object;
    }
  } else if (strcmp(kind, "open") == 0) {
    MEASURED_ROUNDS(i, count) mallometer_scope_close((uint32_t)mallometer_scope_open(0), NULL);
  } else if (strncmp(kind, "large", 5) == 0) {
    if (strcmp(kind, "large-none") == 0) mallometer_scope_close((uint32_t)scope, NULL);
    MEASURED_ROUNDS(i, count) free(kept(60000));
  } else if (strncmp(kind, "realloc", 7) == 0) {
    void *object = NULL;
    if (strcmp(kind, "realloc-none") == 0) mallometer_scope_close((uint32_t)scope, NULL);
    MEASURED_ROUNDS(i, count) object = realloc(object, i % 2 ? 100 : 80);
  } else {
    MEASURED_ROUNDS(i, count) free(kept(64));
  }
  _exit(0);
}

int main(int count, char **arguments) {
  static const struct {
    const char *name;
    void (*run)(void);
  } cases[] = {{"figures", figures},
               {"every_way_in", every_way_in},
               {"realloc", realloc_unmatched},
               {"realloc_matched", realloc_matched},
               {"failures", failures},
               {"freed_from_outside", freed_from_outside},
               {"zero_bytes", zero_bytes},
               {"exact_peaks", exact_peaks},
               {"retained_objects", retained_objects},
               {"nested", nested},
               {"out_of_order", closed_out_of_order},
               {"many", many},
               {"refusals", refusals},
               {"overflow", overflow},
               {"only_its_thread", only_its_thread},
               {"closed_by_another", closed_by_another_thread},
               {"thread_ends", thread_ends},
               {"races", races},
               {"forks", forks},
               {"counting_off", counting_off_within},
               {"signals", signals},
               {"process", of_process},
               {"hooked", hooked},
               {"process_many", of_process_many},
               {"peak_of_process", peak_of_process_within}};
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
