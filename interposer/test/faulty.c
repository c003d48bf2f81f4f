/* Makes three errors, which memcheck must report: loses an object, writes behind the end of an object, and frees an
 * object twice. */
#include <stdlib.h>

int main(void) {
  char *volatile object = malloc(100);
  object = malloc(100);
  object[100] = 1;
  free(object);
  free(object);
  return 0;
}
