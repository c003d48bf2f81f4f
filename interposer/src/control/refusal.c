/* Looks for programs and libraries that would crash if each object had a header (MALLOMETER_ACCOUNTING=header). See
 * refusal.h. */
#include "control/refusal.h"

#include <stdio.h>
#include <string.h>

#include "platform/dynamic_symbols.h"
#include "platform/files.h"

#define INTERNAL_PREFIX "__libc_"

static bool is_internal_name(const char *name) {
  static const char *const names[] = {"malloc", "calloc", "realloc", "free", "memalign", "valloc", "pvalloc", NULL};
  if (strncmp(name, INTERNAL_PREFIX, sizeof INTERNAL_PREFIX - 1) != 0) return false;
  for (const char *const *n = names; *n; n++) {
    if (strcmp(name + sizeof INTERNAL_PREFIX - 1, *n) == 0) return true;
  }
  return false;
}

bool file_contains_internal_names(const char *path) {
  static const char name[] = "\0" INTERNAL_PREFIX "free"; /* names in a string table are separated by 0 */
  return file_contains(path, name, sizeof name);
}

bool find_object_bypassing_interposers(char *name, size_t capacity) {
  for (const struct link_map *object = first_object(); object; object = next_object(object)) {
    if (!refers_to(object, is_internal_name)) continue;
    snprintf(name, capacity, "%s", object_file_name(object));
    return true;
  }
  return false;
}
