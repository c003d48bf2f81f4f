/*
 * Detects programs that header accounting would crash: a loaded object calls the C library's malloc or free by their
 * internal names, which no interposer sees, and might free an object with a header that way.
 */
#ifndef MALLOMETER_CONTROL_REFUSAL_H
#define MALLOMETER_CONTROL_REFUSAL_H

#include <stdbool.h>
#include <stddef.h>

/* Looks for such a call in all objects that the process starts with. Returns whether and where it found one. */
bool find_object_bypassing_interposers(char *name, size_t capacity);

/*
 * Looks for such a call in a file that is about to be loaded, by the names that the file contains; its dependencies are
 * not searched. Returns false if it cannot be read. Does not allocate.
 */
bool file_contains_internal_names(const char *path);

#endif
