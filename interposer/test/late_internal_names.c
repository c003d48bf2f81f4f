/* Opens a plugin that calls __libc_free. With MALLOMETER_ACCOUNTING=header such a call would abort the program, so
 * mallometer must print a warning. The arguments are the paths of such a plugin and of a harmless one. */
#include <dlfcn.h>

#include "check.h"

int main(int argc, char **argv) {
  CHECK(argc == 3);
  CHECK(dlopen(argv[1], RTLD_NOW));
  CHECK(dlopen(argv[2], RTLD_NOW));
  CHECK(!dlopen("/no/such/library.so", RTLD_NOW));
  return 0;
}
