/*
 * The word through which one loaded object calls a function of another, and another function in it. Code stays as it
 * is; the object notices nothing, and other objects keep calling the old function.
 */
#ifndef MALLOMETER_PLATFORM_IMPORTS_H
#define MALLOMETER_PLATFORM_IMPORTS_H

#include <stdbool.h>

/*
 * In the object whose code contains `caller`, redirects calls of `function`, which is at `from`, to `to`. False if
 * nothing was redirected: no such call is bound, or the system forbids it. Takes the loader's lock, allocates nothing.
 * For objects that run already: one that is being loaded may still be written by the loader.
 */
bool import_redirect(const void *caller, const char *function, const void *from, const void *to);

#endif
