/*
 * Runs tests in a child process, because the tests could end the program. The loader executes this library as the
 * child's program. The child has the same C library, but no other code and no memory of the program.
 *
 * A JVM must not be forked: the child would have the JVM's locks, but not its threads. Therefore an intermediate
 * process, the keeper, starts the child, waits for the child and ends. The keeper shares the program's memory and makes
 * few system calls. The program receives no SIGCHLD for these processes, and its calls of wait() do not return them.
 */
#ifndef MALLOMETER_PLATFORM_CHILD_H
#define MALLOMETER_PLATFORM_CHILD_H

/* The results of child_run() for a child that did not call _exit(). The child must not pass any of these values to
 * _exit(). */
enum child_end { CHILD_NOT_EXECUTED = 43, CHILD_TOO_LONG = 44, CHILD_NOT_STARTED = 45, CHILD_KILLED = 46 };

/*
 * Executes this library as a program, with `argument` (none if NULL) and `environment`. No file is open in the child.
 * Returns the code that the library's entry (the linker's -e) passes to _exit(). Returns 127 if the loader cannot load
 * the library, and an enum child_end if the child did not call _exit(). The child is killed after `longest_ms`, or when
 * the calling thread ends. All signals must be blocked. Allocates nothing but a mapping; may change errno.
 */
int child_run(const char *argument, char *const environment[], unsigned longest_ms);

void child_disable_core_dump(void);

#endif
