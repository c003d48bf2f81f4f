/*
 * Finds the loaded object (executable or library) of an address, from inside of malloc.
 *
 * glibc has a function without a lock since 2.35 (_dl_find_object). All other functions of C libraries take the
 * loader's lock, which another thread may hold while it waits for this one: a table of our own replaces them
 * (object_table.h).
 */
#ifndef MALLOMETER_PLATFORM_LOADED_OBJECTS_H
#define MALLOMETER_PLATFORM_LOADED_OBJECTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct loaded_object {
  /* The address range of the object, with its gaps. */
  uintptr_t begin, end;
  /* The object's .eh_frame_hdr; NULL if it has none. */
  const uint8_t *unwind_table;
  /* The value that the loader added to addresses in the file; the file's path, empty for the executable. */
  uintptr_t bias;
  const char *path;
  /* Distinguishes an object that may be unloaded from another object at the same address; otherwise 0. */
  uint64_t mark;
};

/*
 * Looks up glibc's function, or makes the table. Enters the loader. Returns false if neither is possible; then only
 * this library is known. The table needs a kernel that reports which memory is readable (readable_memory.h).
 */
bool loaded_objects_start(bool kernel_tells);

/*
 * Notices objects that came or went in unusual ways; the usual ways are noticed without it. Must not be called inside
 * of malloc. Takes the lock of dl_iterate_phdr. Preserves errno.
 */
void loaded_objects_refresh(void);

/* Resets the table's lock in a forked child. */
void loaded_objects_forked(void);

/* Returns the bytes of the table. */
size_t loaded_objects_footprint(void);

/* Finds the object of an address without a lock. Returns false if it belongs to none that is known. */
bool loaded_object_at(uintptr_t address, struct loaded_object *object);

/*
 * Returns whether the object still is where it was found. Call this before the object's memory is read. An object that
 * the calling thread will return into cannot be unloaded afterwards. Makes up to two system calls with a table of our
 * own. May change errno.
 */
bool loaded_object_remains(const struct loaded_object *object);

/*
 * Copies the object's build id, at most `capacity` bytes. Returns the count; 0 if there is none, or its program headers
 * are not in its first page. Reads only memory that is readable. May change errno.
 */
uint32_t loaded_object_build_id(const struct loaded_object *object, uint8_t *id, uint32_t capacity);

#endif
