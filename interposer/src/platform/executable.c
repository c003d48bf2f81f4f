/*
 * See executable.h. The relocations tell which symbols the executable refers to; where it exports nothing, no table
 * says how many symbols there are. The format: System V ABI, "Dynamic Linking".
 */
#include "platform/executable.h"

#include <elf.h>
#include <link.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/auxv.h>

struct relocations {
  const ElfW(Rela) * begin;
  size_t bytes;
  size_t without_symbol; /* how many come first that name none; most do in large programs */
};

struct tables {
  const ElfW(Sym) * symbols;
  const char *strings;
  struct relocations of_data, of_calls;
};

/* The loader may have made it an address already. */
static const void *address_of(uintptr_t value, uintptr_t bias) {
  return (const void *)(value < bias ? value + bias : value);
}

static struct tables tables_in(const ElfW(Dyn) * entry, uintptr_t bias) {
  struct tables tables = {0};
  for (; entry->d_tag != DT_NULL; entry++) {
    uintptr_t value = (uintptr_t)entry->d_un.d_val;
    if (entry->d_tag == DT_SYMTAB) tables.symbols = address_of(value, bias);
    if (entry->d_tag == DT_STRTAB) tables.strings = address_of(value, bias);
    if (entry->d_tag == DT_RELA) tables.of_data.begin = address_of(value, bias);
    if (entry->d_tag == DT_RELASZ) tables.of_data.bytes = value;
    if (entry->d_tag == DT_RELACOUNT) tables.of_data.without_symbol = value;
    if (entry->d_tag == DT_JMPREL) tables.of_calls.begin = address_of(value, bias);
    if (entry->d_tag == DT_PLTRELSZ) tables.of_calls.bytes = value;
  }
  return tables;
}

static struct tables tables_of_executable(void) {
  const ElfW(Phdr) *segments = (const ElfW(Phdr) *)getauxval(AT_PHDR), *dynamic = NULL;
  size_t count = segments ? getauxval(AT_PHNUM) : 0;
  uintptr_t bias = 0;
  for (size_t i = 0; i < count; i++) {
    if (segments[i].p_type == PT_PHDR) bias = (uintptr_t)segments - segments[i].p_vaddr;
    if (segments[i].p_type == PT_DYNAMIC) dynamic = &segments[i];
  }
  return dynamic ? tables_in((const ElfW(Dyn) *)(bias + dynamic->p_vaddr), bias) : (struct tables){0};
}

static bool any_of(const struct relocations *relocations, const struct tables *tables, bool (*matches)(const char *)) {
  size_t count = relocations->begin ? relocations->bytes / sizeof(ElfW(Rela)) : 0;
  for (size_t i = relocations->without_symbol; i < count; i++) {
    uint64_t number = ELF64_R_SYM(relocations->begin[i].r_info);
    const ElfW(Sym) *symbol = &tables->symbols[number];
    if (number != 0 && symbol->st_shndx == SHN_UNDEF && matches(tables->strings + symbol->st_name)) return true;
  }
  return false;
}

bool executable_refers_to(bool (*matches)(const char *name)) {
  struct tables tables = tables_of_executable();
  if (!tables.symbols || !tables.strings) return false;
  return any_of(&tables.of_data, &tables, matches) || any_of(&tables.of_calls, &tables, matches);
}
