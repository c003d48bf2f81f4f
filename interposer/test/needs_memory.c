/* A program that needs most of the memory that a limit allows. It allocates as many MiB as its argument says, in
 * pieces of 64 KiB, and writes to all of them. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PIECE = 64 << 10, MOST = 4096 };
static char *pieces[MOST];

static void print(const char *name) {
  char line[128];
  FILE *status = fopen("/proc/self/status", "r");
  while (status && fgets(line, sizeof line, status)) {
    if (strncmp(line, name, strlen(name)) == 0) fputs(line, stdout);
  }
  if (status) fclose(status);
}

int main(int argc, char **argv) {
  int wanted = argc > 1 ? atoi(argv[1]) * (1 << 20) / PIECE : 0;
  print("VmSize");
  print("VmData");
  for (int i = 0; i < wanted && i < MOST; i++) {
    pieces[i] = malloc(PIECE);
    if (!pieces[i]) {
      printf("not so: %d KiB of %s MiB\n", i * (PIECE >> 10), argv[1]);
      return 1;
    }
    memset(pieces[i], 1, PIECE);
  }
  for (int i = 0; i < wanted && i < MOST; i++) free(pieces[i]);
  puts("all of it");
  return 0;
}
