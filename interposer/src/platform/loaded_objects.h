/*
 * Finds the loaded object (executable or library) that contains an address, inside of malloc.
 *
 * Since 2.35, glibc has a function for this without a lock (_dl_find_object). The other such functions of C libraries
 * take the loader's lock, which another thread may hold while it waits for this thread. Without _dl_find_object, a
 * table of this library's own is therefore used (object_table.h).
 */
#ifndef MALLOMETER_PLATFORM_LOADED_OBJECTS_H
#define MALLOMETER_PLATFORM_LOADED_OBJECTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct loaded_object {
  /* The address range of the object, including gaps between its segments. */
  uintptr_t begin, end;
  /* The object's .eh_frame_hdr; NULL if it has none. */
  const uint8_t *unwind_table;
  /* The value that the loader added to addresses in the file; and the file's path, which is empty for the
   * executable. */
  uintptr_t bias;
  const char *path;
  /* Distinguishes an object of the table (object_table.h), which may have been unloaded, from another object at the
   * same address; 0 for an object that was not found in the table. */
  uint64_t mark;
};

/*
 * Looks up glibc's _dl_find_object; if it is missing, makes the table (object_table.h). `kernel_tells` is whether the
 * kernel reports which memory is readable (readable_memory.h); the table needs that. Returns false if there is neither
 * the function nor a table; then only this library's own object is known. Enters the loader.
 */
bool loaded_objects_start(bool kernel_tells);

/*
 * Updates the table for objects that were loaded or unloaded. The start of most loaded objects updates the table
 * without this call; an unload does not. Must not be called inside of malloc. Takes the lock of dl_iterate_phdr.
 * Preserves errno.
 */
void loaded_objects_refresh(void);

/* Resets the table's lock in a forked child. */
void loaded_objects_forked(void);

/* Returns the bytes of the table. */
size_t loaded_objects_footprint(void);

/* Finds the object that contains an address, without a lock. Returns false if no known object contains it. */
bool loaded_object_at(uintptr_t address, struct loaded_object *object);

/*
 * Returns whether the object still is where it was found. Call this before reading the object's memory. An object into
 * which the calling thread will return cannot be unloaded after this call. Makes up to two system calls if the table is
 * used. May change errno.
 */
bool loaded_object_remains(const struct loaded_object *object);

/*
 * Copies the object's build id, at most `capacity` bytes. Returns the number of bytes; 0 if there is no build id, or if
 * the program headers are not in the object's first page. Reads only readable memory. May change errno.
 */
uint32_t loaded_object_build_id(const struct loaded_object *object, uint8_t *id, uint32_t capacity);

#endif
