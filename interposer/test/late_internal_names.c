/*
 * Opens a library late that frees objects without regard to their headers. The hook reports that before the library
 * frees any object. The first argument is the path of such a library, the second that of a harmless one.
 */
#include <dlfcn.h>

#include "check.h"

int main(int argc, char **argv) {
  CHECK(argc == 3);
  CHECK(dlopen(argv[1], RTLD_NOW));
  CHECK(dlopen(argv[2], RTLD_NOW));
  CHECK(!dlopen("/no/such/library.so", RTLD_NOW));
  return 0;
}
