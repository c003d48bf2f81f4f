/* A library that test programs open and close. It allocates when it is opened, on request, and when it is closed. It
 * has 32 thread-local bytes in the loader's small reserve (static TLS). */
#include <stdlib.h>
#include <string.h>

#ifndef TLS_MODEL
#define TLS_MODEL "initial-exec"
#endif
static __thread char in_static_tls[32] __attribute__((tls_model(TLS_MODEL)));
static void *while_loaded;

__attribute__((constructor)) static void load(void) { while_loaded = malloc(123); }
__attribute__((destructor)) static void unload(void) {
  free(while_loaded);
  free(malloc(321));
}

void *library_allocate(size_t size);
void library_free(void *object);
int library_tls(int value);

void *library_allocate(size_t size) { return malloc(size); }
void library_free(void *object) { free(object); }

int library_tls(int value) {
  int sum = 0;
  for (size_t i = 0; i < sizeof in_static_tls; i++) sum += in_static_tls[i];
  memset(in_static_tls, value, sizeof in_static_tls);
  return sum;
}
