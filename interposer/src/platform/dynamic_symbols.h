/*
 * Which loaded object defines a function, and which refers to one, read from the objects' dynamic sections.
 *
 * dlsym answers less than that: in an executable that is linked to fixed addresses it takes a reference whose address
 * was taken for a definition, and a name that it does not find costs it memory. The functions here allocate nothing and
 * call nothing of the C library but dladdr1: they serve the start, when a sanitizer's runtime may stand before the C
 * library and not be ready. They walk the loader's list without its lock, which only the start may do.
 */
#ifndef MALLOMETER_PLATFORM_DYNAMIC_SYMBOLS_H
#define MALLOMETER_PLATFORM_DYNAMIC_SYMBOLS_H

#include <link.h>
#include <stdbool.h>

/* The object that holds an address; NULL if none is known, as under musl. */
struct link_map *object_of(const void *address);

/*
 * The object that the loader searches first, which is the executable. The others follow in its order by `l_next`. NULL
 * if object_of() knows none.
 */
struct link_map *first_object(void);

/* NULL if the object does not define the function. */
const void *function_in(const struct link_map *object, const char *name);

/*
 * The definition of the function that the loader meets first, in another object than `but`, which may be NULL. NULL if
 * there is none. It is what a program that calls the function resolves.
 */
const void *first_definition(const char *name, const struct link_map *but);

/* Whether the object refers to a function that it does not define, and whose name `matches` accepts. */
bool refers_to(const struct link_map *object, bool (*matches)(const char *name));

#endif
