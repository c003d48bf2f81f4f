/* Services of the dynamic loader: which objects are loaded, and the error message that the loader stores. */
#ifndef MALLOMETER_PLATFORM_LOADER_H
#define MALLOMETER_PLATFORM_LOADER_H

#include <stdint.h>

/* Frees the loader's error message after look-ups that may have failed. Otherwise the program's next dlerror() would
 * return the message, and tools would report the message as leaked memory. */
void forget_loader_errors(void);

/* Returns a handle of a library; NULL if it is not loaded. The library stays loaded until the handle is closed. Calls
 * the loader's own dlopen, not the one that this library exports. Enters the loader. */
void *already_loaded(const char *name);

/*
 * Returns how many times objects were loaded or unloaded so far. An object is counted before it is relocated.
 * Takes the lock of dl_iterate_phdr for less than a microsecond, and not the loader's lock.
 */
uint64_t loader_changes(void);

#endif
