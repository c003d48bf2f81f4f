/*
 * Checks the library's state in some environment. The first argument names the state, and the library counts or does
 * not count accordingly. When main begins, dlerror() must report no error of the library's look-ups. The reason must
 * contain the second argument, if there is one.
 */
#include <dlfcn.h>
#include <errno.h>
#include <string.h>

#include "check.h"

int main(int argc, char **argv) {
  CHECK(argc >= 2);
  CHECK(!dlerror()); /* a look-up of the library that failed must not be seen by the program */
  static const char *const names[] = {NULL, "counting", "disabled", "not-preloaded", "excluded", "unsupported"};
  uint32_t state = self().state;
  CHECK(state >= 1 && state <= 5);
  if (strcmp(names[state], argv[1]) != 0) {
    fprintf(stderr, "state is %s, expected %s\n", names[state], argv[1]);
    return 1;
  }
  if (argc > 2 && !strstr(self().reason, argv[2])) {
    fprintf(stderr, "reason is \"%s\", expected it to contain \"%s\"\n", self().reason, argv[2]);
    return 1;
  }
  struct mallometer_counters start = snapshot();
  free(malloc(100));
  free(malloc(100000));
  struct mallometer_counters d = difference(start, snapshot());
  CHECK_EQUAL(mallometer_allocations(&d), state == MALLOMETER_STATE_COUNTING ? 2 : 0);
  CHECK_EQUAL(d.frees, state == MALLOMETER_STATE_COUNTING ? 2 : 0);
  struct mallometer_counters own = {0};
  int thread_result = mallometer_thread_snapshot(&own);
  CHECK_EQUAL(thread_result, state >= MALLOMETER_STATE_NOT_PRELOADED ? -ENODATA : 0);
  printf("huge above %" PRIu64 "\n", self().huge_threshold_bytes);
  return 0;
}
