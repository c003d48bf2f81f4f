/*
 * The dynamic loader's services beyond lookups: what is loaded already, and the messages that it keeps.
 */
#ifndef MALLOMETER_PLATFORM_LOADER_H
#define MALLOMETER_PLATFORM_LOADER_H

#include <stdint.h>

/*
 * To be called after lookups that may have failed: the loader keeps a message, which is memory that the process seems
 * to have lost, and which the program's next dlerror() would take for its own.
 */
void forget_loader_errors(void);

/*
 * The handle of a library if it is loaded, NULL if not. By the loader's own dlopen, not the one that this library
 * exports to the program. The library stays for as long as the handle is not closed. Enters the loader.
 */
void *already_loaded(const char *name);

/*
 * How often objects were loaded and unloaded so far. An object counts before its words are filled in. Takes the lock of
 * dl_iterate_phdr for less than a microsecond, not the loader's own.
 */
uint64_t loader_changes(void);

#endif
