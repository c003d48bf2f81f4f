/*
 * The tables to which a loaded object's dynamic section points: the object's symbols, and the words that the loader
 * fills in.
 *
 * The format is that of the System V ABI, "Dynamic Linking". DT_GNU_HASH is not in that standard; its format is the one
 * that linkers commonly write. No function here calls the C library, which may not be ready yet.
 */
#ifndef MALLOMETER_PLATFORM_DYNAMIC_SECTION_H
#define MALLOMETER_PLATFORM_DYNAMIC_SECTION_H

#include <elf.h>
#include <link.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct relocations {
  const ElfW(Rela) * first;
  size_t count;
  size_t without_symbol; /* the number of relocations at the beginning that name no symbol */
};

struct dynamic_section {
  /* The symbols and their strings. If they are unknown, the whole struct is zero. */
  const ElfW(Sym) * symbols;
  const char *strings;
  /* The two kinds of hash tables of the symbols; NULL if absent. */
  const uint32_t *gnu_hash;
  const uint32_t *hash;
  struct relocations of_data, of_calls;
  /* The size of an entry of the procedure linkage table in bytes; 0 if the section does not tell it. */
  uintptr_t call_entry_bytes;
  bool has_auditor;
};

/*
 * Reads the section that begins with `entry`, which may be NULL. `bias` is what the loader added to addresses in the
 * object's file. The addresses in the section may be relocated or not: glibc relocates them only if it can write to
 * the section.
 */
struct dynamic_section dynamic_section_read(const ElfW(Dyn) * entry, uintptr_t bias);

/* Returns the number of symbols. `hash` stores the number. `gnu_hash` does not, but its last chain ends at the last
 * symbol (dynamic_symbols.c). */
static inline uint32_t symbol_count(const uint32_t *hash, const uint32_t *gnu_hash) {
  if (hash) return hash[1];
  if (!gnu_hash) return 0;
  uint32_t bucket_count = gnu_hash[0], first = gnu_hash[1], filter_words = gnu_hash[2], last = 0;
  const uint32_t *buckets = (const uint32_t *)((const ElfW(Addr) *)(gnu_hash + 4) + filter_words);
  const uint32_t *chains = buckets + bucket_count;
  for (uint32_t i = 0; i < bucket_count; i++) last = buckets[i] > last ? buckets[i] : last;
  if (last < first) return first;
  while (!(chains[last - first] & 1)) last++;
  return last + 1;
}

/* Returns the symbol that a relocation names. A relocation without a symbol gets the first symbol, which has no
 * name. */
static inline const ElfW(Sym) * relocated_symbol(const struct dynamic_section *section, const ElfW(Rela) * relocation) {
  return &section->symbols[ELF64_R_SYM(relocation->r_info)];
}

#endif
