/*
 * Runs a function while the dynamic loader's lock is held, so that no library is loaded, relocated or unloaded
 * meanwhile.
 *
 * The lock of dl_iterate_phdr is not enough: an object that is being relocated is already in the loader's list, and
 * its pages become read-only later. No public function takes the loader's lock, but glibc holds it while dlsym calls
 * the resolver of a symbol of the type IFUNC. This library exports such a symbol only for this purpose.
 */
#ifndef MALLOMETER_PLATFORM_LOADER_LOCK_H
#define MALLOMETER_PLATFORM_LOADER_LOCK_H

#include <stdbool.h>

/*
 * Calls `run` while the lock is held. Returns false, without calling `run`, if the C library has no IFUNC symbols or
 * does not find this library by its name. Waits while other threads load libraries and run their constructors. `run`
 * must not look up symbols, load libraries or allocate. Only one thread may call this at a time.
 */
bool with_loader_lock(void (*run)(void *argument), void *argument);

#endif
