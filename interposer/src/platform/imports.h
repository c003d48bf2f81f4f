/* Makes one loaded object call another function in place of a given one, by changing the object's entry for it in the
 * global offset table (GOT). Other objects still call the old function. */
#ifndef MALLOMETER_PLATFORM_IMPORTS_H
#define MALLOMETER_PLATFORM_IMPORTS_H

#include <stdbool.h>

/*
 * Makes the object whose code contains `caller` call the function at `to` instead of `function`, which is at `from`.
 * Returns false if nothing was redirected: there is no such call, the system forbids the change, or the processor's
 * relocations are unknown. Takes the lock of dl_iterate_phdr; does not allocate. Must not be used for an object that
 * is being loaded, because the loader may still write its GOT.
 */
bool import_redirect(const void *caller, const char *function, const void *from, const void *to);

#endif
