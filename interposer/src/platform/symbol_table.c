/* Copies tables of dynamic symbols, and makes the loader use the copies. See symbol_table.h. */
#include "platform/symbol_table.h"

#include <stddef.h>
#include <string.h>

#include "platform/dynamic_section.h"
#include "platform/memory.h"

struct symbol_table {
  ElfW(Dyn) entry; /* Has the address of the copied table. The loader's pointer `*word` leads here if `installed`. */
  const ElfW(Dyn) * *word;
  const ElfW(Dyn) * before;
  uintptr_t bias;
  const char *strings;
  ElfW(Sym) * symbols;
  size_t count;
  bool installed;
};

static struct symbol_table tables[4];

/*
 * Finds the loader's pointer to the entry DT_SYMTAB. It is in l_info, an array in glibc's struct link_map that link.h
 * does not declare (at offset 64 in versions 2.31 to 2.43). l_info has pointers to the entries of the dynamic section,
 * indexed by tag. The pointers for four tags identify the array.
 */
static const ElfW(Dyn) * *find_word(const struct link_map *object) {
  enum { KNOWN_TAGS = DT_SYMENT + 1, FARTHEST = 256 };
  const ElfW(Dyn) * by_tag[KNOWN_TAGS] = {0};
  for (const ElfW(Dyn) *entry = object->l_ld; entry->d_tag != DT_NULL; entry++) {
    if (entry->d_tag > DT_NEEDED && entry->d_tag < KNOWN_TAGS) by_tag[entry->d_tag] = entry;
  }
  if (!by_tag[DT_SYMTAB] || !by_tag[DT_STRTAB] || !by_tag[DT_STRSZ] || !by_tag[DT_SYMENT]) return NULL;
  for (size_t at = sizeof(struct link_map); at < FARTHEST; at += sizeof(void *)) {
    const ElfW(Dyn) **array = (const ElfW(Dyn) **)((char *)(uintptr_t)object + at);
    if (array[DT_STRTAB] == by_tag[DT_STRTAB] && array[DT_STRSZ] == by_tag[DT_STRSZ] &&
        array[DT_SYMENT] == by_tag[DT_SYMENT] && array[DT_SYMTAB])
      return &array[DT_SYMTAB];
  }
  return NULL;
}

static struct symbol_table *place_for(uintptr_t bias) {
  for (size_t i = 0; i < sizeof tables / sizeof *tables; i++) {
    if (!tables[i].symbols || tables[i].bias == bias) return &tables[i];
  }
  return NULL;
}

struct symbol_table *symbol_table_of(const struct link_map *object, const struct protected_words *words) {
  struct symbol_table *table = place_for(object->l_addr);
  if (!table) return NULL;
  const ElfW(Dyn) **word = find_word(object);
  if (!word || !protected_word_is_writable(words, word)) return NULL;
  /* `*word` is the loader's pointer to the symbol table, and `before` is its value when the table was copied. If the
   * two differ, another library has changed the pointer, or another object was loaded at this address. The table
   * must then be copied again. */
  if (table->symbols && !table->installed && *word != table->before) table->before = NULL;
  if (table->symbols && table->before) return table;
  struct dynamic_section section = dynamic_section_read(object->l_ld, object->l_addr);
  /* Copies the table that the loader uses at present. Another library may have replaced the object's own table by
   * one with changed addresses, and these changes must stay in effect. */
  const ElfW(Sym) *in_use = (const ElfW(Sym) *)(*word)->d_un.d_ptr;
  size_t count = symbol_count(section.hash, section.gnu_hash);
  ElfW(Sym) *copy = section.symbols && count > 0 ? memory_map(NULL, count * sizeof *copy) : NULL;
  if (!copy) return NULL;
  memcpy(copy, in_use, count * sizeof *copy);
  *table = (struct symbol_table){.entry = {.d_tag = DT_SYMTAB, .d_un.d_ptr = (uintptr_t)copy},
                                 .word = word,
                                 .before = *word,
                                 .bias = object->l_addr,
                                 .strings = section.strings,
                                 .symbols = copy,
                                 .count = count};
  return table;
}

unsigned symbol_table_change(struct symbol_table *table, const char *name, uintptr_t from, uintptr_t to) {
  unsigned leading_there = 0;
  for (size_t i = 0; i < table->count; i++) {
    ElfW(Sym) *symbol = &table->symbols[i];
    if (symbol->st_shndx == SHN_UNDEF || strcmp(table->strings + symbol->st_name, name) != 0) continue;
    if (ELF64_ST_TYPE(symbol->st_info) == STT_GNU_IFUNC && !table->installed) {
      symbol->st_info = (unsigned char)ELF64_ST_INFO(ELF64_ST_BIND(symbol->st_info), STT_FUNC);
      symbol->st_value = from - table->bias;
    }
    if (symbol->st_value == from - table->bias) __atomic_store_n(&symbol->st_value, to - table->bias, __ATOMIC_RELEASE);
    leading_there += symbol->st_value == to - table->bias;
  }
  return leading_there;
}

bool symbol_tables_install(void) {
  bool all = true;
  for (struct symbol_table *table = tables; table < tables + sizeof tables / sizeof *tables; table++) {
    if (!table->symbols || table->installed) continue;
    const ElfW(Dyn) *expected = table->before;
    table->installed =
        __atomic_compare_exchange_n(table->word, &expected, &table->entry, false, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED);
    all &= table->installed;
  }
  return all;
}

void symbol_tables_remove(void) {
  for (struct symbol_table *table = tables; table < tables + sizeof tables / sizeof *tables; table++) {
    if (!table->installed) continue;
    const ElfW(Dyn) *expected = &table->entry;
    if (__atomic_compare_exchange_n(table->word, &expected, table->before, false, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED))
      table->installed = false;
  }
}
