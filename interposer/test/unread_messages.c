/* Lets the library write a message to a standard error that is a pipe without a reader. SIGPIPE must not end the
 * program. */
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"

int main(int argc, char *argv[]) {
  if (argc > 1) return 0;
  int ends[2];
  CHECK_EQUAL(pipe(ends), 0);
  close(ends[0]);
  signal(SIGPIPE, SIG_DFL);
  pid_t child = fork();
  if (child == 0) {
    dup2(ends[1], STDERR_FILENO);
    setenv("MALLOMETER_ENABLED", "perhaps", 1);
    execl("/proc/self/exe", argv[0], "again", (char *)NULL);
    _exit(126);
  }
  int status;
  CHECK_EQUAL(waitpid(child, &status, 0), child);
  CHECK_EQUAL(status, 0);
  return 0;
}
