/* Redirects the calls of one loaded object from one function to another, by a change of the object's entry in the
 * global offset table (GOT). Other objects still call the old function. */
#ifndef MALLOMETER_PLATFORM_IMPORTS_H
#define MALLOMETER_PLATFORM_IMPORTS_H

#include <stdbool.h>

/*
 * Redirects calls of `function`, whose address is `from`, to the function at `to`, in the object whose code contains
 * `caller`. Returns false if nothing was redirected: the object does not call the function, the system forbids the
 * change, or the processor's relocations are unknown. Takes the lock of dl_iterate_phdr; does not allocate. Must not be
 * used for an object that is being loaded, because the loader may still write its GOT.
 */
bool import_redirect(const void *caller, const char *function, const void *from, const void *to);

#endif
