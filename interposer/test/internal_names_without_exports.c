/* A library that exports nothing. When it is loaded, it calls the C library's free by its internal name,
 * __libc_free. */
#include <stdlib.h>

void __libc_free(void *object);

__attribute__((constructor)) static void frees_past_interposers(void) { __libc_free(malloc(100)); }
