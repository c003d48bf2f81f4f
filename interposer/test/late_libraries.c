/*
 * Opens twelve libraries that use the loader's small reserve for thread-local variables (static TLS), which
 * mallometer must not use up. Also opens and closes one library many times. The arguments are the paths of the
 * libraries.
 */
#include <dlfcn.h>
#include <pthread.h>

#include "loaded_library.h"

static int libraries;
static char **paths;

static void *static_tls(void *unused) {
  for (int i = 0; i < libraries; i++) {
    void *library = loaded(paths[i], RTLD_NOW | RTLD_LOCAL);
    int (*library_tls)(int);
    find(&library_tls, library, "library_tls");
    CHECK_EQUAL(library_tls(i), 0); /* the sum of the library's 32 thread-local bytes */
    CHECK_EQUAL(library_tls(i), 32 * i);
  }
  return unused;
}

static void *coming_and_going(void *kept) {
  void *library = loaded(paths[0], RTLD_NOW | RTLD_LOCAL);
  void *(*library_allocate)(size_t);
  find(&library_allocate, library, "library_allocate");
  free(kept);
  kept = library_allocate(77);
  CHECK_EQUAL(dlclose(library), 0);
  return kept;
}

int main(int argc, char **argv) {
  libraries = argc - 1;
  paths = argv + 1;
  CHECK_EQUAL(libraries, 12);

  /* lets the loader allocate its own tables, which must not count */
  void *kept = coming_and_going(coming_and_going(NULL));
  struct mallometer_counters start = snapshot();
  for (int i = 0; i < 300; i++) {
    kept = coming_and_going(kept);
    CHECK(!dlopen(paths[0], RTLD_NOW | RTLD_NOLOAD));
  }
  struct mallometer_counters d = difference(start, snapshot());
  CHECK(mallometer_allocations(&d) >= 300 * 3);
  CHECK_EQUAL(d.frees, mallometer_allocations(&d));
  CHECK_EQUAL(mallometer_live_bytes(&d), 0);
  free(kept);

  static_tls(NULL);
  pthread_t thread;
  CHECK_EQUAL(pthread_create(&thread, NULL, static_tls, NULL), 0);
  pthread_join(thread, NULL);
  return 0;
}
