/*
 * When header accounting would crash the process: some loaded object calls the C library's malloc or free by their
 * internal names, past every interposer, and might free an object of ours that way.
 */
#ifndef MALLOMETER_CONTROL_REFUSAL_H
#define MALLOMETER_CONTROL_REFUSAL_H

#include <stdbool.h>
#include <stddef.h>

/* Looks for such a reference in all objects that the process starts with. True and the object's name if there is one.
 */
bool find_object_past_interposers(char *name, size_t capacity);

/*
 * The same of a file that is going to be loaded, by the names that it contains: what it needs in turn is not looked at.
 * False if it cannot be read. Does not allocate.
 */
bool file_names_internals(const char *path);

#endif
