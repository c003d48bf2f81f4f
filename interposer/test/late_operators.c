/*
 * A C program opens a library that replaces some of the operators new and delete. Operators that the library does not
 * bind to itself are the hook's. Operators that it binds serve its own calls; those that it does not replace are the
 * hook's. This works as long as each form of delete frees what its counterpart allocated. The first argument is the
 * library's path; a second one says that it binds nothing, and may mix forms.
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
