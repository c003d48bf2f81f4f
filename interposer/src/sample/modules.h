/*
 * The executable and the libraries whose code is in stacks. A module is recorded when a stack first has an address in
 * it, because the library may later be unloaded and its file deleted.
 *
 * No function here allocates or locks. If there is no room, the module is not recorded, and its frames have no
 * library.
 */
#ifndef MALLOMETER_SAMPLE_MODULES_H
#define MALLOMETER_SAMPLE_MODULES_H

#include <stdint.h>

#include "mallometer.h"

enum { MODULES = 1024, BYTES_OF_PATHS = 131072 };

struct modules {
  struct known_module {
    uintptr_t begin; /* 0 while the module is being written */
    uintptr_t end;
    uintptr_t bias;
    uint32_t path;
    uint32_t build_id_bytes;
    uint8_t build_id[32];
  } known[MODULES];
  uint32_t taken;
  uint32_t bytes_taken;
  uint64_t without_room;
  char paths[BYTES_OF_PATHS];
};

/* Records the loaded object that contains `address`. The function at this address must be on the calling thread's
 * stack, so that the object cannot be unloaded meanwhile. Preserves errno. */
void module_note(struct modules *modules, uintptr_t address);

uint32_t modules_count(const struct modules *modules);
uint64_t modules_without_room(const struct modules *modules);

uint32_t modules_copy(const struct modules *modules, struct mallometer_module *out, uint32_t capacity, uint32_t first);

#endif
