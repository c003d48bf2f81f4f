/* The executable of the process, and the size of this library in memory. */
#ifndef MALLOMETER_PLATFORM_EXECUTABLE_H
#define MALLOMETER_PLATFORM_EXECUTABLE_H

#include <stdbool.h>
#include <stddef.h>

/* Returns the path of the executable; the text may lie in `path` or elsewhere. If the system does not report the
 * path, returns the name by which the executable was called. */
const char *executable_path(char *path, size_t capacity);

const char *executable_name(void);

char **process_environment(void);

/* Returns whether the executable has rights that its user lacks (setuid and the like). The environment must not be
 * trusted then. */
bool executable_is_privileged(void);

/* Measures the bytes of this library's segments in whole pages, for own_image_bytes(). Takes the lock of
 * dl_iterate_phdr. Call this once, at the start. */
void own_image_measure(void);
size_t own_image_bytes(void);

#endif
