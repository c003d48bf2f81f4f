/*
 * Finds the loaded object that defines a function, and objects that refer to one, by the objects' dynamic sections.
 *
 * dlsym is not enough: in an executable that is linked to fixed addresses it takes a reference whose address was taken
 * for a definition, and a name that it does not find allocates memory. The functions here allocate nothing and call
 * nothing of glibc but dladdr1. They are for the start, when a sanitizer's runtime may stand before the C library and
 * not be ready. They walk the loader's list without its lock, which only the start may do.
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
 * this library. The functions return NULL if object_of() knows no object, and after the last object.
 */
struct link_map *first_object(void);
struct link_map *next_object(const struct link_map *object);
struct link_map *own_object(void);

/* Returns the file name of the object without its folders, or "the executable". */
const char *object_file_name(const struct link_map *object);

/* Returns the number that the loader added to addresses in the object's file. */
uintptr_t object_bias(const struct link_map *object);

/* Returns whether the file name of the object, without its folders, has this beginning. */
bool file_begins_with(const struct link_map *object, const char *beginning);

/* Returns a function that the object defines, or its resolver (IFUNC); NULL if it defines none. */
const void *function_in(const struct link_map *object, const char *name);

/* Returns a function that the object defines; NULL if it defines none, or a resolver chooses the function. */
const void *plain_function_in(const struct link_map *object, const char *name);

/*
 * Returns the definition that the loader finds first among the objects from `begin` to the one before `end`, which may
 * be NULL; NULL if there is none. Among all objects it is the one that a program's calls lead to.
 */
const void *first_definition(const char *name, const struct link_map *begin, const struct link_map *end);

/* Returns whether the object refers to a function that it does not define and `matches` accepts. False for NULL. */
bool refers_to(const struct link_map *object, bool (*matches)(const char *name));

#endif
