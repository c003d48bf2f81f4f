/*
 * Opens a plugin that calls __libc_free, which ignores the headers that mallometer has put before objects
 * (MALLOMETER_ACCOUNTING=header). mallometer must print a warning when the plugin is opened, before it can free an
 * object. The first argument is the path of such a plugin, the second that of a harmless one.
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
