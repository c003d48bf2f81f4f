/*
 * Writing to the program's standard error without doing it harm. A program whose error output nobody reads any more
 * would be ended by a signal for a line that is not its own.
 */
#ifndef MALLOMETER_PLATFORM_STANDARD_ERROR_H
#define MALLOMETER_PLATFORM_STANDARD_ERROR_H

#include <stddef.h>

/*
 * Writes the bytes by one system call, so that lines of several processes do not mix. Sends no SIGPIPE, takes none that
 * was pending, and tells nobody if it fails. No cancellation point; may change errno.
 */
void standard_error_write(const char *bytes, size_t length);

#endif
