/* Makes the error that the argument names, which memcheck must report: `write` writes behind the end of an object,
 * `lost` loses an object, `twice` frees an object twice. */
#include <stdlib.h>
#include <string.h>

int main(int argc, char **argv) {
  if (argc != 2) return 1;
  char *volatile object = malloc(100);
  if (strcmp(argv[1], "write") == 0) object[100] = 1;
  if (strcmp(argv[1], "lost") == 0) object = NULL;
  if (strcmp(argv[1], "twice") == 0) free(object);
  free(object);
  return 0;
}
