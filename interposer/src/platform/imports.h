/*
 * Replaces the function that one loaded object calls in another one, by changing the word that holds the function's
 * address. Code is not changed; other objects keep calling the old function.
 */
#ifndef MALLOMETER_PLATFORM_IMPORTS_H
#define MALLOMETER_PLATFORM_IMPORTS_H

#include <stdbool.h>

/*
 * Redirects calls of `function`, which is at `from`, to `to` in the object whose code contains `caller`. Returns false
 * if nothing was redirected: no such call is bound, or the system forbids it. Takes the loader's lock and allocates
 * nothing. Not for an object that is being loaded, which the loader may still write.
 */
bool import_redirect(const void *caller, const char *function, const void *from, const void *to);

#endif
