/* Starts a child by clone(2) so that the program does not notice it. See child.h. */
#include "platform/child.h"

#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>

#include "platform/memory.h"
#include "platform/system_calls.h"

#define LONGEST_PATH 4096u
#define STACK_BYTES 16384u

struct child {
  char loader[LONGEST_PATH];
  char library[LONGEST_PATH];
  char *arguments[4];
  char *const *environment;
  unsigned longest_ms;
  char stack_of_keeper[STACK_BYTES];
  char stack_of_program[STACK_BYTES];
};

/* Makes the kernel kill this process when its parent thread ends. The process shares the program's memory, and would
 * otherwise keep that memory alive after the end of the program. */
static void end_with_parent(void) { prctl(PR_SET_PDEATHSIG, SIGKILL); }

static int execute(void *argument) {
  const struct child *child = argument;
  end_with_parent();
#ifdef SYS_close_range
  syscall(SYS_close_range, 0, UINT32_MAX, 0);
#endif
  for (int file = 0; file <= 2; file++) close(file); /* kernels before 5.9 have no close_range */
  execve(child->loader, child->arguments, child->environment);
  _exit(CHILD_NOT_EXECUTED);
}

static char *end_of(char stack[]) { return (char *)((uintptr_t)(stack + STACK_BYTES) & ~(uintptr_t)15); }

static int code_of(int status) {
  if (WIFEXITED(status)) return WEXITSTATUS(status);
  return CHILD_KILLED;
}

/* Runs in the keeper, the process between the program and the child (child.h). Gives SIGCHLD its default action: a
 * process that ignores SIGCHLD, as some programs do, cannot wait for a child. */
static int keep(void *argument) {
  struct child *child = argument;
  const struct sigaction usual = {.sa_handler = SIG_DFL};
  end_with_parent();
  sigaction(SIGCHLD, &usual, NULL);
  const struct timespec a_moment = {0, 500000};
  int status, program = clone(execute, end_of(child->stack_of_program), CLONE_VM | CLONE_VFORK, child);
  if (program < 0) _exit(CHILD_NOT_STARTED);
  for (unsigned moments = 0; moments < 2 * child->longest_ms; moments++) {
    int ended = wait4(program, &status, __WALL | WNOHANG, NULL);
    if (ended == program) _exit(code_of(status));
    if (ended < 0) _exit(CHILD_NOT_STARTED);
    nanosleep(&a_moment, NULL);
  }
  kill(program, SIGKILL);
  wait4(program, &status, __WALL, NULL);
  _exit(CHILD_TOO_LONG);
}

static bool find_path(uintptr_t address, char path[LONGEST_PATH]) {
  char text[4096 + LONGEST_PATH];
  size_t held = 0;
  bool found = false;
  int maps = call_open("/proc/self/maps", O_RDONLY);
  while (maps >= 0 && !found) {
    ssize_t more = call_read(maps, text + held, sizeof text - 1 - held);
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
  if (maps >= 0) call_close(maps);
  return found;
}

static int start(struct child *child, const char *argument) {
  static const char inside;
  if (!find_path(getauxval(AT_BASE), child->loader) || !find_path((uintptr_t)&inside, child->library)) {
    return CHILD_NOT_STARTED;
  }
  child->arguments[0] = child->loader;
  child->arguments[1] = child->library;
  child->arguments[2] = (char *)(uintptr_t)argument;
  int status, keeper = clone(keep, end_of(child->stack_of_keeper), CLONE_VM | CLONE_VFORK, child);
  if (keeper < 0) return CHILD_NOT_STARTED;
  return wait4(keeper, &status, __WALL, NULL) == keeper ? code_of(status) : CHILD_NOT_STARTED;
}

int child_run(const char *argument, char *const environment[], unsigned longest_ms) {
  struct child *child = memory_map(NULL, sizeof *child);
  if (!child) return CHILD_NOT_STARTED;
  child->environment = environment;
  child->longest_ms = longest_ms;
  int code = start(child, argument);
  memory_unmap(child, sizeof *child);
  return code;
}

void child_disable_core_dump(void) { prctl(PR_SET_DUMPABLE, 0); }
