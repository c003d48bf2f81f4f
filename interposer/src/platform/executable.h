/* The executable of the process, and the size of this library in memory. */
#ifndef MALLOMETER_PLATFORM_EXECUTABLE_H
#define MALLOMETER_PLATFORM_EXECUTABLE_H

#include <stdbool.h>
#include <stddef.h>

/* Returns the path of the executable, in `path` or in other memory. If the system does not report it, returns the name
 * by which the executable was called. */
const char *executable_path(char *path, size_t capacity);

/* Returns the name by which the executable was called, without folders. */
const char *executable_name(void);

/* Returns the process's environment, which ends with NULL. */
char **process_environment(void);

/* Returns whether the executable has rights that its user lacks (setuid and the like). The environment must then not be
 * trusted. */
bool executable_is_privileged(void);

/*
 * Sums up the segments of this library in whole pages, including its tables and buffers; own_image_bytes() returns the
 * sum. Takes the lock of dl_iterate_phdr. Call this once, at the start.
 */
void own_image_measure(void);
size_t own_image_bytes(void);

#endif
