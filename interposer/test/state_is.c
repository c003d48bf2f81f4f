/* Checks that the library is in the state that the first argument names. The library must count in the state
 * "counting" only. With a second argument, the reason in the library's report must contain this argument. */
#include <dlfcn.h>
#include <errno.h>
#include <string.h>

#include "check.h"

int main(int argc, char **argv) {
  CHECK(argc >= 2);
  CHECK(!dlerror()); /* look-ups that fail inside of the library must leave no error */
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
