/*
 * Finds the loaded object (executable or library) that contains an address. loaded_object_at() may be called inside of
 * malloc.
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
  /* Distinguishes an object of the table (object_table.h) from a later object at the same address, because objects
   * of the table may be unloaded. 0 for an object that does not come from the table. */
  uint64_t mark;
};

/*
 * Prepares loaded_object_at(). Looks up glibc's _dl_find_object; if the function is missing and `kernel_tells` is true,
 * makes the table (object_table.h). `kernel_tells` is whether the kernel reports readable memory (readable_memory.h).
 * Returns false if there is neither the function nor the table; then only this library's own object is known. Enters
 * the loader.
 */
bool loaded_objects_start(bool kernel_tells);

/* Updates the table. When an object is loaded, its start code usually calls this function (see loaded_objects.c);
 * nothing calls it when an object is unloaded. Must not be called inside of malloc. Takes the lock of
 * dl_iterate_phdr. Preserves errno. */
void loaded_objects_refresh(void);

void loaded_objects_forked(void);

size_t loaded_objects_footprint(void);

/* Finds the object that contains an address, without a lock. Returns false if none is known. */
bool loaded_object_at(uintptr_t address, struct loaded_object *object);

/*
 * Returns whether the object is still loaded at its address. Must be called before the object's memory is read. A
 * result of true stays valid while one of the object's functions is on the calling thread's stack, because a program
 * does not unload code that still runs. May make two system calls and change errno.
 */
bool loaded_object_remains(const struct loaded_object *object);

/* Copies at most `capacity` bytes of the object's build id. Returns the number of bytes; 0 if there is no build id,
 * or the program headers are not in the object's first page. Reads only readable memory. May change errno. */
uint32_t loaded_object_build_id(const struct loaded_object *object, uint8_t *id, uint32_t capacity);

#endif
