/*
 * Detects programs that would crash if each object had a header (MALLOMETER_ACCOUNTING=header). Such a program has a
 * loaded object that calls the C library's malloc or free by internal names. These calls bypass this library, and might
 * free an object with a header.
 */
#ifndef MALLOMETER_CONTROL_REFUSAL_H
#define MALLOMETER_CONTROL_REFUSAL_H

#include <stdbool.h>
#include <stddef.h>

/* Returns whether a loaded object refers to an internal name of malloc or free, and copies the object's file name to
 * `name`. */
bool find_object_bypassing_interposers(char *name, size_t capacity);

/* Returns whether a file that is about to be loaded contains the name __libc_free; false if the file cannot be read.
 * Does not search its dependencies. Does not allocate. */
bool file_contains_internal_names(const char *path);

#endif
