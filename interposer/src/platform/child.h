/*
 * A child process for tests that could end the program: this library, which the loader executes as a program. The child
 * has the same C library, but nothing of the program.
 *
 * A JVM must not be forked: the child would have the JVM's locks, but not the JVM's threads. Therefore a first process
 * that shares the program's memory, and makes only a dozen system calls, starts the second process, waits for it and
 * ends. The program receives no signal about either process, and the program's calls of wait() do not return these
 * processes.
 */
#ifndef MALLOMETER_PLATFORM_CHILD_H
#define MALLOMETER_PLATFORM_CHILD_H

/* The results for a child that did not end by passing a code to _exit. The codes of a child differ from these. */
enum child_end { CHILD_NOT_EXECUTED = 43, CHILD_TOO_LONG = 44, CHILD_NOT_STARTED = 45, CHILD_KILLED = 46 };

/*
 * Executes this library with one argument, or with none if `argument` is NULL, and with an environment that ends with
 * NULL. No file is open in the child. Returns an enum child_end, the code that the library's entry (the linker's -e)
 * passes to _exit, or 127 if the loader cannot load the library. A child that takes longer than `longest_ms` is killed;
 * it is also killed when the calling thread ends. All signals must be blocked. Allocates nothing but a mapping; may
 * change errno.
 */
int child_run(const char *argument, char *const environment[], unsigned longest_ms);

/* Prevents a core dump when the child is killed. Call this first in the child. */
void child_disable_core_dump(void);

#endif
