/*
 * Tries out what would end the program if it went wrong, in a process that may end.
 *
 * That glibc frees an object whose page looks like one that it has mapped is so in the releases that we know; another
 * may abort. The trial is this very library, executed by the loader as a program of its own: it has the same glibc
 * below and nothing of the program's. A JVM must not be forked, for its threads do not exist in the child while its
 * locks do; so a first process that shares our memory, in which only a dozen system calls happen, starts the second
 * one, waits for it and ends. No signal tells the program of either, and none of its own waits can meet them.
 */
#ifndef MALLOMETER_LEAK_TRIAL_H
#define MALLOMETER_LEAK_TRIAL_H

/* When the process starts, before anybody changes the environment. */
void trial_remembers(char *const environment[]);

/* NULL if slots can be freed past the hook; else why they cannot, or why nobody knows. All signals must be blocked. */
const char *trial_of_slots(void);

/* NULL if watchpoints (watch.h) work and end nobody; else why not. All signals must be blocked. */
const char *trial_of_watch(void);

#endif
