/* Opens a C++ plugin in a process without a C++ runtime library. Each operator new or delete of the plugin must count
 * once, and an operator new that fails must throw. The first argument is the plugin's path. */
#include <dlfcn.h>
#include <string.h>

#include "loaded_library.h"

int main(int argc, char **argv) {
  CHECK(argc == 2);
  /* Allocators other than glibc's may be written in C++ and need a C++ runtime library. */
  if (strncmp(self().allocator, "glibc", 5) == 0) CHECK(!dlsym(RTLD_DEFAULT, "__cxa_throw"));
  void *library = loaded(argv[1], RTLD_NOW | RTLD_LOCAL);
  void (*allocate)(void);
  int (*out_of_memory)(void);
  find(&allocate, library, "cxx_allocate");
  find(&out_of_memory, library, "cxx_out_of_memory");
  allocate();
  for (int i = 0; i < 3; i++) {
    struct mallometer_counters start = snapshot();
    allocate();
    struct mallometer_counters d = difference(start, snapshot());
    CHECK_EQUAL(mallometer_allocations(&d), 5);
    CHECK_EQUAL(d.frees, 5);
    CHECK_EQUAL(mallometer_live_bytes(&d), 0);
    /* mimalloc defines operator new in C, so it aborts instead of throwing. */
    if (strncmp(self().allocator, "mimalloc", 8) == 0) continue;
    start = snapshot();
    CHECK_EQUAL(out_of_memory(), 0);
    d = difference(start, snapshot());
    CHECK(d.failed >= 5);
  }
  return 0;
}
