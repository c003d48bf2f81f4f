/*
 * Starts processes by vfork, by posix_spawn and by chains of exec. The library must count in each started program,
 * and the parent's counters must not change. A program that is started with an empty environment runs without the
 * library.
 */
#include <spawn.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"

static char *program;

static int exit_code(pid_t child) {
  int status = 0;
  CHECK_EQUAL(waitpid(child, &status, 0), child);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/* Runs in a started program. Checks that the library counts, and executes the program again until `left` is 0. */
static int link_of_chain(const char *left) {
  CHECK_EQUAL(self().state, MALLOMETER_STATE_COUNTING);
  struct mallometer_counters start = snapshot();
  free(malloc(64));
  struct mallometer_counters d = difference(start, snapshot());
  CHECK_EQUAL(mallometer_allocations(&d), 1);
  int number = atoi(left);
  if (number == 0) return 0;
  char next[16];
  snprintf(next, sizeof next, "%d", number - 1);
  execl(program, program, "chain", next, (char *)NULL);
  return 1;
}

static void by_vfork(void) {
  struct mallometer_counters start = snapshot();
  for (int i = 0; i < 30; i++) {
    pid_t child = vfork();
    if (child == 0) {
      execl("/bin/true", "true", (char *)NULL);
      _exit(1);
    }
    CHECK_EQUAL(exit_code(child), 0);
  }
  pid_t child = vfork();
  if (child == 0) {
    execl("/nowhere", "nowhere", (char *)NULL);
    _exit(7);
  }
  CHECK_EQUAL(exit_code(child), 7);
  struct mallometer_counters d = difference(start, snapshot());
  CHECK_EQUAL(d.frees, mallometer_allocations(&d));
  CHECK_EQUAL(snapshot().threads, 1);
}

static void by_posix_spawn(void) {
  char *arguments[] = {program, (char[]){"chain"}, (char[]){"3"}, NULL};
  for (int i = 0; i < 5; i++) {
    pid_t child;
    CHECK_EQUAL(posix_spawn(&child, program, NULL, NULL, arguments, environ), 0);
    CHECK_EQUAL(exit_code(child), 0);
  }
}

/* `env -i` removes LD_PRELOAD, so the program must run without the library. */
static void by_env(void) {
  pid_t child = fork();
  if (child == 0) {
    execl("/usr/bin/env", "env", "-i", program, "bare", (char *)NULL);
    _exit(1);
  }
  CHECK_EQUAL(exit_code(child), 0);
}

static void by_shell(void) {
  CHECK_EQUAL(system("sh -c 'sh -c \"/bin/true && exec /bin/true\"'"), 0);
  FILE *pipe = popen("echo one; echo two", "r");
  char line[16];
  CHECK(pipe && fgets(line, sizeof line, pipe) && strcmp(line, "one\n") == 0);
  CHECK(fgets(line, sizeof line, pipe) && strcmp(line, "two\n") == 0);
  CHECK_EQUAL(pclose(pipe), 0);
}

int main(int argc, char **argv) {
  program = argv[0];
  if (argc == 3) return link_of_chain(argv[2]);
  if (argc == 2) return mallometer_available() || getenv("LD_PRELOAD") ? 1 : 0;
  free(malloc(1)); /* gives this thread its counters, so that snapshot().threads includes it */
  by_vfork();
  by_posix_spawn();
  by_env();
  by_shell();
  return 0;
}
