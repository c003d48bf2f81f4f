/*
 * Opens a plugin that defines some forms of operator new and delete. Each form of delete must free objects of the
 * corresponding form of new. The first argument is the plugin's path. With a second argument any delete may free
 * objects of any new.
 */
#include <dlfcn.h>

#include "loaded_library.h"

static void call(void *library, const char *name) {
  void (*function)(void);
  find(&function, library, name);
  function();
}

int main(int argc, char **argv) {
  CHECK(argc >= 2);
  void *library = loaded(argv[1], RTLD_NOW | RTLD_LOCAL);
  call(library, "library_pairs");
  if (argc > 2) call(library, "library_mixes");
  return 0;
}
