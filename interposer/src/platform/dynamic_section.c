/* Reads a dynamic section, and relocates its addresses if the loader did not. See dynamic_section.h. */
#include "platform/dynamic_section.h"

#include "platform/arch.h"

static const void *address_in(uintptr_t value, uintptr_t bias) {
  return (const void *)(value < bias && (intptr_t)bias > 0 ? value + bias : value);
}

struct dynamic_section dynamic_section_read(const ElfW(Dyn) * entry, uintptr_t bias) {
  struct dynamic_section section = {0};
  for (; entry && entry->d_tag != DT_NULL; entry++) {
    const void *address = address_in(entry->d_un.d_ptr, bias);
    if (entry->d_tag == DT_SYMTAB) section.symbols = address;
    if (entry->d_tag == DT_STRTAB) section.strings = address;
    if (entry->d_tag == DT_GNU_HASH) section.gnu_hash = address;
    if (entry->d_tag == DT_HASH) section.hash = address;
    if (entry->d_tag == DT_RELA) section.of_data.first = address;
    if (entry->d_tag == DT_RELASZ) section.of_data.count = entry->d_un.d_val / sizeof(ElfW(Rela));
    if (entry->d_tag == DT_RELACOUNT) section.of_data.without_symbol = entry->d_un.d_val;
    if (entry->d_tag == DT_JMPREL) section.of_calls.first = address;
    if (entry->d_tag == TAG_OF_CALL_ENTRY_BYTES) section.call_entry_bytes = entry->d_un.d_val;
    if (entry->d_tag == DT_AUDIT || entry->d_tag == DT_DEPAUDIT) section.has_auditor = true;
    if (entry->d_tag == DT_PLTRELSZ) section.of_calls.count = entry->d_un.d_val / sizeof(ElfW(Rela));
  }
  if (!section.symbols || !section.strings) return (struct dynamic_section){0};
  return section;
}
