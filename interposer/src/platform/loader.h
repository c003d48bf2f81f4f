/* Services of the dynamic loader other than looking up functions: which objects are loaded, and the error message that
 * the loader stores. */
#ifndef MALLOMETER_PLATFORM_LOADER_H
#define MALLOMETER_PLATFORM_LOADER_H

#include <stdint.h>

/*
 * Frees the loader's error message after look-ups that may have failed. Otherwise the message would look like leaked
 * memory, and the program's next dlerror() would return it.
 */
void forget_loader_errors(void);

/*
 * Returns a handle of a library if it is loaded; otherwise NULL. Calls the loader's own dlopen, not the one that this
 * library exports. The library stays loaded until the handle is closed. Enters the loader.
 */
void *already_loaded(const char *name);

/*
 * Returns how many times objects were loaded or unloaded so far. An object is counted before it is relocated.
 * Takes the lock of dl_iterate_phdr for less than a microsecond, and not the loader's lock.
 */
uint64_t loader_changes(void);

#endif
