/*
 * A throwaway process in which may fail what would end the program: this very library, executed by the loader as a
 * program of its own. It has the same C library below and nothing of the program's.
 *
 * A JVM must not be forked, for its threads do not exist in the child while its locks do; so a first process that
 * shares our memory, in which only a dozen system calls happen, starts the second one, waits for it and ends. No signal
 * tells the program of either, and none of its own waits can meet them.
 */
#ifndef MALLOMETER_PLATFORM_CHILD_H
#define MALLOMETER_PLATFORM_CHILD_H

/* How a child ends that does not itself say with which code. Its own codes are others. */
enum child_end { CHILD_NOT_EXECUTED = 43, CHILD_TOO_LONG = 44, CHILD_NOT_STARTED = 45, CHILD_KILLED = 46 };

/*
 * Executes this library with one argument, or none if that is NULL, and with this environment, which ends with NULL; no
 * file is open in the child. Returns the code that it ends with: an enum child_end, the code that the library's entry
 * (the linker's -e) passes to _exit, or 127 from a loader that cannot load it. A child that takes longer than
 * `longest_ms` is killed; it is also killed when the calling thread ends. All signals must be blocked. Allocates
 * nothing but a mapping; may change errno.
 */
int child_run(const char *argument, char *const environment[], unsigned longest_ms);

/* In the child, first of all: it leaves no core when it is killed. */
void child_leaves_no_core(void);

#endif
