/* Finds the addresses of a loaded library's code. */
#include <link.h>
#include <stdint.h>
#include <string.h>

static uintptr_t code_begin, code_end;

static int find_code(struct dl_phdr_info *object, size_t size, void *library) {
  (void)size;
  if (!strstr(object->dlpi_name, (const char *)library)) return 0;
  for (int i = 0; i < object->dlpi_phnum; i++) {
    const ElfW(Phdr) *segment = &object->dlpi_phdr[i];
    if (segment->p_type != PT_LOAD || !(segment->p_flags & PF_X)) continue;
    code_begin = object->dlpi_addr + segment->p_vaddr;
    code_end = code_begin + segment->p_memsz;
  }
  return 1;
}

static inline void find_code_of(const char *library) { dl_iterate_phdr(find_code, (void *)library); }

static inline bool is_in_code(uintptr_t address) { return address >= code_begin && address < code_end; }
