/*
 * Writes to the program's standard error without SIGPIPE. If the reader of that output has ended, the signal would end
 * the program because of a line that the program did not write.
 */
#ifndef MALLOMETER_PLATFORM_STANDARD_ERROR_H
#define MALLOMETER_PLATFORM_STANDARD_ERROR_H

#include <stddef.h>

/* Writes the bytes by one system call, so that lines of several processes do not mix. Sends no SIGPIPE, leaves a
 * SIGPIPE that was pending before, and ignores failures. The function is no cancellation point; it may change errno. */
void standard_error_write(const char *bytes, size_t length);

#endif
