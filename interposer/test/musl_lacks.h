/* Makes references to functions that musl lacks weak, so that test programs can be linked. Calling such a function
 * crashes. */
#include <stddef.h>
#pragma weak pvalloc /* does not crash: mallometer defines pvalloc */
#pragma weak getcontext
#pragma weak makecontext
#pragma weak swapcontext
extern void *pvalloc(size_t size);
