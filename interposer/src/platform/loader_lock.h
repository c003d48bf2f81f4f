/*
 * Runs a function with the dynamic loader's lock, so that no library is loaded, relocated or unloaded meanwhile.
 *
 * The lock that dl_iterate_phdr takes is not enough: an object that is being relocated is in the loader's list already,
 * and its pages are closed later. No public function takes the loader's lock, but glibc holds it while dlsym calls the
 * resolver of a symbol of the type IFUNC. This library exports such a symbol, to which nothing refers.
 */
#ifndef MALLOMETER_PLATFORM_LOADER_LOCK_H
#define MALLOMETER_PLATFORM_LOADER_LOCK_H

#include <stdbool.h>

/*
 * Runs `run` with the lock. Returns false, without running it, if the C library has no such symbols or does not know
 * this library by its name. Waits for threads that load libraries, whose constructors run with the lock. `run` must not
 * look up symbols, load libraries or allocate. The caller ensures that only one thread calls this at a time.
 */
bool with_loader_lock(void (*run)(void *argument), void *argument);

#endif
