/*
 * Java's foreign functions: the JVM opens the library of the first argument, libsyslookup.so, and looks C functions up
 * in it. malloc is found where every other caller of the program has it, and so are functions of what the library
 * needs.
 */
#include <dlfcn.h>
#include <string.h>

#include "check.h"

int main(int argc, char **argv) {
  CHECK(argc == 2);
  void *library = dlopen(argv[1], RTLD_LAZY);
  CHECK(library);
  void *address = dlsym(library, "malloc");
  CHECK(address && address == dlsym(RTLD_DEFAULT, "malloc"));
  void *(*allocate)(size_t);
  memcpy(&allocate, &address, sizeof address);
  struct mallometer_counters start = snapshot();
  void *object = allocate(100);
  USE(object);
  struct mallometer_counters d = difference(start, snapshot());
  CHECK_EQUAL(mallometer_allocations(&d), 1);
  free(object);
  CHECK(dlsym(library, "cosh"));
  CHECK(!dlsym(library, "no_such_function"));
  CHECK(!dlopen("/nowhere/libsyslookup.so", RTLD_LAZY) && strstr(dlerror(), "/nowhere"));
  return 0;
}
