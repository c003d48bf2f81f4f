/*
 * Tries out what would end the program if it went wrong, in a process that may end (platform/child.h).
 *
 * That glibc frees an object whose page looks like one that it has mapped is so in the releases that we know; another
 * may abort. A sandbox may end a process that reads memory by system calls. Kernels before 5.18 end a process in which
 * a watchpoint raises a signal that is blocked. The process has the same glibc below, with the settings that the
 * program started with, and nothing of the program's.
 */
#ifndef MALLOMETER_LEAK_TRIAL_H
#define MALLOMETER_LEAK_TRIAL_H

#include "platform/resident_memory.h"

/* When the process starts, before anybody changes the environment. */
void trial_remembers(char *const environment[]);

/* NULL if slots can be freed past the hook; else why they cannot, or why nobody knows. All signals must be blocked. */
const char *trial_of_slots(void);

/* NULL if the process's memory can be copied this way (platform/resident_memory.h); else why not. As above. */
const char *trial_of_copying(enum memory_copying by);

/* NULL if mincore tells which pages are in memory; else why not. As above. */
const char *trial_of_mincore(void);

/* NULL if watchpoints (watch.h) work and end nobody; else why not. All signals must be blocked. */
const char *trial_of_watch(void);

#endif
