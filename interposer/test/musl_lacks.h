/* Makes references to functions weak if musl lacks these, so that test programs can be linked. Calls of them crash. */
#include <stddef.h>
#pragma weak pvalloc /* does not crash: mallometer defines pvalloc */
#pragma weak getcontext
#pragma weak makecontext
#pragma weak swapcontext
extern void *pvalloc(size_t size);
