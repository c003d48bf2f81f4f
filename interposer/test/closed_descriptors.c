/* Tests a process without standard descriptors, and a process that opens a file of its own as descriptor 2. The
 * library must not write its messages to that file. An invalid value in the environment causes a message. */
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"

static int works_without_descriptors(void) {
  for (int i = 0; i < 1000; i++) close(i);
  struct mallometer_counters start = snapshot();
  for (size_t i = 0; i < 1000; i++) free(malloc(i * 100));
  struct mallometer_counters d = difference(start, snapshot());
  if (mallometer_disable() != 0 || mallometer_enable() != 0) return 2;
  if (mallometer_allocations(&d) != 1000 || d.frees != 1000) return 3;
  return self().state == MALLOMETER_STATE_COUNTING ? 0 : 4;
}

int main(int argc, char **argv) {
  if (argc == 2) return works_without_descriptors();
  pid_t child = fork();
  if (child == 0) {
    for (int i = 0; i < 1000; i++) close(i);
    setenv("MALLOMETER_HUGE", "nonsense", 1);
    execl(argv[0], argv[0], "without", (char *)NULL);
    _exit(1);
  }
  int status = 0;
  CHECK_EQUAL(waitpid(child, &status, 0), child);
  CHECK(WIFEXITED(status));
  CHECK_EQUAL(WEXITSTATUS(status), 0);

  char name[] = "/tmp/mallometer-test-XXXXXX";
  int file = mkstemp(name), standard_error = dup(2);
  CHECK(file >= 0 && dup2(file, 2) == 2);
  unlink(name);
  mallometer_disable();
  mallometer_enable();
  for (size_t i = 0; i < 1000; i++) free(malloc(i * 1000));
  struct stat information;
  CHECK_EQUAL(fstat(2, &information), 0);
  dup2(standard_error, 2);
  CHECK_EQUAL(information.st_size, 0);
  return 0;
}
