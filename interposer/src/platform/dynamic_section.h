/*
 * The tables that a loaded object's dynamic section leads to: its symbols, and the words that the loader fills in.
 *
 * The format: System V ABI, "Dynamic Linking"; for DT_GNU_HASH the linkers' common practice. Calls nothing of the C
 * library, which may not be ready where this is used.
 */
#ifndef MALLOMETER_PLATFORM_DYNAMIC_SECTION_H
#define MALLOMETER_PLATFORM_DYNAMIC_SECTION_H

#include <elf.h>
#include <link.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct relocations {
  const ElfW(Rela) * first; /* NULL if there are none */
  size_t count;
  size_t without_symbol; /* how many come first that name none: most, in large programs */
};

struct dynamic_section {
  /* Either both are known, or the whole is zero. */
  const ElfW(Sym) * symbols;
  const char *strings;
  /* The two kinds of hash table over the symbols; NULL without. */
  const uint32_t *gnu_hash;
  const uint32_t *hash;
  struct relocations of_data, of_calls;
  /* Bytes of an entry of the procedure linkage table, where the section says so; 0 elsewhere. */
  uintptr_t call_entry_bytes;
  /* The object asks for an auditor (rtld-audit(7)). */
  bool has_auditor;
};

/*
 * Reads the section that begins with `entry`, which may be NULL, of an object whose addresses in the file the loader
 * has increased by `bias`. glibc relocates the addresses of the section in place, unless the section is read-only: both
 * are understood.
 */
struct dynamic_section dynamic_section_read(const ElfW(Dyn) * entry, uintptr_t bias);

/* The symbol that a relocation names; the first of all, which has no name, if it names none. */
static inline const ElfW(Sym) * relocated_symbol(const struct dynamic_section *section, const ElfW(Rela) * relocation) {
  return &section->symbols[ELF64_R_SYM(relocation->r_info)];
}

#endif
