/* A program that allocates what exit_report.sh expects, and has a child that ends as it does. */
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"

__attribute__((noinline, noclone)) static void *asks_for_much(void) {
  void *object = malloc(200u << 20);
  USE(object);
  return object;
}

int main(void) {
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
