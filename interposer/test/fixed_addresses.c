/*
 * An executable that is linked to fixed addresses and takes malloc's address: every function then seems to lie in the
 * executable. Counting works as anywhere, and the address that the program took leads to the hook.
 */
#include <malloc.h>

#include "check.h"

static void *(*volatile allocate)(size_t) = malloc;
static void (*volatile release)(void *) = free;
static void *(*volatile resize)(void *, size_t) = realloc;
static void *(*volatile clear)(size_t, size_t) = calloc;

int main(void) {
  CHECK_EQUAL(self().state, MALLOMETER_STATE_COUNTING);
  struct mallometer_counters start = snapshot();
  release(resize(allocate(100), 200));
  release(clear(3, 100));
  free(malloc(100));
  struct mallometer_counters d = difference(start, snapshot());
  CHECK_EQUAL(mallometer_allocations(&d), 4);
  CHECK_EQUAL(d.frees, 4);
  CHECK_EQUAL(mallometer_live_bytes(&d), 0);
  return 0;
}
