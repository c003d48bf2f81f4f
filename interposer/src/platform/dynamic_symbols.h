/*
 * Finds which loaded object defines a function, and which objects refer to it, by the objects' dynamic sections.
 *
 * dlsym() cannot be used: it allocates memory if it does not find a name, and in an executable at fixed addresses it
 * may take a mere reference for a definition. The functions here do not allocate. They walk the loader's list without
 * taking its lock, which is safe only at the start, or if the caller has the lock (platform/loader_lock.h).
 */
#ifndef MALLOMETER_PLATFORM_DYNAMIC_SYMBOLS_H
#define MALLOMETER_PLATFORM_DYNAMIC_SYMBOLS_H

#include <stdbool.h>
#include <stdint.h>

struct link_map;

/* Returns the object that contains an address; NULL if none is known. */
struct link_map *object_of(const void *address);

/*
 * Walk the objects in the order in which the loader searches them; the executable is the first. own_object() is this
 * library. first_object() and own_object() return NULL if the library's own object is not found. next_object()
 * returns NULL after the last object.
 */
struct link_map *first_object(void);
struct link_map *next_object(const struct link_map *object);
struct link_map *own_object(void);

/* Returns the file name of the object without its folders, or "the executable". */
const char *object_file_name(const struct link_map *object);

/* Returns what must be added to an address in the object's file to get the address in memory. */
uintptr_t object_bias(const struct link_map *object);

bool file_begins_with(const struct link_map *object, const char *beginning);

/* Returns the address of the function that the object defines under this name, or of its resolver if it is an IFUNC;
 * NULL if there is none. */
const void *function_in(const struct link_map *object, const char *name);

/* Like function_in(), but returns NULL if the function is an IFUNC. */
const void *plain_function_in(const struct link_map *object, const char *name);

/* Searches the objects from `begin` to the one before `end`, in the loader's order, for a definition of the function.
 * If `end` is NULL, searches up to the last object. Returns the first definition; NULL if there is none. */
const void *first_definition(const char *name, const struct link_map *begin, const struct link_map *end);

/* Returns whether the object refers to a function that another object must define and that `matches` accepts; false
 * if `object` is NULL. */
bool refers_to(const struct link_map *object, bool (*matches)(const char *name));

#endif
