/* Reads /proc/self/exe, the auxiliary vector and the list of loaded objects. See executable.h. */
#include "platform/executable.h"

#include <errno.h>
#include <link.h>
#include <stdint.h>
#include <sys/auxv.h>
#include <unistd.h>

const char *executable_path(char *path, size_t capacity) {
  ssize_t length = readlink("/proc/self/exe", path, capacity - 1);
  if (length <= 0) return (const char *)getauxval(AT_EXECFN);
  path[length] = '\0';
  return path;
}

const char *executable_name(void) { return program_invocation_short_name; }

char **process_environment(void) { return environ; }

bool executable_is_privileged(void) { return getauxval(AT_SECURE) != 0; }

static size_t image_bytes;

static int measure(struct dl_phdr_info *object, size_t size, void *bytes) {
  (void)size;
  size_t sum = 0, page = (size_t)getpagesize();
  bool ours = false;
  for (ElfW(Half) i = 0; i < object->dlpi_phnum; i++) {
    if (object->dlpi_phdr[i].p_type != PT_LOAD) continue;
    uintptr_t begin = object->dlpi_addr + object->dlpi_phdr[i].p_vaddr, end = begin + object->dlpi_phdr[i].p_memsz;
    ours |= (uintptr_t)&image_bytes >= begin && (uintptr_t)&image_bytes < end;
    sum += (end + page - 1) / page * page - begin / page * page;
  }
  if (ours) *(size_t *)bytes = sum;
  return ours;
}

void own_image_measure(void) { dl_iterate_phdr(measure, &image_bytes); }

size_t own_image_bytes(void) { return image_bytes; }
