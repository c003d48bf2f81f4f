/* Writes to the program's standard error without SIGPIPE. If the reader of that output has ended, a line of this
 * library must not end the program. */
#ifndef MALLOMETER_PLATFORM_STANDARD_ERROR_H
#define MALLOMETER_PLATFORM_STANDARD_ERROR_H

#include <stddef.h>

/* Writes the bytes by one system call, so that lines of several processes do not mix. Sends no SIGPIPE, keeps a
 * SIGPIPE that was pending before, and ignores failures. Not a cancellation point; may change errno. */
void standard_error_write(const char *bytes, size_t length);

#endif
