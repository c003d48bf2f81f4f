/*
 * Tests mallometer_watch(), which sets watchpoints on objects and records their last accesses. A watchpoint raises
 * SIGTRAP. The cost must be limited, and other SIGTRAP signals must reach the program's own handler.
 *
 * The first argument names the case. Exit code 77 means that watchpoints are not available.
 */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#include "check.h"

#ifndef AT_MINSIGSTKSZ
#define AT_MINSIGSTKSZ 51
#endif
#define NOINLINE __attribute__((noinline, noclone))
enum { MOST_SITES = 16384, MOST_ACCESSES = 128, NOT_AVAILABLE = 77 };

static struct mallometer_site sites[MOST_SITES];
static struct mallometer_access accesses[MOST_ACCESSES];

static NOINLINE void *keeper(size_t size) {
  void *object = malloc(size);
  USE(object);
  return object;
}

static NOINLINE void writer(long *object) { *(volatile long *)object = 1; }
static NOINLINE long reader(const long *object) { return *(const volatile long *)object; }

static bool is_in(uint64_t address, const void *function) {
  uint64_t begin = (uint64_t)(uintptr_t)function;
  return address > begin && address - begin < 80;
}

static struct mallometer_observation observed(void) {
  struct mallometer_observation o = {0};
  CHECK_EQUAL(mallometer_leaks(&o), 0);
  return o;
}

static uint32_t site_of_keeper(void) {
  int count = mallometer_sites(sites, MOST_SITES, 0);
  for (int i = 0; i < count; i++) {
    uint64_t innermost;
    if (mallometer_site_stack(sites[i].number, &innermost, 1) != 1) continue;
    if (is_in(innermost, (const void *)(uintptr_t)keeper)) return sites[i].number;
  }
  return UINT32_MAX;
}

static int writes = 1;

static void (*touch)(long *object) = writer;

static NOINLINE void use_an_object(void) {
  long *object = keeper(100);
  for (int i = 0; i < writes; i++) touch(object);
  reader(object);
  free(object);
}

static void nothing(void) {}

static void (*begin_thread)(void) = nothing;
static void (*end_thread)(void) = nothing;

static void *use_objects(void *count) {
  begin_thread();
  for (volatile intptr_t i = (intptr_t)count; i > 0; i--) use_an_object();
  end_thread();
  return NULL;
}

/* Allocates and uses objects in a new thread. The objects of all calls thus have the same stack, and so the same
 * call site. */
static void use_many(intptr_t count) {
  pthread_t thread;
  CHECK_EQUAL(pthread_create(&thread, NULL, use_objects, (void *)count), 0);
  pthread_join(thread, NULL);
}

static void start(void) {
  CHECK_EQUAL(mallometer_watch(NULL, 0), -ENODATA);
  CHECK_EQUAL(mallometer_leaks_start(), 0);
  CHECK_EQUAL(mallometer_configure(MALLOMETER_OPTION_SHORTEST_EPOCH, 10), 0);
  CHECK_EQUAL(mallometer_configure(MALLOMETER_OPTION_EPOCH_OVER_COST, 10), 0);
  while (observed().state == MALLOMETER_LEAKS_STARTING) usleep(1000);
  CHECK_EQUAL(observed().state, MALLOMETER_LEAKS_ON);
  if (!observed().can_watch) {
    printf("not available: %s\n", observed().watch_reason);
    CHECK(observed().watch_reason[0]);
    CHECK_EQUAL(mallometer_watch(&(uint32_t){0}, 1), -ENOTSUP);
    exit(NOT_AVAILABLE);
  }
  CHECK_EQUAL(observed().watch_reason[0], 0);
  use_many(100);
  CHECK(site_of_keeper() != UINT32_MAX);
}

static const struct mallometer_access *access_of(uint32_t site, uint32_t kind) {
  int count = mallometer_accesses(accesses, MOST_ACCESSES);
  CHECK(count >= 0);
  for (int i = 0; i < count; i++) {
    if (accesses[i].site == site && accesses[i].kind == kind) return &accesses[i];
  }
  return NULL;
}

static void watch_keeper(void) { CHECK_EQUAL(mallometer_watch(&(uint32_t){site_of_keeper()}, 1), 0); }

static void use_until_seen(void) {
  for (double begin = seconds(); !access_of(site_of_keeper(), MALLOMETER_WRITE); use_many(100)) {
    CHECK(seconds() - begin < 20);
  }
}

static void the_last_use_is_seen(void) {
  start();
  use_many(1000);
  CHECK(!access_of(site_of_keeper(), MALLOMETER_ACCESS)); /* no site is watched */
  watch_keeper();
  use_until_seen();
  const struct mallometer_access *any = access_of(site_of_keeper(), MALLOMETER_ACCESS);
  CHECK(any && any->frames > 1 && is_in(any->stack[0], (const void *)(uintptr_t)reader));
  CHECK(is_in(any->stack[1], (const void *)(uintptr_t)use_an_object));
  CHECK(any->monotonic_ns >= any->born_ns && any->born_ns > 0);
  CHECK(any->thread_id != 0 && any->thread_id != (uint32_t)getpid());
  CHECK(strcmp(any->thread_name, "watch") == 0);
  const struct mallometer_access *write = access_of(site_of_keeper(), MALLOMETER_WRITE);
  CHECK(is_in(write->stack[0], (const void *)(uintptr_t)writer));
}

static void wrong_arguments(void) {
  start();
  uint32_t five[5] = {0};
  CHECK_EQUAL(mallometer_watch(five, 5), -EINVAL);
  CHECK_EQUAL(mallometer_watch(NULL, 1), -EINVAL);
  CHECK_EQUAL(mallometer_accesses(NULL, 1), -EINVAL);
}

/* Accesses watched objects 40 million times. An access that raises a trap takes some 30 us, so the test would take
 * 20 minutes if the library did not limit the cost. */
static void an_object_in_use_costs_little(void) {
  start();
  watch_keeper();
  use_until_seen();
  writes = 200000;
  double begin = seconds();
  use_many(200);
  CHECK(seconds() - begin < 10);
}

static void what_is_no_more_wanted_is_not_watched(void) {
  start();
  watch_keeper();
  use_until_seen();
  CHECK_EQUAL(mallometer_watch(NULL, 0), 0);
  uint64_t last = access_of(site_of_keeper(), MALLOMETER_ACCESS)->monotonic_ns;
  use_many(20000);
  CHECK_EQUAL(access_of(site_of_keeper(), MALLOMETER_ACCESS)->monotonic_ns, last);
}

enum { PAGE = 4096, FILLING = 0x5a };

static char *new_stack(size_t bytes) {
  char *stack = mmap(NULL, PAGE + bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  CHECK(stack != MAP_FAILED);
  CHECK_EQUAL(mprotect(stack, PAGE, PROT_NONE), 0);
  return memset(stack + PAGE, FILLING, bytes);
}

static char *alternate;
static size_t alternate_bytes;

static void use_alternate_stack(void) {
  CHECK_EQUAL(sigaltstack(&(stack_t){.ss_sp = alternate, .ss_size = alternate_bytes}, NULL), 0);
}

static volatile int traps_of_program, traps_on_alternate_stack;

static void on_trap(int signal) {
  const volatile char on_stack = 0;
  (void)signal;
  traps_of_program++;
  traps_on_alternate_stack += (uintptr_t)&on_stack - (uintptr_t)alternate < alternate_bytes;
}

static void traps_of_others_reach_them(void) {
  signal(SIGTRAP, on_trap);
  start();
  watch_keeper();
  use_until_seen();
  CHECK_EQUAL(traps_of_program, 0);
  alternate = new_stack(alternate_bytes = 65536);
  use_alternate_stack();
  raise(SIGTRAP);
  CHECK_EQUAL(traps_of_program, 1);
  CHECK_EQUAL(traps_on_alternate_stack, 0); /* the program's handler lacks SA_ONSTACK */
}

static void a_handler_that_comes_later_stays(void) {
  start();
  watch_keeper();
  CHECK_EQUAL(mallometer_watch(NULL, 0), 0);
  signal(SIGTRAP, on_trap);
  CHECK_EQUAL(mallometer_watch(&(uint32_t){site_of_keeper()}, 1), -ENOTSUP);
  CHECK(strstr(observed().watch_reason, "SIGTRAP"));
  CHECK_EQUAL(observed().can_watch, 0);
  use_many(20000);
  CHECK_EQUAL(traps_of_program, 0);
  raise(SIGTRAP);
  CHECK_EQUAL(traps_of_program, 1);
}

/* Watchpoints must not call a handler of SIGTRAP that the program installs while objects are watched. */
static void a_handler_that_comes_in_between_stays(void) {
  start();
  watch_keeper();
  use_until_seen();
  signal(SIGTRAP, on_trap);
  use_many(20000);
  CHECK_EQUAL(traps_of_program, 0);
}

static int events_of_perf(void) {
  char path[32], target[32];
  int found = 0;
  for (int file = 0; file < 256; file++) {
    snprintf(path, sizeof path, "/proc/self/fd/%d", file);
    ssize_t length = readlink(path, target, sizeof target);
    found += length > 0 && memmem(target, (size_t)length, "perf_event", 10) != NULL;
  }
  return found;
}

static void (*new_handler)(int signal);

/* Sets a new handler of SIGTRAP once an object is watched, and then accesses the object. */
static void touch_after_signal_is_taken(long *object) {
  if (events_of_perf() < 3) return;
  touch = writer;
  CHECK_EQUAL(mallometer_configure(MALLOMETER_OPTION_SHORTEST_EPOCH, 10000), 0);
  signal(SIGTRAP, new_handler);
  usleep(500000);
  *(volatile long *)object = 1;
  CHECK_EQUAL(events_of_perf(), 0);
}

static void nobody_hears_of_what_was_watched_before(void (*handler)(int signal)) {
  start();
  watch_keeper();
  new_handler = handler;
  touch = touch_after_signal_is_taken;
  for (double begin = seconds(); touch != writer; use_many(100)) CHECK(seconds() - begin < 20);
  CHECK_EQUAL(traps_of_program, 0);
  CHECK(strstr(observed().watch_reason, "SIGTRAP"));
  CHECK_EQUAL(observed().can_watch, 0);
}

static void a_handler_never_hears_of_what_was_watched_before(void) { nobody_hears_of_what_was_watched_before(on_trap); }

static void what_was_watched_never_ends_a_program(void) { nobody_hears_of_what_was_watched_before(SIG_DFL); }

/* Opening the first perf event of a system takes some 20 ms. The caller of mallometer_watch() must open it, so that
 * no allocating thread waits for this. */
static void who_asks_opens_the_first_event(void) {
  start();
  CHECK_EQUAL(events_of_perf(), 0);
  watch_keeper();
  watch_keeper();
  CHECK_EQUAL(events_of_perf(), 1);
  use_until_seen();
  CHECK_EQUAL(mallometer_watch(NULL, 0), 0);
  CHECK_EQUAL(events_of_perf(), 0);
}

/* Ignores SIGTRAP by SIG_IGN with the flag SA_SIGINFO, as if an earlier handler's flag had remained. The library must
 * not call SIG_IGN as a handler. */
static void a_trap_that_the_program_ignores_is_ignored(void) {
  const struct sigaction ignoring = {.sa_handler = SIG_IGN, .sa_flags = SA_SIGINFO};
  CHECK_EQUAL(sigaction(SIGTRAP, &ignoring, NULL), 0);
  start();
  watch_keeper();
  raise(SIGTRAP);
  use_until_seen();
}

static void a_trap_for_nobody_ends_the_program(void) {
  start();
  watch_keeper();
  pid_t pid = fork();
  if (pid == 0) {
    raise(SIGTRAP);
    _exit(0);
  }
  int status = 0;
  CHECK_EQUAL(waitpid(pid, &status, 0), pid);
  CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGTRAP);
}

static void children_watch_nothing_and_parents_go_on(void) {
  start();
  watch_keeper();
  use_until_seen();
  pid_t pid = fork();
  if (pid == 0) {
    use_many(20000);
    _exit(0);
  }
  int status = 0;
  CHECK_EQUAL(waitpid(pid, &status, 0), pid);
  CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  uint64_t last = access_of(site_of_keeper(), MALLOMETER_ACCESS)->monotonic_ns;
  for (double begin = seconds(); access_of(site_of_keeper(), MALLOMETER_ACCESS)->monotonic_ns == last; use_many(100)) {
    CHECK(seconds() - begin < 20);
  }
}

/* Starts threads that use objects. The last thread blocks SIGTRAP. Meanwhile the program closes all descriptors,
 * including those of the library's watchpoints. The library must not fail, and must watch objects afterwards. */
static void threads_come_and_go(void) {
  enum { THREADS = 4 };
  pthread_t threads[THREADS];
  sigset_t trap;
  sigemptyset(&trap);
  sigaddset(&trap, SIGTRAP);
  start();
  watch_keeper();
  for (int i = 0; i < THREADS; i++) {
    if (i == THREADS - 1) pthread_sigmask(SIG_BLOCK, &trap, NULL);
    CHECK_EQUAL(pthread_create(&threads[i], NULL, use_objects, (void *)300000), 0);
  }
  pthread_sigmask(SIG_UNBLOCK, &trap, NULL);
  for (int i = 0; i < 20; i++) {
    for (int file = 3; file < 64; file++) close(file);
    watch_keeper();
    usleep(40000);
  }
  for (int i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
  use_until_seen();
}

/* ---- Cancellation ------------------------------------------------------------------------------------- */

static int cancelled, ended;

static void cancel_oneself(void) {
  CHECK_EQUAL(pthread_cancel(pthread_self()), 0);
  cancelled++;
}

static void be_cancelled(void) {
  ended++;
  pthread_testcancel();
  CHECK(!"the cancelled thread continues");
}

/* A cancelled thread whose objects are watched must end at its own cancellation point (be_cancelled()), and not
 * inside malloc, where it can hold the allocator's locks. */
static void threads_are_not_cancelled_in_malloc(void) {
  start();
  watch_keeper();
  begin_thread = cancel_oneself;
  end_thread = be_cancelled;
  use_until_seen();
  uint64_t first_born = access_of(site_of_keeper(), MALLOMETER_ACCESS)->born_ns;
  for (double begin = seconds(); access_of(site_of_keeper(), MALLOMETER_ACCESS)->born_ns == first_born; use_many(100)) {
    CHECK(seconds() - begin < 20);
    CHECK_EQUAL(ended, cancelled);
  }
  CHECK_EQUAL(ended, cancelled);
}

/* ---- Stacks with little room -------------------------------------------------------------------------- */

static ucontext_t here, on_little_stack;
static long *touched;

static void touch_on_little_stack(void) { writer(touched); }

/* Accesses an object from code that runs on a stack of 512 bytes, too few for a signal. */
static void touch_where_little_is_left(long *object) {
  static char *stack;
  if (!stack) stack = new_stack(PAGE);
  use_alternate_stack();
  touched = object;
  CHECK_EQUAL(getcontext(&on_little_stack), 0);
  on_little_stack.uc_stack = (stack_t){.ss_sp = stack, .ss_size = 512};
  on_little_stack.uc_link = &here;
  makecontext(&on_little_stack, touch_on_little_stack, 0);
  CHECK_EQUAL(swapcontext(&here, &on_little_stack), 0);
}

static size_t taken_of_alternate_stack(void) {
  size_t untouched = 0;
  while (untouched < alternate_bytes && alternate[untouched] == FILLING) untouched++;
  return alternate_bytes - untouched;
}

/* The library's handler must run on the alternate signal stack of a thread that has one. The handler may use at most
 * 3 KiB in addition to what the kernel uses. */
static void little_stack_is_enough_where_there_is_another(void) {
  alternate = new_stack(alternate_bytes = 65536);
  start();
  watch_keeper();
  touch = touch_where_little_is_left;
  use_until_seen();
  const struct mallometer_access *write = access_of(site_of_keeper(), MALLOMETER_WRITE);
  CHECK(write->frames >= 2 && is_in(write->stack[0], (const void *)(uintptr_t)writer));
  CHECK(is_in(write->stack[1], (const void *)(uintptr_t)touch_on_little_stack));
  size_t taken = taken_of_alternate_stack(), of_kernel = getauxval(AT_MINSIGSTKSZ);
  printf("%zu bytes taken of the alternate stack, of which the kernel takes up to %zu\n", taken, of_kernel);
  CHECK(taken > 0 && taken <= of_kernel + 3072);
}

/* Accesses the object once the object is watched. At that time the thread's alternate signal stack is only a little
 * larger than the kernel needs. */
static void touch_beside_tiny_alternate_stack(long *object) {
  if (events_of_perf() < 3) return;
  use_alternate_stack();
  writer(object);
  CHECK(taken_of_alternate_stack() > 0);
  touch = writer;
}

static size_t taken_for_signal;

static void measure_signal(int signal) {
  (void)signal;
  taken_for_signal = (size_t)(alternate + alternate_bytes - (char *)__builtin_frame_address(0));
}

/*
 * The library's handler must not overflow a tiny alternate stack, on which it cannot record the access.
 *
 * The test measures how much of the stack the kernel takes. AT_MINSIGSTKSZ would be too large: it includes registers
 * (AMX) that the kernel stores only for programs that use them.
 */
static void a_tiny_alternate_stack_is_not_overflowed(void) {
  alternate = new_stack(alternate_bytes = 65536);
  use_alternate_stack();
  sigaction(SIGUSR1, &(struct sigaction){.sa_handler = measure_signal, .sa_flags = SA_ONSTACK}, NULL);
  raise(SIGUSR1);
  CHECK(taken_for_signal > 0);
  CHECK_EQUAL(sigaltstack(&(stack_t){.ss_flags = SS_DISABLE}, NULL), 0);
  alternate_bytes = (taken_for_signal + 1024 + 15) / 16 * 16;
  alternate = new_stack(alternate_bytes);
  start();
  watch_keeper();
  touch = touch_beside_tiny_alternate_stack;
  for (double begin = seconds(); touch != writer; use_many(100)) CHECK(seconds() - begin < 20);
  CHECK(!access_of(site_of_keeper(), MALLOMETER_WRITE));
}

/* The library must not watch objects of a thread whose alternate stack has only 2 KiB. On a processor with many
 * registers, the kernel alone may need more than 2 KiB for a signal. */
static void beside_a_minimal_alternate_stack_nothing_is_watched(void) {
  alternate = new_stack(alternate_bytes = 2048);
  start();
  uint64_t placed = observed().placed;
  watch_keeper();
  begin_thread = use_alternate_stack;
  while (observed().placed < placed + 50) use_many(1000);
  CHECK(!access_of(site_of_keeper(), MALLOMETER_ACCESS));
  begin_thread = nothing;
  use_until_seen();
}

static void nothing_is_watched_when_nobody_wants_to_know(void) {
  start();
  watch_keeper();
  use_until_seen();
  CHECK_EQUAL(mallometer_leaks_stop(), 0);
  for (double begin = seconds(); events_of_perf() > 0; usleep(1000)) CHECK(seconds() - begin < 20);
  CHECK_EQUAL(mallometer_watch(&(uint32_t){site_of_keeper()}, 1), -ENODATA);
  CHECK_EQUAL(mallometer_leaks_start(), 0);
  while (observed().state == MALLOMETER_LEAKS_STARTING) usleep(1000);
  watch_keeper();
  CHECK(events_of_perf() > 0);
}

int main(int argc, char **argv) {
  static const struct {
    const char *name;
    void (*test)(void);
  } cases[] = {{"seen", the_last_use_is_seen},
               {"arguments", wrong_arguments},
               {"price", an_object_in_use_costs_little},
               {"unwanted", what_is_no_more_wanted_is_not_watched},
               {"traps", traps_of_others_reach_them},
               {"later", a_handler_that_comes_later_stays},
               {"between", a_handler_that_comes_in_between_stays},
               {"taken", a_handler_never_hears_of_what_was_watched_before},
               {"reset", what_was_watched_never_ends_a_program},
               {"first", who_asks_opens_the_first_event},
               {"ignored", a_trap_that_the_program_ignores_is_ignored},
               {"default", a_trap_for_nobody_ends_the_program},
               {"fork", children_watch_nothing_and_parents_go_on},
               {"threads", threads_come_and_go},
               {"rest", nothing_is_watched_when_nobody_wants_to_know},
               {"cancelled", threads_are_not_cancelled_in_malloc},
               {"alternate", little_stack_is_enough_where_there_is_another},
               {"tiny", a_tiny_alternate_stack_is_not_overflowed},
               {"minimal", beside_a_minimal_alternate_stack_nothing_is_watched}};
  CHECK(argc == 2);
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    if (strcmp(argv[1], cases[i].name) == 0) cases[i].test();
  }
  return 0;
}
