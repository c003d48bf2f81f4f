/*
 * A throwaway process for trials that could end the program: this library, executed by the loader as a program. It has
 * the same C library and nothing of the program.
 *
 * A JVM must not be forked: the child would have its locks, but not its threads. So a first process that shares our
 * memory, and makes only a dozen system calls, starts the second one, waits for it and ends. The program receives no
 * signal about either, and its own waits cannot meet them.
 */
#ifndef MALLOMETER_PLATFORM_CHILD_H
#define MALLOMETER_PLATFORM_CHILD_H

/* The codes of a child that ended without a code of its own. The child uses other codes. */
enum child_end { CHILD_NOT_EXECUTED = 43, CHILD_TOO_LONG = 44, CHILD_NOT_STARTED = 45, CHILD_KILLED = 46 };

/*
 * Executes this library with one argument, or none if that is NULL, and with this environment, which ends with NULL. No
 * file is open in the child. Returns the code that it ends with: an enum child_end, the code that the library's entry
 * (the linker's -e) passes to _exit, or 127 from a loader that cannot load it. A child that takes longer than
 * `longest_ms` is killed; it is also killed when the calling thread ends. All signals must be blocked. Allocates
 * nothing but a mapping; may change errno.
 */
int child_run(const char *argument, char *const environment[], unsigned longest_ms);

/* Prevents a core dump when the child is killed. Call this first in the child. */
void child_disable_core_dump(void);

#endif
