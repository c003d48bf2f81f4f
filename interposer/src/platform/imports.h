/*
 * Replaces a function for the calls from one loaded object, by changing the object's word (GOT entry) that has the
 * function's address. Code is not changed, and other objects still call the old function.
 */
#ifndef MALLOMETER_PLATFORM_IMPORTS_H
#define MALLOMETER_PLATFORM_IMPORTS_H

#include <stdbool.h>

/*
 * Redirects calls of `function` from the address `from` to the address `to`, in the object whose code contains
 * `caller`. Returns false if nothing was redirected, because the object has no such call, the system forbids the
 * change, or the processor's relocations are not known. Takes the lock of dl_iterate_phdr; does not allocate. Must not
 * be used for an object that is being loaded, because the loader may still write the object's GOT.
 */
bool import_redirect(const void *caller, const char *function, const void *from, const void *to);

#endif
