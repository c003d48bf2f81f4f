/* See loaded_objects.h. */
#include "platform/loaded_objects.h"

#include <link.h>
#include <stddef.h>
#include <string.h>

#include "platform/glibc_versions.h"

/* glibc's struct dl_find_object on x86-64 and aarch64 (GNU C Library Manual, "Dynamic Linker Introspection"). */
struct answer {
  unsigned long long flags;
  void *map_start;
  void *map_end;
  void *link_map;
  void *eh_frame;
  unsigned long long reserved[7];
};

static int (*find_object)(void *address, struct answer *answer);
static struct loaded_object own;

static int find_own(struct dl_phdr_info *info, size_t size, void *unused) {
  (void)size, (void)unused;
  struct loaded_object found = {UINTPTR_MAX, 0, NULL, info->dlpi_addr, info->dlpi_name};
  for (ElfW(Half) i = 0; i < info->dlpi_phnum; i++) {
    uintptr_t begin = info->dlpi_addr + info->dlpi_phdr[i].p_vaddr, end = begin + info->dlpi_phdr[i].p_memsz;
    if (info->dlpi_phdr[i].p_type == PT_GNU_EH_FRAME) found.unwind_table = (const uint8_t *)begin;
    if (info->dlpi_phdr[i].p_type != PT_LOAD) continue;
    if (begin < found.begin) found.begin = begin;
    if (end > found.end) found.end = end;
  }
  if ((uintptr_t)&own < found.begin || (uintptr_t)&own >= found.end) return 0;
  own = found;
  return 1;
}

bool loaded_objects_start(void) {
  dl_iterate_phdr(find_own, NULL);
  void *address = dlsym(RTLD_DEFAULT, "_dl_find_object");
  memcpy(&find_object, &address, sizeof address);
  return find_object != NULL;
}

bool loaded_object_at(uintptr_t address, struct loaded_object *object) {
  if (address >= own.begin && address < own.end) {
    *object = own;
    return true;
  }
  struct answer answer;
  if (!find_object || find_object((void *)address, &answer) != 0) return false;
  const struct link_map *entry = answer.link_map;
  *object = (struct loaded_object){(uintptr_t)answer.map_start, (uintptr_t)answer.map_end, answer.eh_frame,
                                   entry->l_addr, entry->l_name};
  return true;
}
