/* Finds references by the relocations of loaded objects. See references.h. */
#include "platform/references.h"

#include <stdlib.h>

#include "platform/arch.h"

bool references_are_known(void) { return RELOCATIONS_ARE_KNOWN; }

/* ---- Objects ------------------------------------------------------------------------------------------- */

struct objects_walk {
  void (*visit)(const struct walked_object *object, void *argument);
  void *argument;
  bool is_first;
};

bool object_contains(const struct walked_object *object, uintptr_t address) {
  for (size_t i = 0; i < object->segment_count; i++) {
    const ElfW(Phdr) *segment = &object->segments[i];
    if (segment->p_type == PT_LOAD && address - object->bias - segment->p_vaddr < segment->p_memsz) return true;
  }
  return false;
}

static int visit_object(struct dl_phdr_info *info, size_t size, void *argument) {
  (void)size;
  static const char own;
  struct objects_walk *walk = argument;
  struct walked_object object = {.bias = info->dlpi_addr,
                                 .segments = info->dlpi_phdr,
                                 .segment_count = info->dlpi_phnum,
                                 .is_executable = walk->is_first};
  walk->is_first = false;
  const ElfW(Dyn) *dynamic = NULL;
  for (size_t i = 0; i < object.segment_count; i++) {
    if (object.segments[i].p_type == PT_DYNAMIC)
      dynamic = (const ElfW(Dyn) *)(object.bias + object.segments[i].p_vaddr);
  }
  object.section = dynamic_section_read(dynamic, object.bias);
  if (object.section.symbols && !object_contains(&object, (uintptr_t)&own)) walk->visit(&object, walk->argument);
  return 0;
}

void objects_visit(void (*visit)(const struct walked_object *object, void *argument), void *argument) {
  struct objects_walk walk = {visit, argument, true};
  dl_iterate_phdr(visit_object, &walk);
}

/* ---- References ---------------------------------------------------------------------------------------- */

/* Unaligned words are excluded, because they cannot be changed atomically. */
static bool leads_to_function(const ElfW(Rela) * relocation) {
  if (relocation->r_offset % sizeof(uintptr_t) != 0) return false;
  uint32_t type = (uint32_t)ELF64_R_TYPE(relocation->r_info);
  return type == RELOCATION_OF_CALL || type == RELOCATION_OF_DATA ||
         (type == RELOCATION_OF_ADDRESS && relocation->r_addend == 0);
}

/* Returns whether calls bypass the word of this relocation. They do if the loader has rewritten the entry of the
 * procedure linkage table (PLT) that used to read the word. If the object was linked with -z mark-plt, the
 * relocation's addend is the entry's address in the file. Otherwise the addend is 0, and the entry is unknown. */
static bool is_ignored(const struct walked_object *object, const ElfW(Rela) * relocation) {
  uintptr_t entry_bytes = object->section.call_entry_bytes;
  if (entry_bytes == 0 || relocation->r_addend == 0) return false;
  return call_entry_ignores_word((const unsigned char *)(object->bias + (uintptr_t)relocation->r_addend), entry_bytes);
}

static void visit_table(const struct walked_object *object, const struct relocations *table,
                        void (*visit)(const struct reference *, void *), void *argument) {
  for (size_t i = table->without_symbol; table->first && i < table->count; i++) {
    const ElfW(Rela) *relocation = &table->first[i];
    if (!leads_to_function(relocation)) continue;
    const ElfW(Sym) *symbol = relocated_symbol(&object->section, relocation);
    bool is_call = ELF64_R_TYPE(relocation->r_info) == RELOCATION_OF_CALL;
    const struct reference reference = {.word = (uintptr_t *)(object->bias + relocation->r_offset),
                                        .name = object->section.strings + symbol->st_name,
                                        .is_call = is_call,
                                        .is_own = symbol->st_shndx != SHN_UNDEF,
                                        .is_ignored = is_call && is_ignored(object, relocation)};
    visit(&reference, argument);
  }
}

void references_visit(const struct walked_object *object, void (*visit)(const struct reference *, void *),
                      void *argument) {
  visit_table(object, &object->section.of_calls, visit, argument);
  visit_table(object, &object->section.of_data, visit, argument);
}

#define MOST_DATA ((uintptr_t)16 << 20)

void data_words_visit(const struct walked_object *object, void (*visit)(uintptr_t *word, void *argument),
                      void *argument) {
  for (size_t i = 0; i < object->segment_count; i++) {
    const ElfW(Phdr) *segment = &object->segments[i];
    if (segment->p_type != PT_LOAD || !(segment->p_flags & PF_W)) continue;
    uintptr_t begin = (object->bias + segment->p_vaddr + sizeof(uintptr_t) - 1) & ~(sizeof(uintptr_t) - 1);
    uintptr_t bytes = segment->p_memsz < MOST_DATA ? segment->p_memsz : MOST_DATA;
    uintptr_t end = object->bias + segment->p_vaddr + bytes;
    for (uintptr_t at = begin; at + sizeof(uintptr_t) <= end; at += sizeof(uintptr_t)) visit((uintptr_t *)at, argument);
  }
}

/* ---- Auditors ------------------------------------------------------------------------------------------ */

static void look_for_auditor(const struct walked_object *object, void *found) {
  if (object->is_executable && object->section.has_auditor) *(bool *)found = true;
}

/* Returns true if there is any auditor. Only the loader knows whether an auditor audits calls, because auditors are
 * loaded into namespaces of their own. */
bool calls_are_audited(void) {
  bool found = getenv("LD_AUDIT") || getenv("LD_PROFILE");
  objects_visit(look_for_auditor, &found);
  return found;
}
