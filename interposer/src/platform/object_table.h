/*
 * A table of the loaded objects, for C libraries whose own list must not be read inside of malloc (musl, and glibc
 * before 2.35).
 *
 * A table is sorted and never changes. One pointer leads to the current table; when objects were loaded or unloaded, a
 * new table is made and the pointer is set to it. Readers take no lock and never wait, so they may be signal handlers,
 * even of the thread that is just making a table.
 *
 * An old table is unmapped when no thread reads any table. A reader increments the number of readers before it reads
 * the pointer. If that number is 0 after the pointer was changed, no thread has an old table. If a reader never ends (a
 * handler that jumps out of malloc, a thread that does not exist in a forked child), old tables are never unmapped.
 * When there are MOST_OLD_TABLES of them, the current table stays, and objects that are loaded later are not known.
 *
 * The table is updated after each load, but not after each unload. A table may therefore contain an object that was
 * unloaded, and a result must be checked again before the object's memory is read.
 */
#ifndef MALLOMETER_PLATFORM_OBJECT_TABLE_H
#define MALLOMETER_PLATFORM_OBJECT_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "platform/loaded_objects.h"

#define MOST_OLD_TABLES 32u

struct dl_phdr_info;

/* Describes an object by the loader's information, with a mark of 0. Returns false if the loader has not read the
 * object's segments yet. */
bool object_describe(const struct dl_phdr_info *info, struct loaded_object *object);

/*
 * Makes a new table if the loader's list has changed, or if there is no table. Takes the lock of dl_iterate_phdr while
 * it reads the list, and no other lock: if another thread is already making a table, that thread does the work. Must
 * not be called inside of malloc. Preserves errno. Returns false if there is no table.
 */
bool object_table_refresh(void);

/* Finds the object that contains an address, without a lock. Returns false if no known object contains it. */
bool object_table_find(uintptr_t address, struct loaded_object *object);

/* Returns whether an object that was found is still loaded at its address, by up to two system calls. May change
 * errno. */
bool object_table_confirms(const struct loaded_object *object);

/* Resets the table's lock in the child of a fork, where other threads do not exist. */
void object_table_forked(void);

/* Returns the bytes of the table and of the paths in it; 0 if there is no table. */
size_t object_table_footprint(void);

#endif
