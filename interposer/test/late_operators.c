/*
 * A C program opens a library that replaces some of the operators new and delete. If the linker has bound the library's
 * calls to its own operators, these serve its calls, and the hook's operators serve the forms that the library does not
 * replace. Otherwise the hook's operators serve all calls. Both must work as long as each form of delete frees what its
 * counterpart allocated. The first argument is the library's path. A second argument says that no calls are bound; then
 * forms may be mixed.
 */
#include <dlfcn.h>
#include <string.h>

#include "check.h"

static void call(void *library, const char *name) {
  void (*function)(void);
  void *address = dlsym(library, name);
  CHECK(address);
  memcpy(&function, &address, sizeof function);
  function();
}

int main(int argc, char **argv) {
  CHECK(argc >= 2);
  void *library = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
  if (!library) fprintf(stderr, "%s\n", dlerror());
  CHECK(library);
  call(library, "library_pairs");
  if (argc > 2) call(library, "library_mixes");
  return 0;
}
