/*
 * Which loaded object defines a function, and which refers to one, read from the objects' dynamic sections.
 *
 * dlsym answers less than that: in an executable that is linked to fixed addresses it takes a reference whose address
 * was taken for a definition, and a name that it does not find costs it memory. The functions here allocate nothing and
 * call nothing of glibc but dladdr1: they serve the start, when a sanitizer's runtime may stand before the C
 * library and not be ready. They walk the loader's list without its lock, which only the start may do.
 */
#ifndef MALLOMETER_PLATFORM_DYNAMIC_SYMBOLS_H
#define MALLOMETER_PLATFORM_DYNAMIC_SYMBOLS_H

#include <stdbool.h>
#include <stdint.h>

/* The loader's description of an object. */
struct link_map;

/* The object that holds an address; NULL if none is known. */
struct link_map *object_of(const void *address);

/*
 * The object that the loader searches first, which is the executable, and the one that follows in its order; this
 * library is among them. NULL if object_of() knows none, and after the last.
 */
struct link_map *first_object(void);
struct link_map *next_object(const struct link_map *object);
struct link_map *own_object(void);

/* The name of the object's file without folders, or "the executable". */
const char *object_file_name(const struct link_map *object);

/* What the loader added to addresses in the object's file. */
uintptr_t object_bias(const struct link_map *object);

/* Whether the name of the object's file, without folders, begins so. */
bool file_begins_with(const struct link_map *object, const char *beginning);

/* NULL if the object does not define the function. One that a resolver chooses (IFUNC) is told by its resolver. */
const void *function_in(const struct link_map *object, const char *name);

/* NULL also if a resolver chooses it. */
const void *plain_function_in(const struct link_map *object, const char *name);

/*
 * The definition that the loader meets first among the objects from `begin` to the one before `end`, which may be NULL.
 * NULL if there is none. Among all objects it is what a program that calls the function resolves.
 */
const void *first_definition(const char *name, const struct link_map *begin, const struct link_map *end);

/* Whether the object refers to a function that it does not define, and whose name `matches` accepts. False for NULL. */
bool refers_to(const struct link_map *object, bool (*matches)(const char *name));

#endif
