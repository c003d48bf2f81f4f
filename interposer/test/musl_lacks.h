/* Functions that test programs refer to and musl lacks, as weak references for the linker. Calling one crashes. */
#include <stddef.h>
#pragma weak pvalloc /* defined by the library */
#pragma weak getcontext
#pragma weak makecontext
#pragma weak swapcontext
extern void *pvalloc(size_t size);
