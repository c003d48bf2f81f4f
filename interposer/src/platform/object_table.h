/*
 * A table of the loaded objects, for C libraries whose own list must not be read inside of malloc (musl, and glibc
 * before 2.35).
 *
 * A table is sorted and never changes. One pointer publishes it; when objects have come or gone, another table is made
 * and the pointer moves on. Readers take no lock and never wait, so they may be signal handlers, even of the thread
 * that is just making a table.
 *
 * An old table is unmapped when no thread reads any table. A reader counts itself before it takes the pointer, so if
 * there is none after the pointer has moved on, no thread has an old table. A reader that never leaves (a handler that
 * jumps out of malloc, a thread that a fork left behind) keeps old tables for good. When MOST_OLD_TABLES of them are
 * kept the table stays as it is, and objects that are loaded later are not known.
 *
 * The loader announces loads, but not unloads. So a table may contain an object that is gone, and a result must be
 * checked again before the object's memory is read.
 */
#ifndef MALLOMETER_PLATFORM_OBJECT_TABLE_H
#define MALLOMETER_PLATFORM_OBJECT_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "platform/loaded_objects.h"

#define MOST_OLD_TABLES 32u

struct dl_phdr_info;

/* Describes an object as the loader does, without a mark. Returns false if the loader has not read its segments yet. */
bool object_describe(const struct dl_phdr_info *info, struct loaded_object *object);

/*
 * Makes another table if the loader's list has changed, or if there is none. Takes the lock of dl_iterate_phdr while it
 * reads the list, and no other lock: if another thread is already making a table, the work is left to that thread. Must
 * not be called inside of malloc. Preserves errno. Returns false if there is no table.
 */
bool object_table_refresh(void);

/* Finds the object of an address without a lock. Returns false if it belongs to none that is known. */
bool object_table_find(uintptr_t address, struct loaded_object *object);

/* Returns whether a found object is still there, by up to two system calls. May change errno. */
bool object_table_confirms(const struct loaded_object *object);

/* Resets the table's lock in a forked child, whose other threads are gone. */
void object_table_forked(void);

/* Returns the bytes of the table and of paths; 0 if there is none. */
size_t object_table_footprint(void);

#endif
