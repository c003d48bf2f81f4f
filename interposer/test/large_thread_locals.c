/* Tests the recording in a program whose thread-local variables take 120,000 bytes. The C library places the
 * variables on each thread's stack, including the stack of the recording's thread. */
#include <time.h>

#include "check.h"

static __thread char variables[120000];

int main(void) {
  USE(variables);
  struct mallometer_recording_status now = {0};
  nanosleep(&(struct timespec){.tv_nsec = 500000000}, NULL); /* the library writes the first record meanwhile */
  CHECK_EQUAL(mallometer_recording(&now), 0);
  CHECK_EQUAL(now.state, MALLOMETER_RECORDING_ON);
  CHECK(remove(now.path) == 0);
  return 0;
}
