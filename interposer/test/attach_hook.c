/* A library that hooks malloc as profilers do: it replaces malloc's address in memory with that of its own function,
 * which counts the call and then calls the previous address. */
#define _GNU_SOURCE
#include <link.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>

void hook_put(void);
void hook_take_back(void);
int hook_calls;

static void *(*real)(size_t);

/* Zeros that the program never accesses. The attach searches writable data for words with the address of malloc. It
 * must read only the beginning of the zeros, so that the rest does not become resident. */
enum { ZEROS = 64 << 20 };
__attribute__((section(".bss.zeros"))) char hook_zeros[ZEROS];

static void *hooked_malloc(size_t size) {
  hook_calls++;
  return real(size);
}

static void set(uintptr_t *word, uintptr_t value) {
  void *page = (void *)((uintptr_t)word & ~(uintptr_t)4095);
  mprotect(page, 4096, PROT_READ | PROT_WRITE);
  *word = value;
}

static int replace(const ElfW(Rela) * table, size_t bytes, const ElfW(Sym) * symbols, const char *strings,
                   uintptr_t bias, int take_back) {
  for (size_t i = 0; table && i < bytes / sizeof *table; i++) {
    const ElfW(Sym) *symbol = &symbols[ELF64_R_SYM(table[i].r_info)];
    if (strcmp(strings + symbol->st_name, "malloc") != 0) continue;
    uintptr_t *word = (uintptr_t *)(bias + table[i].r_offset);
    if (take_back) {
      set(word, (uintptr_t)real);
    } else {
      real = (void *(*)(size_t)) * word;
      set(word, (uintptr_t)hooked_malloc);
    }
  }
  return 0;
}

static int visit(struct dl_phdr_info *info, size_t size, void *take_back) {
  (void)size;
  const ElfW(Rela) *calls = NULL, *data = NULL;
  const ElfW(Sym) *symbols = NULL;
  const char *strings = NULL;
  size_t bytes_of_calls = 0, bytes_of_data = 0;
  for (int i = 0; i < info->dlpi_phnum; i++) {
    if (info->dlpi_phdr[i].p_type != PT_DYNAMIC) continue;
    for (const ElfW(Dyn) *entry = (const void *)(info->dlpi_addr + info->dlpi_phdr[i].p_vaddr); entry->d_tag; entry++) {
      if (entry->d_tag == DT_JMPREL) calls = (const void *)entry->d_un.d_ptr;
      if (entry->d_tag == DT_RELA) data = (const void *)entry->d_un.d_ptr;
      if (entry->d_tag == DT_PLTRELSZ) bytes_of_calls = entry->d_un.d_val;
      if (entry->d_tag == DT_RELASZ) bytes_of_data = entry->d_un.d_val;
      if (entry->d_tag == DT_SYMTAB) symbols = (const void *)entry->d_un.d_ptr;
      if (entry->d_tag == DT_STRTAB) strings = (const void *)entry->d_un.d_ptr;
    }
  }
  replace(calls, bytes_of_calls, symbols, strings, info->dlpi_addr, take_back != NULL);
  replace(data, bytes_of_data, symbols, strings, info->dlpi_addr, take_back != NULL);
  return 1; /* ends dl_iterate_phdr() after the executable, which comes first */
}

void hook_put(void) { dl_iterate_phdr(visit, NULL); }

void hook_take_back(void) { dl_iterate_phdr(visit, &hook_calls); }
