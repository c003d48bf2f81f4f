/*
 * A library that frees past the headers is opened late, which is reported before it frees. Its path is the first
 * argument; that of a library that does not is the second.
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
