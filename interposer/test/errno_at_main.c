/* Checks that errno is 0 when main begins (ISO C, 7.5), and that a forked child begins with its parent's errno. The
 * program and the child read errno before they call any function. */
#include <errno.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"

int main(void) {
  int at_main = errno;
  CHECK_EQUAL(at_main, 0);
  errno = 4711;
  pid_t child = fork();
  if (child == 0) _exit(errno == 4711 ? 0 : 1);
  int status;
  CHECK(child > 0 && waitpid(child, &status, 0) == child);
  CHECK_EQUAL(status, 0);
  return 0;
}
