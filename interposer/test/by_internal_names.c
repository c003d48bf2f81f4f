/*
 * A program that calls malloc and free also by the internal names (__libc_malloc) of the C library, which no
 * interposer sees. With MALLOMETER_ACCOUNTING=header, __libc_free would receive an address behind the library's
 * header. The library must therefore refuse this setting with a message, and count usable sizes instead.
 */
#include <malloc.h>
#include <string.h>

#include "check.h"

void *__libc_malloc(size_t size);
void __libc_free(void *object);
void *__libc_realloc(void *object, size_t size);

int main(void) {
  CHECK_EQUAL(self().state, MALLOMETER_STATE_COUNTING);
  CHECK(self().byte_unit != MALLOMETER_UNIT_REQUESTED);
  for (size_t size = 1; size < (size_t)1 << 20; size *= 3) {
    free(__libc_malloc(size));
    __libc_free(malloc(size));
    __libc_free(memset(__libc_realloc(malloc(size), 2 * size), 1, 2 * size));
    free(memset(realloc(__libc_malloc(size), 2 * size), 1, 2 * size));
    __libc_free(memalign(4096, size));
  }
  printf("%s\n", self().reason);
  return 0;
}
