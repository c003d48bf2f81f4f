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
 * Return the executable, which the loader searches first; the object that the loader searches after the given one;
 * and this library's own object. They return NULL if object_of() knows no object; next_object() also returns NULL
 * after the last object.
 */
struct link_map *first_object(void);
struct link_map *next_object(const struct link_map *object);
struct link_map *own_object(void);

/* Returns the file name of the object without its folders, or "the executable". */
const char *object_file_name(const struct link_map *object);

/* Returns what must be added to an address in the object's file to get the address in memory. */
uintptr_t object_bias(const struct link_map *object);

bool file_begins_with(const struct link_map *object, const char *beginning);

/* Returns a function that the object defines, or its resolver (IFUNC); NULL if it defines none. */
const void *function_in(const struct link_map *object, const char *name);

/* Like function_in(), but returns NULL if a resolver (IFUNC) chooses the function. */
const void *plain_function_in(const struct link_map *object, const char *name);

/* Returns the first definition in the loader's order among the objects from `begin` to the one before `end`; NULL if
 * there is none. If `end` is NULL, the last object is searched, too. */
const void *first_definition(const char *name, const struct link_map *begin, const struct link_map *end);

/* Returns whether the object refers to a function that it does not define and that `matches` accepts. Returns false
 * for NULL. */
bool refers_to(const struct link_map *object, bool (*matches)(const char *name));

#endif
