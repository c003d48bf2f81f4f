/*
 * Finds which loaded object defines a function, and which objects refer to it, by the objects' dynamic sections.
 *
 * dlsym() is unsuitable: it allocates memory if it does not find a name, and it may return an entry of the procedure
 * linkage table instead of the function if the executable has fixed addresses. The functions here do not allocate. They
 * walk the loader's list without taking its lock, which is safe only at the start, or if the caller has the lock
 * (platform/loader_lock.h).
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

/* Returns the function's address in the object, or the address of the resolver if the function is an IFUNC; NULL if
 * the object does not define the function. */
const void *function_in(const struct link_map *object, const char *name);

/* Like function_in(), but returns NULL if the function is an IFUNC. */
const void *plain_function_in(const struct link_map *object, const char *name);

/* Returns the first definition of the function in the objects from `begin` up to, but not including, `end`, in the
 * loader's order; NULL if there is none. If `end` is NULL, searches up to the last object. */
const void *first_definition(const char *name, const struct link_map *begin, const struct link_map *end);

/* Returns whether the object refers to an undefined function whose name `matches` accepts; false if `object` is
 * NULL. */
bool refers_to(const struct link_map *object, bool (*matches)(const char *name));

#endif
