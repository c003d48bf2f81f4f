/*
 * What the process runs: its executable, and how large this library is in it.
 */
#ifndef MALLOMETER_PLATFORM_EXECUTABLE_H
#define MALLOMETER_PLATFORM_EXECUTABLE_H

#include <stdbool.h>
#include <stddef.h>

/* The path of the executable, in `path` or elsewhere; as it was called where the system does not tell its path. */
const char *executable_path(char *path, size_t capacity);

/* The name by which it was called, without folders. */
const char *executable_name(void);

/* The process's environment, NULL at its end. */
char **process_environment(void);

/* Whether it has rights that its user has not (setuid and the like), and must not trust its environment. */
bool executable_is_privileged(void);

/* Adds up what the segments of this library occupy, in whole pages, its tables and buffers included. Takes the loader's
 * lock: to be called once, at the start. */
void own_image_measure(void);
size_t own_image_bytes(void);

#endif
