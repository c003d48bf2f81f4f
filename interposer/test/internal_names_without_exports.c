/* A library that exports nothing, and frees by the C library's internal name when it is loaded. */
#include <stdlib.h>

void __libc_free(void *object);

__attribute__((constructor)) static void frees_past_interposers(void) { __libc_free(malloc(100)); }
