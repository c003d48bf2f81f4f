/* See refusal.h. */
#include "control/refusal.h"

#include <elf.h>
#include <link.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#include "platform/kernel.h"
#include "platform/system_calls.h"

#define INTERNAL_PREFIX "__libc_"

static bool is_internal_name(const char *name) {
  static const char *const names[] = {"malloc", "calloc", "realloc", "free", "memalign", "valloc", "pvalloc", NULL};
  if (strncmp(name, INTERNAL_PREFIX, sizeof INTERNAL_PREFIX - 1) != 0) return false;
  for (const char *const *n = names; *n; n++) {
    if (strcmp(name + sizeof INTERNAL_PREFIX - 1, *n) == 0) return true;
  }
  return false;
}

struct dynamic_tables {
  const ElfW(Sym) * symbols;
  const char *strings;
  const uint32_t *gnu_hash;
  const uint32_t *hash;
};

/*
 * How many symbols to look at. Undefined symbols, the ones of interest, precede all that a GNU hash table knows; an old
 * hash table counts all.
 */
static size_t symbol_count(const struct dynamic_tables *tables) {
  if (tables->gnu_hash) return tables->gnu_hash[1];
  return tables->hash ? tables->hash[1] : 0;
}

static bool refers_to_internals(const struct dynamic_tables *tables) {
  if (!tables->symbols || !tables->strings) return false;
  for (size_t i = 0; i < symbol_count(tables); i++) {
    const ElfW(Sym) *symbol = &tables->symbols[i];
    if (symbol->st_shndx == SHN_UNDEF && is_internal_name(tables->strings + symbol->st_name)) return true;
  }
  return false;
}

/* The loader has relocated these addresses, except in the kernel's own object, which is left out. */
static struct dynamic_tables tables_of(const struct dl_phdr_info *object) {
  struct dynamic_tables tables = {0};
  for (ElfW(Half) i = 0; i < object->dlpi_phnum; i++) {
    if (object->dlpi_phdr[i].p_type != PT_DYNAMIC) continue;
    const ElfW(Dyn) *entry = (const ElfW(Dyn) *)(object->dlpi_addr + object->dlpi_phdr[i].p_vaddr);
    for (; entry->d_tag != DT_NULL; entry++) {
      const void *address = (const void *)(uintptr_t)entry->d_un.d_ptr;
      if (entry->d_tag == DT_SYMTAB) tables.symbols = address;
      if (entry->d_tag == DT_STRTAB) tables.strings = address;
      if (entry->d_tag == DT_GNU_HASH) tables.gnu_hash = address;
      if (entry->d_tag == DT_HASH) tables.hash = address;
    }
  }
  return tables;
}

bool file_names_internals(const char *path) {
  static const char name[] = "\0" INTERNAL_PREFIX "free"; /* a name begins after the end of another */
  struct stat status;
  int file = call_open(path, O_RDONLY | O_NONBLOCK);
  if (file < 0) return false;
  bool found = false;
  if (status_of_file(file, &status) == 0 && S_ISREG(status.st_mode) && status.st_size > 0) {
    size_t bytes = (size_t)status.st_size;
    void *mapped = mmap(NULL, bytes, PROT_READ, MAP_PRIVATE, file, 0);
    if (mapped != MAP_FAILED) {
      found = memmem(mapped, bytes, name, sizeof name) != NULL;
      munmap(mapped, bytes);
    }
  }
  call_close(file);
  return found;
}

struct search {
  char *name;
  size_t capacity;
};

static int look(struct dl_phdr_info *object, size_t size, void *argument) {
  (void)size;
  const struct search *search = argument;
  const char *slash = strrchr(object->dlpi_name, '/');
  const char *name = slash ? slash + 1 : object->dlpi_name;
  if (strncmp(name, "linux-vdso", 10) == 0) return 0;
  struct dynamic_tables tables = tables_of(object);
  if (!refers_to_internals(&tables)) return 0;
  snprintf(search->name, search->capacity, "%s", *name ? name : "the executable");
  return 1;
}

bool find_object_past_interposers(char *name, size_t capacity) {
  struct search search = {name, capacity};
  return dl_iterate_phdr(look, &search) == 1;
}
