/*
 * A table of the loaded objects of our own, for C libraries that have none which may be read inside of malloc (musl,
 * and glibc before 2.35).
 *
 * A table is sorted and never changes. One pointer publishes it; when objects have come or gone, another is made and
 * the pointer moves on. Readers take no lock and wait for nobody, so they may be signal handlers too, of the thread
 * that is just making a table among them.
 *
 * An old table is unmapped when no reader is in any. Readers are counted: one counts itself before it takes the
 * pointer, so whoever finds none after the pointer has moved on knows that nobody has an old one. A reader that never
 * leaves (a handler that jumps out of malloc, a thread that a fork left behind) keeps old tables for good; when
 * MOST_OLD_TABLES of them are kept the table stays as it is, and what is loaded later is not known.
 *
 * The loader tells of what it loads, and not of what it unloads. So a table may name an object that is gone, and what
 * it found must be asked about again before the object's memory is read.
 */
#ifndef MALLOMETER_PLATFORM_OBJECT_TABLE_H
#define MALLOMETER_PLATFORM_OBJECT_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "platform/loaded_objects.h"

#define MOST_OLD_TABLES 32u

struct dl_phdr_info;

/* What the loader tells of an object, without a mark. False if it has not finished reading it: there are no segments.
 */
bool object_describe(const struct dl_phdr_info *info, struct loaded_object *object);

/*
 * Makes another table if the loader's list has changed; the first one in any case. Takes the lock of dl_iterate_phdr
 * for as long as reading the list takes, and no other: a thread that finds another at it leaves the work to that one.
 * Not inside of malloc. Keeps errno. False if there is no table.
 */
bool object_table_refresh(void);

/* Takes no lock. False if the address belongs to none that is known. */
bool object_table_find(uintptr_t address, struct loaded_object *object);

/* Whether what was found is still what lies there; asks the kernel up to twice. May change errno. */
bool object_table_is_right(const struct loaded_object *object);

/* In a forked child, whose other threads are gone. */
void object_table_forked(void);

/* Bytes of the table and of paths; 0 if there is none. */
size_t object_table_footprint(void);

#endif
