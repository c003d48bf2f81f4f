/*
 * A table of the loaded objects, for C libraries whose own list must not be read inside of malloc (musl, and glibc
 * before 2.35).
 *
 * A table is sorted and never changes; a new one replaces it when objects were loaded or unloaded. Readers take no lock
 * and never wait, so they may be signal handlers, even of the thread that is making a table.
 *
 * A reader increments the number of readers, then reads the pointer to the current table. A writer changes the pointer,
 * then reads the number of readers: if the number is 0, no thread uses an old table, and old tables are unmapped. Old
 * tables stay if a reader never ends (a handler that jumps out of malloc, a thread that does not exist in a forked
 * child). When MOST_OLD_TABLES old tables exist, the current table is not replaced anymore, and later objects are
 * unknown.
 *
 * Unloads do not always update the table, so a result must be checked again before the object's memory is read.
 */
#ifndef MALLOMETER_PLATFORM_OBJECT_TABLE_H
#define MALLOMETER_PLATFORM_OBJECT_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "platform/loaded_objects.h"

#define MOST_OLD_TABLES 32u

struct dl_phdr_info;

/* Fills in `object` by the loader's information, and sets its `mark` to 0. Returns false if the loader has not read
 * the object's segments yet. */
bool object_describe(const struct dl_phdr_info *info, struct loaded_object *object);

/*
 * Makes a new table if the loader's list has changed or there is no table. Takes only the lock of dl_iterate_phdr,
 * while it reads the list; if another thread is already making a table, that thread does the work. Must not be called
 * inside of malloc. Preserves errno. Returns false if there is no table.
 */
bool object_table_refresh(void);

/* Finds the object that contains an address, without a lock. Returns false if none is known. */
bool object_table_find(uintptr_t address, struct loaded_object *object);

/* Returns whether an object that was found is still loaded at its address. Makes up to two system calls; may change
 * errno. */
bool object_table_confirms(const struct loaded_object *object);

void object_table_forked(void);

size_t object_table_footprint(void);

#endif
