/* Finds loaded objects by glibc's _dl_find_object or, if it is missing, by the table of object_table.h. See
 * loaded_objects.h. */
#include "platform/loaded_objects.h"

#include <link.h>
#include <stddef.h>
#include <string.h>

#include "platform/glibc_versions.h"
#include "platform/object_table.h"
#include "platform/readable_memory.h"
#include "platform/visibility.h"

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
static bool has_table;
static struct loaded_object own;

#ifndef FIND_OBJECT /* Tests set another name, so that the function is not found. */
#define FIND_OBJECT "_dl_find_object"
#endif

static int find_own(struct dl_phdr_info *info, size_t size, void *unused) {
  (void)size, (void)unused;
  struct loaded_object found;
  if (!object_describe(info, &found)) return 0;
  if ((uintptr_t)&own < found.begin || (uintptr_t)&own >= found.end) return 0;
  own = found;
  return 1;
}

bool loaded_objects_start(bool kernel_tells) {
  dl_iterate_phdr(find_own, NULL);
  void *address = dlsym(RTLD_DEFAULT, FIND_OBJECT);
  memcpy(&find_object, &address, sizeof address);
  if (!find_object) has_table = kernel_tells && object_table_refresh();
  return find_object != NULL || has_table;
}

void loaded_objects_refresh(void) {
  if (has_table) object_table_refresh();
}

void loaded_objects_forked(void) { object_table_forked(); }

size_t loaded_objects_footprint(void) { return object_table_footprint(); }

bool loaded_object_at(uintptr_t address, struct loaded_object *object) {
  if (address >= own.begin && address < own.end) {
    *object = own;
    return true;
  }
  if (has_table) return object_table_find(address, object);
  struct answer answer;
  if (!find_object || find_object((void *)address, &answer) != 0) return false;
  const struct link_map *entry = answer.link_map;
  *object = (struct loaded_object){
      (uintptr_t)answer.map_start, (uintptr_t)answer.map_end, answer.eh_frame, entry->l_addr, entry->l_name, 0};
  return true;
}

/* ---- Unloaded objects ---------------------------------------------------------------------------------- */

bool loaded_object_remains(const struct loaded_object *object) {
  return object->mark == 0 || object_table_confirms(object);
}

/* ---- New objects --------------------------------------------------------------------------------------- */

/*
 * Updates the table when an object is loaded, before the object's constructors run: the object's start code (crti.o of
 * glibc) calls __gmon_start__ if such a function exists. The name is reserved for the profiler gprof. An executable
 * that is compiled for gprof has its own function, which is called instead.
 */
EXPORT void on_object_start(void) __asm__("__gmon_start__");
void on_object_start(void) { loaded_objects_refresh(); }

/* ---- Build id ----------------------------------------------------------------------------------------- */

/* A note is: the size of its name, the size of its description, its type, the name, the description. The name and the
 * description are padded to multiples of 4 bytes. */
static uint32_t build_id_in(const uint8_t *at, const uint8_t *end, uint8_t *id, uint32_t capacity) {
  while ((size_t)(end - at) >= sizeof(ElfW(Nhdr))) {
    ElfW(Nhdr) note;
    memcpy(&note, at, sizeof note);
    size_t name = ((size_t)note.n_namesz + 3) & ~(size_t)3, description = ((size_t)note.n_descsz + 3) & ~(size_t)3;
    at += sizeof note;
    if (name > (size_t)(end - at) || description > (size_t)(end - at) - name) return 0;
    if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == 4 && memcmp(at, "GNU", 4) == 0) {
      uint32_t bytes = note.n_descsz < capacity ? note.n_descsz : capacity;
      memcpy(id, at + name, bytes);
      return bytes;
    }
    at += name + description;
  }
  return 0;
}

/* Reads the program headers from the first page, where all linkers put them. */
uint32_t loaded_object_build_id(const struct loaded_object *object, uint8_t *id, uint32_t capacity) {
  const size_t first_page = 4096;
  const ElfW(Ehdr) *header = (const ElfW(Ehdr) *)object->begin;
  if (object->end - object->begin < first_page || !is_readable(object->begin, first_page)) return 0;
  if (memcmp(header->e_ident, ELFMAG, SELFMAG) != 0) return 0;
  size_t offset = header->e_phoff, count = header->e_phnum;
  if (offset >= first_page || count > (first_page - offset) / sizeof(ElfW(Phdr))) return 0;
  const ElfW(Phdr) *segment = (const ElfW(Phdr) *)(object->begin + offset);
  for (size_t i = 0; i < count; i++, segment++) {
    uintptr_t begin = object->bias + segment->p_vaddr;
    if (segment->p_type != PT_NOTE || begin < object->begin || begin > object->end) continue;
    if (segment->p_memsz > object->end - begin || !is_readable(begin, segment->p_memsz)) continue;
    uint32_t bytes = build_id_in((const uint8_t *)begin, (const uint8_t *)begin + segment->p_memsz, id, capacity);
    if (bytes) return bytes;
  }
  return 0;
}
