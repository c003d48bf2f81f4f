/*
 * Tests look-ups like those of Java's foreign functions: the JVM opens libsyslookup.so, whose path is the first
 * argument, and looks up C functions in it. A look-up of malloc must find mallometer's malloc. Other look-ups must
 * find the functions that libsyslookup.so needs, and not those of the program or of mallometer.
 *
 * The second argument, if any, is the path of a library that opens libsyslookup.so in place of the program. Look-ups
 * may then also find functions of the program and of mallometer.
 */
#include <dlfcn.h>
#include <string.h>

#include "check.h"

int function_of_program(void);
int function_of_program(void) { return 0; }

static void *open_from(const char *opener, const char *library) {
  void *handle = dlopen(opener, RTLD_LAZY);
  CHECK(handle);
  void *(*open_library)(const char *);
  void *address = dlsym(handle, "open_library");
  CHECK(address);
  memcpy(&open_library, &address, sizeof address);
  return open_library(library);
}

static void malloc_is_counted(void *library) {
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
}

int main(int argc, char **argv) {
  CHECK(argc == 2 || argc == 3);
  CHECK(dlsym(RTLD_DEFAULT, "function_of_program") && dlsym(RTLD_DEFAULT, "mallometer_self"));
  void *library = argc == 3 ? open_from(argv[2], argv[1]) : dlopen(argv[1], RTLD_LAZY);
  CHECK(library);
  malloc_is_counted(library);
  CHECK(dlsym(library, "free") == dlsym(RTLD_DEFAULT, "free"));
  CHECK(dlsym(library, "cosh") && dlsym(library, "getpid"));
  CHECK(!dlsym(library, "no_such_function") && strstr(dlerror(), "no_such_function"));
  if (argc == 2) {
    CHECK(!dlsym(library, "function_of_program"));
    CHECK(!dlsym(library, "mallometer_self") && !dlsym(library, "sdallocx") && !dlsym(library, "_Znwm"));
    CHECK(dlopen(argv[1], RTLD_LAZY) == library);
  }
  /* RTLD_NEXT finds mallometer's malloc, because no library between the program and mallometer defines malloc. */
  CHECK(dlsym(RTLD_NEXT, "malloc") == dlsym(RTLD_DEFAULT, "malloc"));
  CHECK(!dlopen("/nowhere/libsyslookup.so", RTLD_LAZY) && strstr(dlerror(), "/nowhere"));
  return 0;
}
