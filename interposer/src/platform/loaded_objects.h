/*
 * Finds the loaded object (executable or library) that contains an address, inside of malloc.
 *
 * glibc 2.35 and later have _dl_find_object, which takes no lock. Other functions of C libraries take the loader's
 * lock, which another thread may hold while it waits for this thread. Without _dl_find_object, this library uses its
 * own table (object_table.h).
 */
#ifndef MALLOMETER_PLATFORM_LOADED_OBJECTS_H
#define MALLOMETER_PLATFORM_LOADED_OBJECTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct loaded_object {
  /* The address range of the object, including gaps between its segments. */
  uintptr_t begin, end;
  const uint8_t *unwind_table;
  /* The value that the loader added to addresses in the file, and the file's path. The path of the executable is
   * empty. */
  uintptr_t bias;
  const char *path;
  /* Distinguishes this object from a later one at the same address; 0 if the object is not from the table
   * (object_table.h). An object of the table may have been unloaded. */
  uint64_t mark;
};

/*
 * Prepares loaded_object_at(): looks up glibc's _dl_find_object, or else makes the table (object_table.h). The table
 * is made only if `kernel_tells`, that is, if the kernel reports readable memory (readable_memory.h). Returns false
 * if neither succeeds; then only this library's own object is known. Enters the loader.
 */
bool loaded_objects_start(bool kernel_tells);

/* Updates the table. Most loads of objects update it without this call; unloads do not. Must not be called inside of
 * malloc. Takes the lock of dl_iterate_phdr. Preserves errno. */
void loaded_objects_refresh(void);

void loaded_objects_forked(void);

size_t loaded_objects_footprint(void);

/* Finds the object that contains an address, without a lock. Returns false if none is known. */
bool loaded_object_at(uintptr_t address, struct loaded_object *object);

/*
 * Returns whether the object is still loaded where it was found. Call this before reading the object's memory.
 * Afterwards the object stays loaded if the calling thread will return to its code. May make two system calls and
 * change errno.
 */
bool loaded_object_remains(const struct loaded_object *object);

/* Copies at most `capacity` bytes of the object's build id. Returns the number of bytes; 0 if there is no build id,
 * or the program headers are not in the object's first page. Reads only readable memory. May change errno. */
uint32_t loaded_object_build_id(const struct loaded_object *object, uint8_t *id, uint32_t capacity);

#endif
