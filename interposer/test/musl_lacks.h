/* What test programs refer to and musl lacks, so that they can be linked: calls of these end the program. */
#include <stddef.h>
#pragma weak pvalloc /* which the library has */
#pragma weak getcontext
#pragma weak makecontext
#pragma weak swapcontext
extern void *pvalloc(size_t size);
