/*
 * Which loaded object (executable or library) an address belongs to, asked from inside of malloc.
 *
 * glibc answers without a lock since 2.35 (_dl_find_object). Every older way takes the loader's lock, which another
 * thread may hold while it waits for this one: there the answer is that nothing is known.
 */
#ifndef MALLOMETER_PLATFORM_LOADED_OBJECTS_H
#define MALLOMETER_PLATFORM_LOADED_OBJECTS_H

#include <stdbool.h>
#include <stdint.h>

struct loaded_object {
  /* What it occupies, gaps included. */
  uintptr_t begin, end;
  /* Its .eh_frame_hdr; NULL if it has none. */
  const uint8_t *unwind_table;
  /* What the loader added to the addresses in the file, and its path: empty for the executable. */
  uintptr_t bias;
  const char *path;
};

/* Looks the function up. Enters the loader. False if there is none: then only this library itself is known. */
bool loaded_objects_start(void);

/* Takes no lock. False if the address belongs to none that is known. */
bool loaded_object_at(uintptr_t address, struct loaded_object *object);

/*
 * Copies the object's build id, at most `capacity` bytes of it. Returns how many; 0 if it has none, or none that can be
 * found: its program headers must lie in its first page. Reads only memory that is readable. May change errno.
 */
uint32_t loaded_object_build_id(const struct loaded_object *object, uint8_t *id, uint32_t capacity);

#endif
