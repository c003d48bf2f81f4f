/*
 * Finds which loaded object defines a function, and which objects refer to it, by the objects' dynamic sections.
 *
 * dlsym is not enough. In an executable that is linked to fixed addresses, it takes a mere reference for a definition
 * if the program uses the function's address, and it allocates memory if it does not find a name. The functions here do
 * not allocate, and call no function of glibc but dladdr1. They walk the loader's list without taking its lock, which
 * is safe only at the start, or if the caller has the lock (platform/loader_lock.h).
 */
#ifndef MALLOMETER_PLATFORM_DYNAMIC_SYMBOLS_H
#define MALLOMETER_PLATFORM_DYNAMIC_SYMBOLS_H

#include <stdbool.h>
#include <stdint.h>

/* The loader's description of an object. */
struct link_map;

/* Returns the object that contains an address; NULL if none is known. */
struct link_map *object_of(const void *address);

/*
 * Return the object that the loader searches first (the executable), the object that it searches after a given one, and
 * the object of this library. They return NULL if object_of() knows no object; next_object() returns NULL after the
 * last object.
 */
struct link_map *first_object(void);
struct link_map *next_object(const struct link_map *object);
struct link_map *own_object(void);

/* Returns the file name of the object without its folders, or "the executable". */
const char *object_file_name(const struct link_map *object);

/* Returns the number that the loader added to addresses in the object's file. */
uintptr_t object_bias(const struct link_map *object);

/* Returns whether the object's file name, without its folders, begins with `beginning`. */
bool file_begins_with(const struct link_map *object, const char *beginning);

/* Returns a function that the object defines, or its resolver (IFUNC); NULL if it defines none. */
const void *function_in(const struct link_map *object, const char *name);

/* Returns a function that the object defines; NULL if it defines none, or a resolver chooses the function. */
const void *plain_function_in(const struct link_map *object, const char *name);

/*
 * Returns the first definition in the loader's order among the objects from `begin` to the one before `end`; `end` may
 * be NULL. Returns NULL if there is none. Among all objects, the first definition is the one that a program's calls
 * lead to.
 */
const void *first_definition(const char *name, const struct link_map *begin, const struct link_map *end);

/* Returns whether the object refers to a function that it does not define and whose name `matches` accepts. False for a
 * NULL object. */
bool refers_to(const struct link_map *object, bool (*matches)(const char *name));

#endif
