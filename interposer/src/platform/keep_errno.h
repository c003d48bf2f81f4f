/* Preserves the program's errno in functions that interrupt the program: hooks, handlers of signals and forks, and
 * functions of mallometer.h. */
#ifndef MALLOMETER_PLATFORM_KEEP_ERRNO_H
#define MALLOMETER_PLATFORM_KEEP_ERRNO_H

#include <errno.h>

static inline void restore_errno(const int *saved) { errno = *saved; }

/* Saves errno, and restores it at the end of the block, after the function's result is computed. */
#define KEEP_ERRNO __attribute__((cleanup(restore_errno), unused)) const int saved_errno = errno

#endif
