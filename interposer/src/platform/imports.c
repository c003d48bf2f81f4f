/* Walks the relocations of one object, and changes the words that have the address of one function. See imports.h. */
#include "platform/imports.h"

#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>

#include "platform/dynamic_section.h"
#include "platform/memory.h"

struct redirection {
  uintptr_t caller;
  const char *function;
  uintptr_t from, to;
  bool done;
};

/* Returns the word with the function's address; NULL if the object does not refer to the function, or if the word has
 * another value. */
static uintptr_t *find_word(const struct dynamic_section *section, const struct relocations *table, uintptr_t bias,
                            const struct redirection *wanted) {
  for (size_t i = table->without_symbol; table->first && i < table->count; i++) {
    const ElfW(Sym) *symbol = relocated_symbol(section, &table->first[i]);
    if (symbol->st_shndx != SHN_UNDEF || strcmp(section->strings + symbol->st_name, wanted->function) != 0) continue;
    uintptr_t *word = (uintptr_t *)(bias + table->first[i].r_offset);
    uintptr_t now = __atomic_load_n(word, __ATOMIC_RELAXED);
    if (now == wanted->from || now == wanted->to) return word;
  }
  return NULL;
}

/* Stores a word. If the loader has made the page read-only after relocation, the page is made writable for the store.
 */
static bool store(uintptr_t *word, uintptr_t value, bool closed) {
  uintptr_t page_bytes = (uintptr_t)memory_page_bytes();
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
  uintptr_t closed_begin = 0, closed_end = 0, page_mask = ~((uintptr_t)memory_page_bytes() - 1);
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
  struct dynamic_section section = dynamic_section_read(dynamic, object->dlpi_addr);
  if (!section.symbols) return 1;
  uintptr_t *word = find_word(&section, &section.of_calls, object->dlpi_addr, wanted);
  if (!word) word = find_word(&section, &section.of_data, object->dlpi_addr, wanted);
  if (word) wanted->done = store(word, wanted->to, (uintptr_t)word >= closed_begin && (uintptr_t)word < closed_end);
  return 1;
}

bool import_redirect(const void *caller, const char *function, const void *from, const void *to) {
  struct redirection wanted = {(uintptr_t)caller, function, (uintptr_t)from, (uintptr_t)to, false};
  dl_iterate_phdr(redirect_in, &wanted);
  return wanted.done;
}
