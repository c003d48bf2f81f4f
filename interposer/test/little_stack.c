/*
 * Checks that the library's malloc needs at most 512 bytes more stack than the allocator itself. Coroutines, signal
 * handlers and deep recursions allocate at the end of a stack, below which an inaccessible page catches an overflow.
 * The first argument names the case.
 */
#include <dlfcn.h>
#include <limits.h>
#include <malloc.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <ucontext.h>
#include <unistd.h>

#include "check.h"

#ifndef AT_MINSIGSTKSZ
#define AT_MINSIGSTKSZ 51
#endif
#define NOINLINE __attribute__((noinline, noclone))
enum { PAGE = 4096, FILLING = 0x5a, MORE = 512, OF_COROUTINE = 2560, MOST = 128 * 1024 };

/* ---- The functions to measure -------------------------------------------------------------------------- */

/* The functions to call: the library's (`hook`), or those of the C library (`plain`). */
struct functions {
  void *(*malloc)(size_t);
  void *(*calloc)(size_t, size_t);
  void *(*realloc)(void *, size_t);
  void *(*memalign)(size_t, size_t);
  void (*free)(void *);
};

static const struct functions hook = {malloc, calloc, realloc, memalign, free};
static struct functions plain;
static const struct functions *used;

static void *function(const char *name) {
  void *found = dlsym(RTLD_DEFAULT, name);
  CHECK(found);
  return found;
}

/* Finds the C library's functions by their internal names. A program that links these names cannot use
 * MALLOMETER_ACCOUNTING=header, so the test uses dlsym(). */
static void find_plain_functions(void) {
  *(void **)&plain.malloc = function("__libc_malloc");
  *(void **)&plain.calloc = function("__libc_calloc");
  *(void **)&plain.realloc = function("__libc_realloc");
  *(void **)&plain.memalign = function("__libc_memalign");
  *(void **)&plain.free = function("__libc_free");
}

static size_t bytes;
static void *object;

static NOINLINE void by_malloc(void) { object = used->malloc(bytes); }
static NOINLINE void by_calloc(void) { object = used->calloc(1, bytes); }
static NOINLINE void by_realloc(void) { object = used->realloc(object, bytes); }
static NOINLINE void by_memalign(void) { object = used->memalign(64, bytes); }
static NOINLINE void by_free(void) {
  used->free(object);
  object = NULL;
}

/* The test runs with MALLOMETER_HUGE=100k, so the last size is a huge request. */
static const size_t sizes[] = {24, 1000, 40000, 150000};
static void (*const ways[])(void) = {by_malloc, by_calloc, by_realloc, by_memalign};
enum { SIZES = sizeof sizes / sizeof *sizes, WAYS = sizeof ways / sizeof *ways };

static void keep_all_in_the_heap(void) {
  mallopt(M_MMAP_THRESHOLD, 32 << 20);
  mallopt(M_TRIM_THRESHOLD, 1 << 30);
  free(malloc(4 << 20));
}

static NOINLINE void allocate_and_free(void) {
  for (int s = 0; s < SIZES; s++) {
    for (int w = 0; w < WAYS; w++) {
      bytes = sizes[s];
      ways[w]();
      by_free();
    }
  }
}

/* ---- Stacks -------------------------------------------------------------------------------------------- */

static char *new_stack(size_t size) {
  char *stack = mmap(NULL, PAGE + MOST, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  CHECK(stack != MAP_FAILED && size <= MOST);
  CHECK_EQUAL(mprotect(stack, PAGE, PROT_NONE), 0);
  return memset(stack + PAGE, FILLING, size);
}

static size_t taken(const char *stack, size_t size) {
  size_t untouched = 0;
  while (untouched < size && stack[untouched] == FILLING) untouched++;
  return size - untouched;
}

static ucontext_t here, there;

static void run_on(char *stack, size_t size, void (*act)(void)) {
  CHECK_EQUAL(getcontext(&there), 0);
  there.uc_stack = (stack_t){.ss_sp = stack, .ss_size = size};
  there.uc_link = &here;
  makecontext(&there, act, 0);
  CHECK_EQUAL(swapcontext(&here, &there), 0);
}

static size_t taken_by(const struct functions *functions, void (*act)(void)) {
  char *stack = new_stack(MOST);
  used = functions;
  run_on(stack, MOST, act);
  size_t result = taken(stack, MOST);
  CHECK_EQUAL(munmap(stack - PAGE, PAGE + MOST), 0);
  return result;
}

static void expect_little_more(const char *what, size_t of_plain, size_t of_hook) {
  printf("%s: %zu bytes of stack, %zu of them the allocator's\n", what, of_hook, of_plain);
  CHECK(of_hook <= of_plain + MORE);
}

/* ---- Cases --------------------------------------------------------------------------------------------- */

static NOINLINE void grow(void) {
  static void *objects[300];
  for (int i = 0; i < 300; i++) objects[i] = used->malloc(20000);
  for (int i = 0; i < 300; i++) used->free(objects[i]);
}

static struct functions const *of_thread;
static size_t taken_in_thread;

static void *begin_with_an_allocation(void *unused) {
  bytes = 24;
  taken_in_thread = taken_by(of_thread, by_malloc);
  return unused;
}

static size_t taken_by_first_allocation(const struct functions *functions) {
  pthread_t thread;
  of_thread = functions;
  CHECK_EQUAL(pthread_create(&thread, NULL, begin_with_an_allocation, NULL), 0);
  pthread_join(thread, NULL);
  return taken_in_thread;
}

static void little_is_taken(void) {
  static const char *const names[] = {"malloc", "calloc", "realloc", "memalign"};
  char what[64];
  for (int round = 0; round < 2; round++) {
    for (int s = 0; s < SIZES; s++) {
      for (int w = 0; w < WAYS; w++) {
        bytes = sizes[s];
        size_t of_plain = taken_by(&plain, ways[w]), free_of_plain = taken_by(&plain, by_free);
        snprintf(what, sizeof what, "%s(%zu)", names[w], bytes);
        expect_little_more(what, of_plain, taken_by(&hook, ways[w]));
        expect_little_more("its free", free_of_plain, taken_by(&hook, by_free));
      }
    }
  }
  size_t of_plain = taken_by_first_allocation(&plain);
  expect_little_more("a thread's first malloc", of_plain, taken_by_first_allocation(&hook));
  of_plain = taken_by(&plain, grow);
  expect_little_more("live bytes that grow", of_plain, taken_by(&hook, grow));
  CHECK(self().samples_without_stack > 0);
}

static void coroutines_run(void) {
  used = &plain;
  run_on(new_stack(OF_COROUTINE), OF_COROUTINE, allocate_and_free);
  used = &hook;
  for (int i = 0; i < 20; i++) {
    uint64_t samples = self().samples, without = self().samples_without_stack;
    run_on(new_stack(OF_COROUTINE), OF_COROUTINE, allocate_and_free);
    CHECK_EQUAL(self().samples_without_stack - without, SIZES * WAYS);
    CHECK_EQUAL(self().samples - samples, SIZES * WAYS);
  }
}

static volatile int handled;

static void allocating_handler(int signal) {
  (void)signal;
  allocate_and_free();
  handled++;
}

static char *use_alternate_stack(size_t size) {
  char *stack = new_stack(size);
  CHECK_EQUAL(sigaltstack(&(stack_t){.ss_sp = stack, .ss_size = size}, NULL), 0);
  return stack;
}

/* Allocates in signal handlers. The alternate stack is `MORE` bytes larger than the C library's own functions need,
 * but not smaller than AT_MINSIGSTKSZ, which the kernel needs on this processor. */
static void handlers_run(void) {
  struct sigaction action = {.sa_handler = allocating_handler, .sa_flags = SA_ONSTACK};
  CHECK_EQUAL(sigaction(SIGUSR1, &action, NULL), 0);
  char *stack = use_alternate_stack(MOST);
  used = &plain;
  raise(SIGUSR1);
  size_t least = taken(stack, MOST) + MORE, of_system = getauxval(AT_MINSIGSTKSZ);
  if (least < of_system) least = of_system;
  printf("%zu bytes of alternate stack\n", least);
  use_alternate_stack((least + 15) / 16 * 16);
  used = &hook;
  for (int i = 0; i < 20; i++) {
    uint64_t without = self().samples_without_stack;
    raise(SIGUSR1);
    CHECK_EQUAL(self().samples_without_stack - without, SIZES * WAYS);
  }
  CHECK_EQUAL(handled, 21);
}

static char *end_of_thread; /* the lowest byte of the thread's stack */
static size_t least_left;

/* Recurses until `least_left` bytes of stack are left, and allocates at each level. Returns the number of levels. */
static NOINLINE unsigned recur(void) {
  volatile char frame[48];
  frame[0] = 1;
  if ((size_t)(frame - end_of_thread) < least_left) return 0;
  allocate_and_free();
  unsigned times = 1 + recur();
  USE(frame);
  return times;
}

static void *recur_in_thread(void *unused) {
  pthread_attr_t attributes;
  void *begin;
  size_t size;
  CHECK_EQUAL(pthread_getattr_np(pthread_self(), &attributes), 0);
  CHECK_EQUAL(pthread_attr_getstack(&attributes, &begin, &size), 0);
  end_of_thread = begin;
  pthread_attr_destroy(&attributes);
  used = &hook;
  uint64_t samples = self().samples, without = self().samples_without_stack;
  uint64_t times = recur() * (uint64_t)(SIZES * WAYS);
  samples = self().samples - samples;
  without = self().samples_without_stack - without;
  printf("%" PRIu64 " samples, %" PRIu64 " of them without stack\n", samples, without);
  CHECK(samples == times && without > 0);
  /* The last few KiB of a stack do not suffice for recording a call stack. A stack of MOST bytes is so large that at
   * least three quarters of the samples must have a call stack. */
  CHECK(size < MOST || without * 4 < samples);
  return unused;
}

static void threads_come_to_their_end(size_t size) {
  pthread_t thread;
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  CHECK_EQUAL(pthread_attr_setstacksize(&attributes, size), 0);
  CHECK_EQUAL(pthread_create(&thread, &attributes, recur_in_thread, NULL), 0);
  pthread_join(thread, NULL);
}

static void small_threads_run(void) { threads_come_to_their_end((size_t)sysconf(_SC_THREAD_STACK_MIN)); }

static void recursions_run(void) { threads_come_to_their_end(MOST); }

/* Recurses in the first thread of a process with a stack limit of MOST bytes. The program must first execute itself,
 * because the limit applies to new programs only. */
static void first_thread_runs(char **arguments) {
  const struct rlimit limit = {MOST, MOST};
  if (arguments[2]) {
    recur_in_thread(NULL);
    return;
  }
  CHECK_EQUAL(setrlimit(RLIMIT_STACK, &limit), 0);
  execv("/proc/self/exe", (char *[]){arguments[0], arguments[1], arguments[1], NULL});
  CHECK(!"execv() has failed");
}

int main(int argc, char **argv) {
  static const struct {
    const char *name;
    void (*test)(void);
  } cases[] = {{"taken", little_is_taken},
               {"coroutines", coroutines_run},
               {"handlers", handlers_run},
               {"threads", small_threads_run},
               {"recursion", recursions_run}};
  CHECK(argc >= 2);
  setbuf(stdout, NULL);
  find_plain_functions();
  keep_all_in_the_heap();
  least_left = taken_by(&plain, allocate_and_free) + MORE;
  if (strcmp(argv[1], "first") == 0) first_thread_runs(argv);
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    if (strcmp(argv[1], cases[i].name) == 0) cases[i].test();
  }
  return 0;
}
