/* See imports.h. */
#include "platform/imports.h"

#include <elf.h>
#include <link.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

struct redirection {
  uintptr_t caller;
  const char *function;
  uintptr_t from, to;
  bool done;
};

struct relocations {
  const ElfW(Rela) * first;
  size_t count;
};

struct imports {
  const ElfW(Sym) * symbols;
  const char *strings;
  /* Of calls, and of data; the latter begin with a number of those that name no symbol. */
  struct relocations calls, data;
  size_t without_symbol;
};

/* The loader has relocated these addresses, unless they lie in a segment that cannot be written. */
static struct imports imports_of(const ElfW(Dyn) * entry, uintptr_t bias) {
  struct imports found = {0};
  for (; entry->d_tag != DT_NULL; entry++) {
    uintptr_t value = (uintptr_t)entry->d_un.d_ptr, address = value < bias ? bias + value : value;
    if (entry->d_tag == DT_SYMTAB) found.symbols = (const ElfW(Sym) *)address;
    if (entry->d_tag == DT_STRTAB) found.strings = (const char *)address;
    if (entry->d_tag == DT_JMPREL) found.calls.first = (const ElfW(Rela) *)address;
    if (entry->d_tag == DT_PLTRELSZ) found.calls.count = value / sizeof(ElfW(Rela));
    if (entry->d_tag == DT_RELA) found.data.first = (const ElfW(Rela) *)address;
    if (entry->d_tag == DT_RELASZ) found.data.count = value / sizeof(ElfW(Rela));
    if (entry->d_tag == DT_RELACOUNT) found.without_symbol = value;
  }
  return found;
}

/* Where the loader put the address; NULL if the object does not refer to the function, or something else is there. */
static uintptr_t *find_word(const struct imports *imports, const struct relocations *table, size_t begin,
                            uintptr_t bias, const struct redirection *wanted) {
  for (size_t i = begin; table->first && i < table->count; i++) {
    const ElfW(Sym) *symbol = &imports->symbols[ELF64_R_SYM(table->first[i].r_info)];
    if (symbol->st_shndx != SHN_UNDEF || strcmp(imports->strings + symbol->st_name, wanted->function) != 0) continue;
    uintptr_t *word = (uintptr_t *)(bias + table->first[i].r_offset);
    uintptr_t now = __atomic_load_n(word, __ATOMIC_RELAXED);
    if (now == wanted->from || now == wanted->to) return word;
  }
  return NULL;
}

/* A page that the loader has closed after relocation is opened for the moment of the store. */
static bool store(uintptr_t *word, uintptr_t value, bool closed) {
  uintptr_t page_bytes = (uintptr_t)getpagesize();
  void *page = (void *)((uintptr_t)word & ~(page_bytes - 1));
  if (closed && mprotect(page, page_bytes, PROT_READ | PROT_WRITE) != 0) return false;
  __atomic_store_n(word, value, __ATOMIC_RELEASE);
  if (closed) mprotect(page, page_bytes, PROT_READ);
  return true;
}

static int redirect_in(struct dl_phdr_info *object, size_t size, void *argument) {
  (void)size;
  struct redirection *wanted = argument;
  const ElfW(Dyn) *dynamic = NULL;
  uintptr_t closed_begin = 0, closed_end = 0, page_mask = ~((uintptr_t)getpagesize() - 1);
  bool contains_caller = false;
  for (ElfW(Half) i = 0; i < object->dlpi_phnum; i++) {
    const ElfW(Phdr) *segment = &object->dlpi_phdr[i];
    uintptr_t begin = object->dlpi_addr + segment->p_vaddr, end = begin + segment->p_memsz;
    if (segment->p_type == PT_LOAD) contains_caller |= wanted->caller >= begin && wanted->caller < end;
    if (segment->p_type == PT_DYNAMIC) dynamic = (const ElfW(Dyn) *)begin;
    if (segment->p_type != PT_GNU_RELRO) continue;
    closed_begin = begin & page_mask;
    closed_end = end & page_mask;
  }
  if (!contains_caller || !dynamic) return contains_caller;
  struct imports imports = imports_of(dynamic, object->dlpi_addr);
  if (!imports.symbols || !imports.strings) return 1;
  uintptr_t *word = find_word(&imports, &imports.calls, 0, object->dlpi_addr, wanted);
  if (!word) word = find_word(&imports, &imports.data, imports.without_symbol, object->dlpi_addr, wanted);
  if (word) wanted->done = store(word, wanted->to, (uintptr_t)word >= closed_begin && (uintptr_t)word < closed_end);
  return 1;
}

bool import_redirect(const void *caller, const char *function, const void *from, const void *to) {
  struct redirection wanted = {(uintptr_t)caller, function, (uintptr_t)from, (uintptr_t)to, false};
  dl_iterate_phdr(redirect_in, &wanted);
  return wanted.done;
}
