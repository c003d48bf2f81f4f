/* Looks up functions in the hash tables of loaded objects, as the loader does. See dynamic_symbols.h. */
#include "platform/dynamic_symbols.h"

#include <stddef.h>
#include <stdint.h>

#include "platform/dynamic_section.h"
#include "platform/glibc_versions.h"
#include "platform/libc.h"
#include "platform/loader.h"

static bool begins_with(const char *text, const char *beginning) {
  while (*beginning && *text == *beginning) text++, beginning++;
  return *beginning == '\0';
}

static bool is_same(const char *one, const char *other) {
  while (*one && *one == *other) one++, other++;
  return *one == *other;
}

/* ---- Objects ------------------------------------------------------------------------------------------- */

/* Finds the object that contains an address, on musl. musl's dladdr() returns the pointer `l_name` of the object,
 * and musl's objects begin with the members of struct link_map. */
static struct link_map *object_by_name_of(const void *address) {
  Dl_info info;
  if (!libc_is_musl() || !dladdr(address, &info)) return NULL;
  struct link_map *object = already_loaded(NULL);
  while (object && object->l_name != info.dli_fname) object = object->l_next;
  return object;
}

struct link_map *object_of(const void *address) {
  Dl_info info;
  struct link_map *object;
  if (!dladdr1) return object_by_name_of(address);
  return dladdr1(address, &info, (void **)&object, RTLD_DL_LINKMAP) ? object : NULL;
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

struct link_map *next_object(const struct link_map *object) {
  return object->l_next;
}

static const char *file_of(const struct link_map *object) {
  const char *file = object->l_name;
  for (const char *at = file; *at; at++) {
    if (*at == '/') file = at + 1;
  }
  return file;
}

const char *object_file_name(const struct link_map *object) {
  const char *file = file_of(object);
  return *file ? file : "the executable";
}

uintptr_t object_bias(const struct link_map *object) { return object->l_addr; }

bool file_begins_with(const struct link_map *object, const char *beginning) {
  return object && object->l_name && begins_with(file_of(object), beginning);
}

/* Returns an object's dynamic section. Returns an empty section for the kernel's vDSO, which may have been linked
 * for another address. */
static struct dynamic_section section_of(const struct link_map *object) {
  if (file_begins_with(object, "linux-vdso")) return (struct dynamic_section){0};
  return dynamic_section_read(object->l_ld, object->l_addr);
}

/* ---- Definitions --------------------------------------------------------------------------------------- */

static uint32_t gnu_hash(const char *name) {
  uint32_t hash = 5381;
  for (; *name; name++) hash = hash * 33 + (unsigned char)*name;
  return hash;
}

/* The table begins with four numbers: the number of buckets, the index of the first symbol, the number of filter
 * words, and a shift. The filter, the buckets and the chains follow. */
static const ElfW(Sym) * by_gnu_hash(const struct dynamic_section *section, const char *name) {
  uint32_t bucket_count = section->gnu_hash[0], first = section->gnu_hash[1], filter_words = section->gnu_hash[2];
  const uint32_t *buckets = (const uint32_t *)((const ElfW(Addr) *)(section->gnu_hash + 4) + filter_words);
  const uint32_t *chains = buckets + bucket_count;
  if (bucket_count == 0) return NULL;
  uint32_t hash = gnu_hash(name), last, i = buckets[hash % bucket_count];
  if (i < first) return NULL;
  do {
    last = chains[i - first]; /* The lowest bit of this hash marks the end of the chain. */
    const ElfW(Sym) *symbol = &section->symbols[i++];
    if ((last | 1) == (hash | 1) && is_same(section->strings + symbol->st_name, name)) return symbol;
  } while (!(last & 1));
  return NULL;
}

static const ElfW(Sym) * by_hash(const struct dynamic_section *section, const char *name) {
  uint32_t count = section->hash[1];
  for (uint32_t i = 0; i < count; i++) {
    if (is_same(section->strings + section->symbols[i].st_name, name)) return &section->symbols[i];
  }
  return NULL;
}

static const ElfW(Sym) * definition_in(const struct link_map *object, const char *name) {
  struct dynamic_section section = section_of(object);
  const ElfW(Sym) *symbol = NULL;
  if (section.gnu_hash) {
    symbol = by_gnu_hash(&section, name);
  } else if (section.hash) {
    symbol = by_hash(&section, name);
  }
  if (!symbol || symbol->st_shndx == SHN_UNDEF) return NULL;
  unsigned type = ELF64_ST_TYPE(symbol->st_info);
  return type == STT_FUNC || type == STT_NOTYPE || type == STT_GNU_IFUNC ? symbol : NULL;
}

const void *function_in(const struct link_map *object, const char *name) {
  const ElfW(Sym) *symbol = definition_in(object, name);
  return symbol ? (const void *)(object->l_addr + symbol->st_value) : NULL;
}

const void *plain_function_in(const struct link_map *object, const char *name) {
  const ElfW(Sym) *symbol = definition_in(object, name);
  bool is_plain = symbol && ELF64_ST_TYPE(symbol->st_info) != STT_GNU_IFUNC;
  return is_plain ? (const void *)(object->l_addr + symbol->st_value) : NULL;
}

const void *first_definition(const char *name, const struct link_map *begin, const struct link_map *end) {
  const void *found = NULL;
  for (const struct link_map *object = begin; object && object != end && !found; object = object->l_next) {
    found = function_in(object, name);
  }
  return found;
}

/* ---- References ---------------------------------------------------------------------------------------- */

/* Returns whether a relocation refers to an undefined symbol that `matches` accepts. The symbol table is not
 * searched, because its length is unknown in an object that exports nothing. */
static bool any_of(const struct relocations *relocations, const struct dynamic_section *section,
                   bool (*matches)(const char *)) {
  for (size_t i = relocations->without_symbol; relocations->first && i < relocations->count; i++) {
    const ElfW(Sym) *symbol = relocated_symbol(section, &relocations->first[i]);
    bool has_name = symbol != section->symbols;
    if (has_name && symbol->st_shndx == SHN_UNDEF && matches(section->strings + symbol->st_name)) return true;
  }
  return false;
}

bool refers_to(const struct link_map *object, bool (*matches)(const char *name)) {
  if (!object) return false;
  struct dynamic_section section = section_of(object);
  if (!section.symbols) return false;
  return any_of(&section.of_data, &section, matches) || any_of(&section.of_calls, &section, matches);
}
