/*
 * Tests the call stack that the library records for a huge request. The stack must lead from malloc's caller to
 * main() or to the beginning of the thread, or end at the first frame that the library cannot unwind. It must be
 * empty if the thread runs on a stack that the program made, such as an alternate signal stack.
 *
 * The first argument says how the library unwinds: "dwarf", "fp" (by frame pointers) or "off". The second argument is
 * the path of a library.
 */
#include <alloca.h>
#include <dlfcn.h>
#include <errno.h>
#include <malloc.h>
#include <pthread.h>
#include <search.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>
#include <unwind.h>

#include "check.h"

#define LARGE ((size_t)100 << 20)
#define NOINLINE __attribute__((noinline, noclone))

static const char *how;
static struct mallometer_event event;

static void latest_event(void) {
  struct mallometer_counters now = snapshot();
  CHECK_EQUAL(mallometer_events(&event, 1, now.huge_allocations - 1), 1);
}

/* Addresses of functions of this file. A return address belongs to the last function that begins before it. */
static const void *known[32];

static bool frame_is_in(unsigned i, const void *function) {
  uint64_t at = i < event.frames ? event.stack[i] : 0, begin = (uint64_t)(uintptr_t)function;
  if (at <= begin) return false;
  for (size_t k = 0; k < sizeof known / sizeof *known; k++) {
    uint64_t other = (uint64_t)(uintptr_t)known[k];
    if (other > begin && other <= at) return false;
  }
  return true;
}

static NOINLINE void *use(void *object) {
  CHECK(object);
  USE(object);
  errno = 0;
  return object;
}

/* ---- Functions that allocate in different ways -------------------------------------------------------- */

static NOINLINE void by_malloc(void) { free(use(malloc(LARGE))); }
static NOINLINE void by_calloc(void) { free(use(calloc(10, LARGE / 10 + 1))); }
static NOINLINE void by_realloc(void) { free(use(realloc(use(malloc(10)), LARGE))); }
static NOINLINE void by_memalign(void) { free(use(memalign(64, LARGE))); }
static NOINLINE void by_posix_memalign(void) {
  void *object = NULL;
  CHECK_EQUAL(posix_memalign(&object, 4096, LARGE), 0);
  free(use(object));
}

static void (*const ways[])(void) = {by_malloc, by_calloc, by_realloc, by_memalign, by_posix_memalign};

/* ---- Functions with different kinds of stack frames --------------------------------------------------- */

static NOINLINE void plainly(void (*way)(void)) {
  way();
  USE(way);
}

static NOINLINE void with_an_aligned_stack(void (*way)(void)) {
  _Alignas(256) volatile char buffer[512];
  buffer[3] = 1;
  way();
  USE(buffer);
}

static NOINLINE void with_room_on_the_stack(void (*way)(void)) {
  volatile char *room = alloca((size_t)getpid() % 7 * 1000 + 100);
  room[0] = 1;
  way();
  USE(room);
}

static NOINLINE void with_a_large_frame(void (*way)(void)) {
  volatile char buffer[200000];
  buffer[5] = 1;
  way();
  USE(buffer);
}

static void (*const frames[])(void (*)(void)) = {plainly, with_an_aligned_stack, with_room_on_the_stack,
                                                 with_a_large_frame};

static NOINLINE void outermost(void (*frame)(void (*)(void)), void (*way)(void)) {
  frame(way);
  USE(frame);
}

static NOINLINE void each_way_through_each_frame(void) {
  for (size_t f = 0; f < sizeof frames / sizeof *frames; f++) {
    for (size_t w = 0; w < sizeof ways / sizeof *ways; w++) {
      outermost(frames[f], ways[w]);
      CHECK_EQUAL(errno, 0);
      latest_event();
      if (strcmp(how, "off") == 0) {
        CHECK_EQUAL(event.frames, 0);
        continue;
      }
      CHECK(frame_is_in(0, (const void *)(uintptr_t)ways[w]));
      CHECK(frame_is_in(1, (const void *)(uintptr_t)frames[f]));
      CHECK(frame_is_in(2, (const void *)(uintptr_t)outermost));
      CHECK(frame_is_in(3, (const void *)(uintptr_t)each_way_through_each_frame));
      CHECK(event.frames >= 5); /* the four above, and at least main() */
    }
  }
}

/* ---- Threads, handlers, coroutines -------------------------------------------------------------------- */

static NOINLINE void *in_a_thread(void *unused) {
  plainly(by_malloc);
  return unused;
}

static void on_signal(int signal) {
  (void)signal;
  plainly(by_malloc);
  USE(signal);
}

/* Checks that the recorded stack leads to `beginning`, the first function of the thread, and has at most `most`
 * frames. */
static void expect_end(const void *beginning, unsigned most) {
  latest_event();
  CHECK(frame_is_in(0, (const void *)(uintptr_t)by_malloc));
  CHECK(frame_is_in(1, (const void *)(uintptr_t)plainly));
  CHECK(frame_is_in(2, beginning));
  CHECK(event.frames <= most);
}

/* The library records no stack of a thread that runs on a stack made by the program, because such a stack can have
 * little room. */
static void expect_none(void) {
  latest_event();
  CHECK_EQUAL(event.frames, 0);
}

static void on_other_stacks(void) {
  pthread_t thread;
  pthread_attr_t small;
  pthread_attr_init(&small);
  pthread_attr_setstacksize(&small, 64 * 1024);
  CHECK_EQUAL(pthread_create(&thread, &small, in_a_thread, NULL), 0);
  pthread_join(thread, NULL);
  expect_end((const void *)(uintptr_t)in_a_thread, 5);

  static char signal_stack[64 * 1024];
  stack_t stack = {.ss_sp = signal_stack, .ss_size = sizeof signal_stack};
  CHECK_EQUAL(sigaltstack(&stack, NULL), 0);
  struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_ONSTACK};
  sigaction(SIGUSR1, &action, NULL);
  raise(SIGUSR1);
  expect_none();
}

#ifdef __GLIBC__ /* musl lacks makecontext() and unwind tables of its functions */
static ucontext_t here, there;

static void in_a_context(void) {
  plainly(by_malloc);
  USE(&there);
}

/* Allocates in a context (makecontext) whose stack lies between two inaccessible pages. */
static void on_the_stack_of_a_context(void) {
  size_t page = (size_t)getpagesize(), size = 16 * page;
  char *mapped = mmap(NULL, size + 2 * page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  CHECK(mapped != MAP_FAILED && mprotect(mapped + page, size, PROT_READ | PROT_WRITE) == 0);
  for (int round = 0; round < 2; round++) {
    getcontext(&there);
    there.uc_stack.ss_sp = mapped + page;
    there.uc_stack.ss_size = size;
    there.uc_link = &here;
    makecontext(&there, in_a_context, 0);
    swapcontext(&here, &there);
    expect_none();
  }
  munmap(mapped, size + 2 * page);
}

/* ---- Code of other libraries -------------------------------------------------------------------------- */

/* The return addresses that the compiler's unwinder finds in compare(). */
static void *expected[MALLOMETER_EVENT_FRAMES + 1];
static int count;

static _Unwind_Reason_Code add_frame(struct _Unwind_Context *context, void *unused) {
  if (count <= MALLOMETER_EVENT_FRAMES) expected[count++] = (void *)_Unwind_GetIP(context);
  return unused ? _URC_END_OF_STACK : _URC_NO_REASON;
}

static NOINLINE void compare(void) {
  count = 0;
  _Unwind_Backtrace(add_frame, NULL);
  by_malloc();
  latest_event();
  CHECK(frame_is_in(0, (const void *)(uintptr_t)by_malloc));
  CHECK(frame_is_in(1, (const void *)(uintptr_t)compare));
  CHECK(count > 3);
  for (int i = 1; i < count && i + 1 < MALLOMETER_EVENT_FRAMES; i++) {
    CHECK((unsigned)i + 1 < event.frames || expected[i] == NULL);
    CHECK_EQUAL(event.stack[i + 1], (uintptr_t)expected[i]);
  }
}

static bool compared;

static int compare_once(const void *a, const void *b) {
  if (!compared) compare();
  compared = true;
  return *(const int *)a - *(const int *)b;
}

static void walk_tree(const void *node, VISIT visit, int depth) {
  if (visit == preorder && depth == 0) compare();
  USE(node);
}

static void through_the_c_library(void) {
  int numbers[] = {5, 3, 4, 1, 2};
  qsort(numbers, 5, sizeof *numbers, compare_once);
  void *tree = NULL;
  for (int i = 0; i < 5; i++) CHECK(tsearch(&numbers[i], &tree, compare_once));
  twalk(tree, walk_tree);
  for (int i = 0; i < 5; i++) tdelete(&numbers[i], &tree, compare_once);
}

#endif

/* ---- Stacks that cannot be unwound -------------------------------------------------------------------- */

static void expect_death_by_exit(void (*body)(void)) {
  pid_t child = fork();
  CHECK(child >= 0);
  if (child == 0) {
    body();
    _exit(0);
  }
  int status;
  CHECK_EQUAL(waitpid(child, &status, 0), child);
  CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

static uint64_t garbage = 0x9e3779b97f4a7c15u;

/* Overwrites 40 words of the stack above this frame, including return addresses and frame pointers, and then
 * allocates. The library must not crash. */
static NOINLINE void smashed(void) {
  for (unsigned round = 0; round < 200; round++) {
    uint64_t *above = (uint64_t *)__builtin_frame_address(0) + 1;
    for (unsigned i = 0; i < 40; i++) {
      garbage = garbage * 6364136223846793005u + 1442695040888963407u;
      uint64_t kinds[] = {garbage, (uint64_t)(uintptr_t)(above + garbage % 4096),
                          (uint64_t)(uintptr_t)above + garbage % 999, (uint64_t)(uintptr_t)smashed + garbage % 64, 0};
      above[i] = kinds[garbage >> 40 & 3] + (garbage >> 60 == 0);
    }
    void *object = malloc(LARGE);
    USE(object);
    free(object);
  }
  _exit(0);
}

/* A function that this program generates at run time, as a JIT compiler does. No unwind table describes it. It calls
 * `function` with `size`. */
typedef void *generated(void *(*function)(size_t), size_t size);

static const unsigned char generated_code[] = {
#if defined(__x86_64__)
    0x48, 0x89, 0xf8,       /* mov %rdi, %rax */
    0x48, 0x89, 0xf7,       /* mov %rsi, %rdi */
    0x48, 0x83, 0xec, 0x08, /* sub $8, %rsp */
    0xff, 0xd0,             /* call *%rax */
    0x48, 0x83, 0xc4, 0x08, /* add $8, %rsp */
    0xc3,                   /* ret */
#elif defined(__aarch64__)
    0xfd, 0x7b, 0xbf, 0xa9, /* stp x29, x30, [sp, #-16]! */
    0xe2, 0x03, 0x00, 0xaa, /* mov x2, x0 */
    0xe0, 0x03, 0x01, 0xaa, /* mov x0, x1 */
    0x40, 0x00, 0x3f, 0xd6, /* blr x2 */
    0xfd, 0x7b, 0xc1, 0xa8, /* ldp x29, x30, [sp], #16 */
    0xc0, 0x03, 0x5f, 0xd6, /* ret */
#endif
};

static NOINLINE void from_code_generated_at(uintptr_t wish) {
  size_t page = (size_t)getpagesize();
  char *place = mmap((void *)wish, page, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  CHECK(place != MAP_FAILED && (!wish || place == (char *)wish));
  memcpy(place, generated_code, sizeof generated_code);
  __builtin___clear_cache(place, place + sizeof generated_code);
  generated *call;
  memcpy(&call, &place, sizeof call);
  free(use(call(malloc, LARGE)));
  latest_event();
  CHECK_EQUAL(event.frames, 0); /* malloc's caller is generated code, which is in no loaded library */
  munmap(place, page);
}

static void *open_and_find(const char *path, void *(**library_allocate)(size_t)) {
  void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  CHECK(library);
  void *address = dlsym(library, "library_allocate");
  CHECK(address);
  memcpy(library_allocate, &address, sizeof address);
  return library;
}

/* Calls malloc from generated code at the address of an unloaded library. mallometer may still know the library, but
 * the library's unwind tables no longer exist. */
static NOINLINE void from_where_a_library_was(const char *path) {
  void *(*library_allocate)(size_t);
  void *library = open_and_find(path, &library_allocate);
  free(use(library_allocate(LARGE)));
  latest_event();
  CHECK(event.frames >= 3);
  uintptr_t page = (uintptr_t)library_allocate & ~((uintptr_t)getpagesize() - 1);
  CHECK_EQUAL(dlclose(library), 0);
  if (!dlopen(path, RTLD_NOW | RTLD_NOLOAD)) from_code_generated_at(page); /* musl never unloads a library */
}

static NOINLINE void from_a_deleted_library(const char *path) {
  char copy[] = "/tmp/mallometer-stack-XXXXXX", command[4096];
  int file = mkstemp(copy);
  CHECK(file >= 0 && close(file) == 0);
  snprintf(command, sizeof command, "cp '%s' '%s'", path, copy);
  CHECK_EQUAL(system(command), 0);
  void *(*library_allocate)(size_t);
  void *library = open_and_find(copy, &library_allocate);
  CHECK_EQUAL(unlink(copy), 0);
  free(use(library_allocate(LARGE)));
  latest_event();
  uint64_t begin = (uint64_t)(uintptr_t)library_allocate;
  CHECK(event.frames >= 3 && event.stack[0] > begin && event.stack[0] - begin < 100);
  CHECK(frame_is_in(1, (const void *)(uintptr_t)from_a_deleted_library));
  CHECK_EQUAL(dlclose(library), 0);
}

int main(int argc, char **argv) {
  CHECK(argc == 3);
  how = argv[1];
#define KNOWN(i, function) known[i] = (const void *)(uintptr_t)function
  KNOWN(0, by_malloc), KNOWN(1, by_calloc), KNOWN(2, by_realloc), KNOWN(3, by_memalign), KNOWN(4, by_posix_memalign);
  KNOWN(5, plainly), KNOWN(6, with_an_aligned_stack), KNOWN(7, with_room_on_the_stack), KNOWN(8, with_a_large_frame);
  KNOWN(9, outermost), KNOWN(10, each_way_through_each_frame), KNOWN(11, in_a_thread), KNOWN(12, on_signal);
  KNOWN(14, smashed), KNOWN(15, main), KNOWN(16, use), KNOWN(17, latest_event);
  KNOWN(22, from_a_deleted_library);
#ifdef __GLIBC__
  KNOWN(13, in_a_context), KNOWN(18, compare);
#endif
  KNOWN(19, on_other_stacks), KNOWN(20, from_code_generated_at), KNOWN(21, snapshot);
  each_way_through_each_frame();
  if (strcmp(how, "dwarf") == 0) {
    on_other_stacks();
#ifdef __GLIBC__
    on_the_stack_of_a_context();
    through_the_c_library();
#endif
  }
  expect_death_by_exit(smashed);
  if (strcmp(how, "off") == 0) return 0;
  from_code_generated_at(0);
  from_where_a_library_was(argv[2]);
  from_a_deleted_library(argv[2]);
  return 0;
}
