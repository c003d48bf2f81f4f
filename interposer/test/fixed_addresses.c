/*
 * Tests a program that is linked to fixed addresses and takes the addresses of malloc and free. The dynamic linker then
 * binds malloc and free to addresses in the executable, for every library. mallometer must also count calls through
 * these addresses.
 *
 * An argument means that another allocator was preloaded before mallometer. mallometer must then count nothing and give
 * a reason that contains the argument, such as "malloc of libjemalloc.so.2 comes first".
 */
#include <malloc.h>
#include <string.h>

#include "check.h"

int main(int argc, char **argv) {
  CHECK_EQUAL(self().state, argc > 1 ? MALLOMETER_STATE_NOT_PRELOADED : MALLOMETER_STATE_COUNTING);
  if (argc > 1) {
    printf("%s\n", self().reason);
    CHECK(strstr(self().reason, argv[1]));
  }
  /* The code contains these addresses as constants, so the linker defines the symbols in the executable. */
  void *(*volatile allocate)(size_t) = malloc;
  void (*volatile release)(void *) = free;
  void *(*volatile resize)(void *, size_t) = realloc;
  void *(*volatile clear)(size_t, size_t) = calloc;
  struct mallometer_counters start = snapshot();
  release(resize(allocate(100), 200));
  release(clear(3, 100));
  free(malloc(100));
  struct mallometer_counters d = difference(start, snapshot());
  CHECK_EQUAL(mallometer_allocations(&d), argc > 1 ? 0 : 4);
  CHECK_EQUAL(d.frees, argc > 1 ? 0 : 4);
  CHECK_EQUAL(mallometer_live_bytes(&d), 0);
  return 0;
}
