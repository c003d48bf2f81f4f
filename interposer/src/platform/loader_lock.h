/*
 * Runs a function while no library is loaded, relocated or unloaded: with the dynamic loader's own lock.
 *
 * The lock that dl_iterate_phdr takes is not enough: an object that is being relocated is in the loader's list already,
 * and its pages are closed a moment later. The lock has no public function, but glibc holds it while dlsym calls the
 * resolver of a symbol of the type IFUNC. This library exports such a symbol, to which nothing refers.
 */
#ifndef MALLOMETER_PLATFORM_LOADER_LOCK_H
#define MALLOMETER_PLATFORM_LOADER_LOCK_H

#include <stdbool.h>

/*
 * False if the C library has no such symbols, or does not know this library by its name: then nothing ran. Waits for
 * threads that load libraries, whose constructors run with the lock. `run` must not look symbols up, load libraries or
 * allocate. One thread at a time; the caller sees to that.
 */
bool with_loader_lock(void (*run)(void *argument), void *argument);

#endif
