/*
 * Which loaded object (executable or library) an address belongs to, asked from inside of malloc.
 *
 * glibc answers without a lock since 2.35 (_dl_find_object). All else that a C library has takes the loader's lock,
 * which another thread may hold while it waits for this one: there a table of our own answers (object_table.h).
 */
#ifndef MALLOMETER_PLATFORM_LOADED_OBJECTS_H
#define MALLOMETER_PLATFORM_LOADED_OBJECTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct loaded_object {
  /* What it occupies, gaps included. */
  uintptr_t begin, end;
  /* Its .eh_frame_hdr; NULL if it has none. */
  const uint8_t *unwind_table;
  /* What the loader added to the addresses in the file, and its path: empty for the executable. */
  uintptr_t bias;
  const char *path;
  /* Tells it from another at the same place, where it may be gone by now; else 0. */
  uint64_t mark;
};

/*
 * Looks the function up, or makes the table. Enters the loader. False if there is neither: then only this library
 * itself is known. The table needs a kernel that tells what is readable (readable_memory.h).
 */
bool loaded_objects_start(bool kernel_tells);

/*
 * Objects may have come or gone; what is loaded in the ordinary way is known without that. Not inside of malloc. Takes
 * the lock of dl_iterate_phdr. Keeps errno.
 */
void loaded_objects_refresh(void);

/* In a forked child. */
void loaded_objects_forked(void);

/* Bytes of the table. */
size_t loaded_objects_footprint(void);

/* Takes no lock. False if the address belongs to none that is known. */
bool loaded_object_at(uintptr_t address, struct loaded_object *object);

/*
 * Whether the object still is where it was found: to be asked before its memory is read. An object that the calling
 * thread is in, which it will return to, stays then. Up to two questions to the kernel where there is a table of our
 * own. May change errno.
 */
bool loaded_object_is_there(const struct loaded_object *object);

/*
 * Copies the object's build id, at most `capacity` bytes of it. Returns how many; 0 if it has none, or none that can be
 * found: its program headers must lie in its first page. Reads only memory that is readable. May change errno.
 */
uint32_t loaded_object_build_id(const struct loaded_object *object, uint8_t *id, uint32_t capacity);

#endif
