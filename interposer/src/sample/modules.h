/*
 * The executable and the libraries that stacks lead through, noted when a stack first does so: later they may be
 * unloaded, and their files deleted. Names for addresses are found outside of this library
 * (io.mallometer.internal.symbol).
 *
 * Nothing here allocates or locks. What finds no room is missing, and its frames have no library.
 */
#ifndef MALLOMETER_SAMPLE_MODULES_H
#define MALLOMETER_SAMPLE_MODULES_H

#include <stdint.h>

#include "mallometer.h"

enum { MODULES = 1024, BYTES_OF_PATHS = 131072 };

struct modules {
  struct known_module {
    uintptr_t begin; /* 0: being written */
    uintptr_t end;
    uintptr_t bias;
    uint32_t path; /* in `paths` */
    uint32_t build_id_bytes;
    uint8_t build_id[32];
  } known[MODULES];
  uint32_t taken;
  uint32_t bytes_taken;
  uint64_t without_room; /* how often a module found none */
  char paths[BYTES_OF_PATHS];
};

/* Notes the object that holds the code at `address`, which is on the calling thread's stack. Keeps errno. */
void module_note(struct modules *modules, uintptr_t address);

uint32_t modules_count(const struct modules *modules);
uint64_t modules_without_room(const struct modules *modules);

/* Copies those with numbers `first` and above. Returns how many. */
uint32_t modules_copy(const struct modules *modules, struct mallometer_module *out, uint32_t capacity, uint32_t first);

#endif
