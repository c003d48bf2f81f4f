/* Opens libraries and finds their functions. A failure ends the program. */
#ifndef MALLOMETER_TEST_LOADED_LIBRARY_H
#define MALLOMETER_TEST_LOADED_LIBRARY_H

#include <dlfcn.h>
#include <string.h>

#include "check.h"

static inline void *loaded(const char *path, int mode) {
  void *library = dlopen(path, mode);
  if (!library) fprintf(stderr, "%s\n", dlerror());
  CHECK(library);
  return library;
}

/* Stores the address of a library's function in the variable at `function`. */
static inline void find(void *function, void *library, const char *name) {
  void *address = dlsym(library, name);
  CHECK(address);
  memcpy(function, &address, sizeof address);
}

#endif
