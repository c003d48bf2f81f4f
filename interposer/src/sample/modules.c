/* The list of modules, which only grows. Its memory is zeroed before the first use. See modules.h. */
#include "sample/modules.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "platform/keep_errno.h"
#include "platform/loaded_objects.h"
#include "platform/shared_words.h"

static bool is_known(const struct modules *modules, const struct loaded_object *object) {
  for (uint32_t i = modules_count(modules); i > 0; i--) {
    const struct known_module *known = &modules->known[i - 1];
    if (__atomic_load_n(&known->begin, __ATOMIC_ACQUIRE) != object->begin || known->end != object->end) continue;
    return strcmp(&modules->paths[known->path], object->path) == 0;
  }
  return false;
}

/* ---- Recording and reading ---------------------------------------------------------------------------- */

/* Adds an object. If two threads add the same object at the same time, it gets two entries, which is harmless. */
static bool keep(struct modules *modules, const struct loaded_object *object) {
  uint32_t bytes = (uint32_t)strnlen(object->path, BYTES_OF_PATHS) + 1;
  if (__atomic_load_n(&modules->taken, __ATOMIC_RELAXED) == MODULES) return false;
  uint32_t path = reserve_numbers(&modules->bytes_taken, bytes, BYTES_OF_PATHS);
  if (path == BYTES_OF_PATHS) return false;
  uint32_t number = reserve_numbers(&modules->taken, 1, MODULES);
  if (number == MODULES) return false;
  struct known_module *known = &modules->known[number];
  memcpy(&modules->paths[path], object->path, bytes);
  known->path = path;
  known->end = object->end;
  known->bias = object->bias;
  known->build_id_bytes = loaded_object_build_id(object, known->build_id, sizeof known->build_id);
  __atomic_store_n(&known->begin, object->begin, __ATOMIC_RELEASE);
  return true;
}

static void note(struct modules *modules, uintptr_t address) {
  struct loaded_object object;
  if (!loaded_object_at(address, &object) || !object.path || is_known(modules, &object)) return;
  if (!loaded_object_remains(&object)) return;
  if (!keep(modules, &object)) __atomic_fetch_add(&modules->without_room, 1, __ATOMIC_RELAXED);
}

void module_note(struct modules *modules, uintptr_t address) {
  KEEP_ERRNO;
  note(modules, address);
}

uint32_t modules_count(const struct modules *modules) { return __atomic_load_n(&modules->taken, __ATOMIC_ACQUIRE); }

uint64_t modules_without_room(const struct modules *modules) {
  return __atomic_load_n(&modules->without_room, __ATOMIC_RELAXED);
}

uint32_t modules_copy(const struct modules *modules, struct mallometer_module *out, uint32_t capacity, uint32_t first) {
  uint32_t count = modules_count(modules), copied = 0;
  for (uint32_t i = first; i < count && copied < capacity; i++, copied++) {
    const struct known_module *known = &modules->known[i];
    struct mallometer_module row = {.number = i};
    row.begin = __atomic_load_n(&known->begin, __ATOMIC_ACQUIRE);
    if (row.begin) {
      row.end = known->end;
      row.bias = known->bias;
      row.build_id_bytes = known->build_id_bytes;
      memcpy(row.build_id, known->build_id, sizeof row.build_id);
      strncpy(row.path, &modules->paths[known->path], sizeof row.path - 1);
    }
    out[copied] = row;
  }
  return copied;
}
