/*
 * Opens a plugin with RTLD_DEEPBIND. The plugin then calls the C library's malloc and free instead of mallometer's.
 * Plugin and program must be able to free each other's objects. The first argument is the plugin's path. With a second
 * argument, dlmopen() opens the plugin.
 */
#include <dlfcn.h>
#include <malloc.h>
#include <string.h>

#include "loaded_library.h"

int main(int argc, char **argv) {
  CHECK(argc >= 2);
  CHECK_EQUAL(self().state, MALLOMETER_STATE_COUNTING);
  int mode = RTLD_NOW | RTLD_DEEPBIND;
  void *library = argc == 2 ? dlopen(argv[1], mode) : dlmopen(LM_ID_BASE, argv[1], mode);
  if (!library) fprintf(stderr, "%s\n", dlerror());
  CHECK(library);
  void *(*library_allocate)(size_t);
  void (*library_free)(void *);
  find(&library_allocate, library, "library_allocate");
  find(&library_free, library, "library_free");
  for (size_t size = 1; size < (size_t)1 << 20; size = size * 2 + 1) {
    free(memset(library_allocate(size), 1, size));
    library_free(memset(malloc(size), 1, size));
    library_free(memset(memalign(4096, size), 1, size));
    library_free(realloc(library_allocate(size), 2 * size));
  }
  struct mallometer_counters start = snapshot();
  library_free(library_allocate(50));
  struct mallometer_counters d = difference(start, snapshot());
  int sees_the_library = self().byte_unit == MALLOMETER_UNIT_REQUESTED;
  CHECK_EQUAL(mallometer_allocations(&d), sees_the_library);
  CHECK_EQUAL(d.frees, sees_the_library);
  return dlclose(library);
}
