/* Opens the library by dlopen() in a process in which it was not preloaded. The library counts nothing, states this in
 * its report, and leaves the program undisturbed. */
#include <dlfcn.h>
#include <errno.h>
#include <string.h>

#include "mallometer.h"
#define EXPECT(condition)                                                     \
  do {                                                                        \
    if (!(condition)) {                                                       \
      fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #condition); \
      return 1;                                                               \
    }                                                                         \
  } while (0)
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv) {
  EXPECT(argc == 2);
  void *library = dlopen(argv[1], RTLD_NOW | RTLD_GLOBAL);
  EXPECT(library);
  __typeof__(mallometer_self) *self_function = (__typeof__(mallometer_self) *)dlsym(library, "mallometer_self");
  __typeof__(mallometer_snapshot) *snapshot_function =
      (__typeof__(mallometer_snapshot) *)dlsym(library, "mallometer_snapshot");
  __typeof__(mallometer_enable) *enable_function = (__typeof__(mallometer_enable) *)dlsym(library, "mallometer_enable");
  EXPECT(self_function && snapshot_function && enable_function);
  struct mallometer_report self = {0};
  EXPECT(self_function(&self) == 0);
  EXPECT(self.state == MALLOMETER_STATE_NOT_PRELOADED);
  EXPECT(strstr(self.reason, "LD_PRELOAD"));
  EXPECT(enable_function() == -ENODATA);
  free(malloc(100));
  struct mallometer_counters s = {0};
  EXPECT(snapshot_function(&s) == 0);
  EXPECT(mallometer_allocations(&s) == 0);
  EXPECT(dlclose(library) == 0);
  free(malloc(100));
  return 0;
}
