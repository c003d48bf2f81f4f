/* See dynamic_symbols.h. The format: System V ABI, "Dynamic Linking"; for DT_GNU_HASH the linkers' common practice. */
#include "platform/dynamic_symbols.h"

#include <elf.h>
#include <stddef.h>
#include <stdint.h>

#include "platform/glibc_versions.h"

struct tables {
  const ElfW(Sym) * symbols;
  const char *strings;
  const uint32_t *gnu_hash;
  const uint32_t *hash;
  struct relocations {
    const ElfW(Rela) * begin;
    size_t bytes;
    size_t without_symbol; /* how many come first that name none: most, in large programs */
  } usual, of_calls;
};

static bool begins_with(const char *text, const char *beginning) {
  while (*beginning && *text == *beginning) text++, beginning++;
  return *beginning == '\0';
}

static bool is_same(const char *one, const char *other) {
  while (*one && *one == *other) one++, other++;
  return *one == *other;
}

/* ---- Objects ------------------------------------------------------------------------------------------- */

struct link_map *object_of(const void *address) {
  Dl_info info;
  struct link_map *object;
  return dladdr1 && dladdr1(address, &info, (void **)&object, RTLD_DL_LINKMAP) ? object : NULL;
}

struct link_map *own_object(void) {
  static const char here;
  return object_of(&here);
}

struct link_map *first_object(void) {
  struct link_map *object = own_object();
  while (object && object->l_prev) object = object->l_prev;
  return object;
}

bool file_begins_with(const struct link_map *object, const char *beginning) {
  if (!object || !object->l_name) return false;
  const char *file = object->l_name;
  for (const char *at = file; *at; at++) {
    if (*at == '/') file = at + 1;
  }
  return begins_with(file, beginning);
}

/* glibc relocates the addresses of the section in place, unless the section is read-only. */
static const void *address_in(const struct link_map *object, uintptr_t value) {
  uintptr_t bias = object->l_addr;
  return (const void *)(value < bias && (intptr_t)bias > 0 ? value + bias : value);
}

/* The kernel's own object is left out: it may be linked to an address that it does not have. */
static struct tables tables_of(const struct link_map *object) {
  struct tables tables = {0};
  if (file_begins_with(object, "linux-vdso")) return tables;
  for (const ElfW(Dyn) *entry = object->l_ld; entry && entry->d_tag != DT_NULL; entry++) {
    const void *address = address_in(object, entry->d_un.d_ptr);
    if (entry->d_tag == DT_SYMTAB) tables.symbols = address;
    if (entry->d_tag == DT_STRTAB) tables.strings = address;
    if (entry->d_tag == DT_GNU_HASH) tables.gnu_hash = address;
    if (entry->d_tag == DT_HASH) tables.hash = address;
    if (entry->d_tag == DT_RELA) tables.usual.begin = address;
    if (entry->d_tag == DT_RELASZ) tables.usual.bytes = entry->d_un.d_val;
    if (entry->d_tag == DT_RELACOUNT) tables.usual.without_symbol = entry->d_un.d_val;
    if (entry->d_tag == DT_JMPREL) tables.of_calls.begin = address;
    if (entry->d_tag == DT_PLTRELSZ) tables.of_calls.bytes = entry->d_un.d_val;
  }
  if (!tables.symbols || !tables.strings) return (struct tables){0};
  return tables;
}

/* ---- Definitions --------------------------------------------------------------------------------------- */

static uint32_t gnu_hash(const char *name) {
  uint32_t hash = 5381;
  for (; *name; name++) hash = hash * 33 + (unsigned char)*name;
  return hash;
}

/* Number of buckets, of the first symbol in the table, of words in a filter, a shift; filter, buckets, chains. */
static const ElfW(Sym) * by_gnu_hash(const struct tables *tables, const char *name) {
  uint32_t bucket_count = tables->gnu_hash[0], first = tables->gnu_hash[1], filter_words = tables->gnu_hash[2];
  const uint32_t *buckets = (const uint32_t *)((const ElfW(Addr) *)(tables->gnu_hash + 4) + filter_words);
  const uint32_t *chains = buckets + bucket_count;
  if (bucket_count == 0) return NULL;
  uint32_t hash = gnu_hash(name), last, i = buckets[hash % bucket_count];
  if (i < first) return NULL;
  do {
    last = chains[i - first]; /* a hash, whose lowest bit ends the chain */
    const ElfW(Sym) *symbol = &tables->symbols[i++];
    if ((last | 1) == (hash | 1) && is_same(tables->strings + symbol->st_name, name)) return symbol;
  } while (!(last & 1));
  return NULL;
}

static const ElfW(Sym) * by_hash(const struct tables *tables, const char *name) {
  uint32_t count = tables->hash[1];
  for (uint32_t i = 0; i < count; i++) {
    if (is_same(tables->strings + tables->symbols[i].st_name, name)) return &tables->symbols[i];
  }
  return NULL;
}

const void *function_in(const struct link_map *object, const char *name) {
  struct tables tables = tables_of(object);
  const ElfW(Sym) *symbol = tables.gnu_hash ? by_gnu_hash(&tables, name) : tables.hash ? by_hash(&tables, name) : NULL;
  if (!symbol || symbol->st_shndx == SHN_UNDEF) return NULL;
  unsigned type = ELF64_ST_TYPE(symbol->st_info);
  bool is_function = type == STT_FUNC || type == STT_NOTYPE || type == STT_GNU_IFUNC; /* its resolver stands for it */
  return is_function ? (const void *)(object->l_addr + symbol->st_value) : NULL;
}

const void *first_definition(const char *name, const struct link_map *begin, const struct link_map *end) {
  const void *found = NULL;
  for (const struct link_map *object = begin; object && object != end && !found; object = object->l_next) {
    found = function_in(object, name);
  }
  return found;
}

/* ---- References ---------------------------------------------------------------------------------------- */

/* By the relocations: where nothing is exported, no table says how many symbols there are. */
static bool any_of(const struct relocations *relocations, const struct tables *tables, bool (*matches)(const char *)) {
  size_t count = relocations->begin ? relocations->bytes / sizeof(ElfW(Rela)) : 0;
  for (size_t i = relocations->without_symbol; i < count; i++) {
    uint64_t number = ELF64_R_SYM(relocations->begin[i].r_info);
    const ElfW(Sym) *symbol = &tables->symbols[number];
    if (number != 0 && symbol->st_shndx == SHN_UNDEF && matches(tables->strings + symbol->st_name)) return true;
  }
  return false;
}

bool refers_to(const struct link_map *object, bool (*matches)(const char *name)) {
  if (!object) return false;
  struct tables tables = tables_of(object);
  if (!tables.symbols) return false;
  return any_of(&tables.usual, &tables, matches) || any_of(&tables.of_calls, &tables, matches);
}
