/* A statically linked program, which the library cannot reach: it runs as if nothing were preloaded. */
#include "check.h"

int main(void) {
  CHECK(!mallometer_available());
  free(realloc(malloc(100), 100000));
  return 0;
}
