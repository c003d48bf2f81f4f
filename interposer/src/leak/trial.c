/* See trial.h. */
#include "leak/trial.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "allocator/glibc.h"
#include "allocator/next.h"
#include "leak/slots.h"
#include "leak/watch.h"
#include "platform/arch.h"

#define PAGE ((size_t)4096)
#define LONGEST_PATH 4096u
#define LONGEST_TRIAL_MS 5000
#define STACK_BYTES 16384u

/* The argument that asks for the other trial. */
#define TRIAL_OF_WATCH "watch"

/* What changes how glibc allocates, and where it is. */
#define REMEMBERED 2
static const char *const names_to_remember[REMEMBERED] = {"GLIBC_TUNABLES=", "LD_LIBRARY_PATH="};
static char *remembered[REMEMBERED + 1];

/* How a trial ends. */
enum { FIRST_OF_WATCH = 16, PASSED = 42, NOT_EXECUTED = 43, TOO_LONG = 44, NOT_STARTED = 45, KILLED = 46 };

/* ---- The program --------------------------------------------------------------------------------------- */

static bool is_mapped(const void *page) {
  unsigned char resident;
  return mincore((void *)(uintptr_t)page, 1, &resident) == 0;
}

static char *object_of(size_t offset, size_t pages) {
  char *begin = mmap((void *)0x10000000, pages * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (begin == MAP_FAILED) return NULL;
  glibc_write_mapped_chunk((uintptr_t)begin, offset, pages * PAGE);
  memset(begin + offset, 7, 100);
  return begin + offset;
}

static bool frees(size_t offset, size_t pages) {
  char *object = object_of(offset, pages), *begin = object - offset;
  if (!object || next.usable_size(object) != pages * PAGE - offset) return false;
  next.free(object);
  return !is_mapped(begin);
}

static bool reallocates(size_t offset, size_t pages, size_t size) {
  char *object = object_of(offset, pages);
  char *moved = object ? next.realloc(object, size) : NULL;
  if (!moved || next.usable_size(moved) < size) return false;
  for (size_t i = 0; i < 100; i++) {
    if (moved[i] != 7) return false;
  }
  memset(moved, 8, size);
  next.free(moved);
  return true;
}

static bool allocates_as_before(void) {
  static void *objects[1000];
  for (size_t i = 0; i < 1000; i++) {
    objects[i] = next.malloc(i * 100);
    if (!objects[i]) return false;
    memset(objects[i], 1, i * 100);
  }
  for (size_t i = 0; i < 1000; i++) next.free(objects[i]);
  return true;
}

static bool slots_can_be_freed(void) {
  if (!next_allocator_find(NULL) || !glibc_chunks_are_readable()) return false;
  for (size_t offset = 16; offset <= SLOT_ALIGNMENT; offset *= 2) {
    if (!frees(offset, 1) || !frees(offset, 16) || !frees(offset, 100)) return false;
    if (!reallocates(offset, 1, 9000) || !reallocates(offset, 1, 200) || !reallocates(offset, 16, 200)) return false;
  }
  return allocates_as_before();
}

/* `stack` as a program finds it: how many arguments, then they. */
__attribute__((used, noreturn)) static void trial_main(char *const *stack) {
  char *const *arguments = stack + 1;
  prctl(PR_SET_DUMPABLE, 0); /* no core */
  if (stack[0] && arguments[1] && strcmp(arguments[1], TRIAL_OF_WATCH) == 0)
    _exit(FIRST_OF_WATCH + (int)watch_self_test());
  _exit(slots_can_be_freed() ? PASSED : EXIT_FAILURE);
}

/* Where the loader goes when this library is the program (the linker's -e). */
DEFINE_PROGRAM_ENTRY(trial_entry, trial_main);

/* ---- Its start ----------------------------------------------------------------------------------------- */

struct trial {
  char loader[LONGEST_PATH];
  char library[LONGEST_PATH];
  char *arguments[4];
  char *environment[REMEMBERED + 1];
  char stack_of_keeper[STACK_BYTES];
  char stack_of_program[STACK_BYTES];
};

/* A process ends with the thread that started it: with a program that ends during a trial, whose memory it holds. */
static void end_with_parent(void) { prctl(PR_SET_PDEATHSIG, SIGKILL); }

static int execute(void *argument) {
  const struct trial *trial = argument;
  end_with_parent();
#ifdef SYS_close_range
  syscall(SYS_close_range, 0, UINT32_MAX, 0);
#endif
  for (int file = 0; file <= 2; file++) close(file); /* on kernels before 5.9 */
  execve(trial->loader, trial->arguments, trial->environment);
  _exit(NOT_EXECUTED);
}

static char *end_of(char stack[]) { return (char *)((uintptr_t)(stack + STACK_BYTES) & ~(uintptr_t)15); }

static int code_of(int status) {
  if (WIFEXITED(status)) return WEXITSTATUS(status);
  return KILLED;
}

/*
 * Between the program and the trial. What a program has decided for its children is not for ours: of those of who
 * ignores SIGCHLD nothing is left to wait for, and the number of one that has ended may be another's.
 */
static int keep(void *argument) {
  struct trial *trial = argument;
  const struct sigaction usual = {.sa_handler = SIG_DFL};
  end_with_parent();
  sigaction(SIGCHLD, &usual, NULL);
  const struct timespec a_moment = {0, 500000};
  int status, program = clone(execute, end_of(trial->stack_of_program), CLONE_VM | CLONE_VFORK, trial);
  if (program < 0) _exit(NOT_STARTED);
  for (int moments = 0; moments < 2 * LONGEST_TRIAL_MS; moments++) {
    int ended = wait4(program, &status, __WALL | WNOHANG, NULL);
    if (ended == program) _exit(code_of(status));
    if (ended < 0) _exit(NOT_STARTED);
    nanosleep(&a_moment, NULL);
  }
  kill(program, SIGKILL);
  wait4(program, &status, __WALL, NULL);
  _exit(TOO_LONG);
}

/* Copies the path of the file that is mapped at an address, as the kernel knows it; a line of maps, see proc(5). */
static bool find_path(uintptr_t address, char path[LONGEST_PATH]) {
  char text[4096 + LONGEST_PATH];
  size_t held = 0;
  bool found = false;
  int maps = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
  while (maps >= 0 && !found) {
    ssize_t more = read(maps, text + held, sizeof text - 1 - held);
    if (more <= 0) break;
    held += (size_t)more;
    text[held] = '\0';
    char *line = text, *end;
    for (; !found && (end = strchr(line, '\n')); line = end + 1) {
      *end = '\0';
      char *after;
      uintptr_t first = strtoul(line, &after, 16), last = strtoul(after + 1, NULL, 16);
      const char *name = strchr(line, '/');
      if (address < first || address >= last || !name || strlen(name) >= LONGEST_PATH) continue;
      strcpy(path, name);
      found = true;
    }
    held -= (size_t)(line - text);
    memmove(text, line, held);
    if (held == sizeof text - 1) held = 0;
  }
  if (maps >= 0) close(maps);
  return found;
}

static int start(struct trial *trial, const char *which) {
  if (!find_path(getauxval(AT_BASE), trial->loader) || !find_path((uintptr_t)trial_main, trial->library)) {
    return NOT_STARTED;
  }
  trial->arguments[0] = trial->loader;
  trial->arguments[1] = trial->library;
  trial->arguments[2] = (char *)(uintptr_t)which;
  memcpy(trial->environment, remembered, sizeof remembered);
  int status, keeper = clone(keep, end_of(trial->stack_of_keeper), CLONE_VM | CLONE_VFORK, trial);
  if (keeper < 0) return NOT_STARTED;
  return wait4(keeper, &status, __WALL, NULL) == keeper ? code_of(status) : NOT_STARTED;
}

void trial_remembers(char *const environment[]) {
  size_t found = 0;
  for (size_t i = 0; i < REMEMBERED; i++) {
    for (char *const *entry = environment; entry && *entry; entry++) {
      if (strncmp(*entry, names_to_remember[i], strlen(names_to_remember[i])) != 0) continue;
      remembered[found++] = *entry;
      break;
    }
  }
}

/* The code that it ends with. */
static int run(const char *which) {
  struct trial *trial = mmap(NULL, sizeof *trial, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (trial == MAP_FAILED) return NOT_STARTED;
  int code = start(trial, which);
  munmap(trial, sizeof *trial);
  return code;
}

const char *trial_of_watch(void) {
  int code = run(TRIAL_OF_WATCH);
  switch (code) {
    case FIRST_OF_WATCH + WATCH_WORKS:
      return NULL;
    case FIRST_OF_WATCH + WATCH_FORBIDDEN:
    case FIRST_OF_WATCH + WATCH_NOT_IN_KERNEL:
    case FIRST_OF_WATCH + WATCH_KERNEL_IS_OLD:
    case FIRST_OF_WATCH + WATCH_NO_REGISTERS:
    case FIRST_OF_WATCH + WATCH_COMES_LATE:
      return watch_trial_means((enum watch_trial)(code - FIRST_OF_WATCH));
    case KILLED:
      return watch_trial_means(WATCH_KERNEL_IS_OLD);
    default:
      return "whether watchpoints work cannot be tried out: no program can be executed";
  }
}

const char *trial_of_slots(void) {
  static char why[160];
  int code = run(NULL);
  switch (code) {
    case PASSED:
      return NULL;
    case NOT_STARTED:
    case NOT_EXECUTED:
    case 127: /* the loader's */
      return "whether this glibc frees slots cannot be tried out: no program can be executed";
    case TOO_LONG:
      return "whether this glibc frees slots is not known: the trial took too long";
    default:
      snprintf(why, sizeof why, "this glibc does not free slots as others do (trial ended with %d)", code);
      return why;
  }
}
