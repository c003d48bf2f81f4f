/*
 * A child process for tests that could end the program: the loader executes this library as a program. The child has
 * the same C library, but nothing of the program.
 *
 * A JVM must not be forked: the child would have the JVM's locks, but not its threads. Therefore a first process,
 * which shares the program's memory and makes few system calls, starts the second process, waits for it and ends. The
 * program receives no signal about them, and its calls of wait() do not return them.
 */
#ifndef MALLOMETER_PLATFORM_CHILD_H
#define MALLOMETER_PLATFORM_CHILD_H

/* The results for a child that did not pass a code to _exit; its own codes must differ from these. */
enum child_end { CHILD_NOT_EXECUTED = 43, CHILD_TOO_LONG = 44, CHILD_NOT_STARTED = 45, CHILD_KILLED = 46 };

/*
 * Executes this library with `argument`, or without one if it is NULL, and with this environment. No file is open in
 * the child. Returns an enum child_end, the code that the library's entry (the linker's -e) passes to _exit, or 127
 * if the loader cannot load the library. The child is killed after `longest_ms`, or when the calling thread ends. All
 * signals must be blocked. Allocates nothing but a mapping; may change errno.
 */
int child_run(const char *argument, char *const environment[], unsigned longest_ms);

void child_disable_core_dump(void);

#endif
