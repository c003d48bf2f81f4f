/* A statically linked program, into which no library can be preloaded. It must run as without mallometer. */
#include "check.h"

int main(void) {
  CHECK(!mallometer_available());
  free(realloc(malloc(100), 100000));
  return 0;
}
