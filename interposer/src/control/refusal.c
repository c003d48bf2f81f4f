/* See refusal.h. */
#include "control/refusal.h"

#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#include "platform/dynamic_symbols.h"
#include "platform/kernel.h"
#include "platform/system_calls.h"

#define INTERNAL_PREFIX "__libc_"

static bool is_internal_name(const char *name) {
  static const char *const names[] = {"malloc", "calloc", "realloc", "free", "memalign", "valloc", "pvalloc", NULL};
  if (strncmp(name, INTERNAL_PREFIX, sizeof INTERNAL_PREFIX - 1) != 0) return false;
  for (const char *const *n = names; *n; n++) {
    if (strcmp(name + sizeof INTERNAL_PREFIX - 1, *n) == 0) return true;
  }
  return false;
}

bool file_names_internals(const char *path) {
  static const char name[] = "\0" INTERNAL_PREFIX "free"; /* a name begins after the end of another */
  struct stat status;
  int file = call_open(path, O_RDONLY | O_NONBLOCK);
  if (file < 0) return false;
  bool found = false;
  if (status_of_file(file, &status) == 0 && S_ISREG(status.st_mode) && status.st_size > 0) {
    size_t bytes = (size_t)status.st_size;
    void *mapped = mmap(NULL, bytes, PROT_READ, MAP_PRIVATE, file, 0);
    if (mapped != MAP_FAILED) {
      found = memmem(mapped, bytes, name, sizeof name) != NULL;
      munmap(mapped, bytes);
    }
  }
  call_close(file);
  return found;
}

bool find_object_past_interposers(char *name, size_t capacity) {
  for (const struct link_map *object = first_object(); object; object = object->l_next) {
    if (!refers_to(object, is_internal_name)) continue;
    const char *slash = strrchr(object->l_name, '/');
    const char *file = slash ? slash + 1 : object->l_name;
    snprintf(name, capacity, "%s", *file ? file : "the executable");
    return true;
  }
  return false;
}
