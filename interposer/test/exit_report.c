/* exit_report.sh runs this program, and expects its allocations in the report at exit. A forked child also ends by
 * exit(), and must report the same allocations. With an argument, the program keeps the named file open in place of
 * standard error. */
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"

__attribute__((noinline, noclone)) static void *asks_for_much(void) {
  void *object = malloc(200u << 20);
  USE(object);
  return object;
}

int main(int count, char **arguments) {
  if (count > 1) CHECK(open(arguments[1], O_WRONLY | O_CREAT, 0600) == STDERR_FILENO);
  void *much = asks_for_much();
  CHECK(much);
  for (int i = 0; i < 1000; i++) {
    void *object = malloc(100);
    USE(object);
    free(object);
  }
  free(much);
  int status;
  pid_t child = fork();
  if (child == 0) exit(0);
  CHECK(waitpid(child, &status, 0) == child && status == 0);
  return 0;
}
