/* Declares weak symbols for functions that musl lacks, so that test programs can be linked. A call of such a
 * function crashes. */
#include <stddef.h>
#pragma weak pvalloc /* can be called: mallometer defines pvalloc */
#pragma weak getcontext
#pragma weak makecontext
#pragma weak swapcontext
extern void *pvalloc(size_t size);
