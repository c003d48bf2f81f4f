/* Walks the relocations of one object, and changes the words that have the address of one function. See imports.h. */
#include "platform/imports.h"

#include <stddef.h>
#include <string.h>
#include <sys/mman.h>

#include "platform/memory.h"
#include "platform/references.h"

struct redirection {
  uintptr_t caller;
  const char *function;
  uintptr_t from, to;
  const struct walked_object *object;
  bool done;
};

/* Returns whether the loader has made the word's page read-only after relocation. */
static bool is_closed(const struct walked_object *object, uintptr_t word) {
  const uintptr_t page_mask = ~((uintptr_t)memory_page_bytes() - 1);
  for (size_t i = 0; i < object->segment_count; i++) {
    const ElfW(Phdr) *segment = &object->segments[i];
    uintptr_t begin = object->bias + segment->p_vaddr, end = begin + segment->p_memsz;
    if (segment->p_type == PT_GNU_RELRO && word >= (begin & page_mask) && word < (end & page_mask)) return true;
  }
  return false;
}

static bool store(uintptr_t *word, uintptr_t value, bool closed) {
  uintptr_t page_bytes = (uintptr_t)memory_page_bytes();
  void *page = (void *)((uintptr_t)word & ~(page_bytes - 1));
  if (closed && mprotect(page, page_bytes, PROT_READ | PROT_WRITE) != 0) return false;
  __atomic_store_n(word, value, __ATOMIC_RELEASE);
  if (closed) mprotect(page, page_bytes, PROT_READ);
  return true;
}

static void redirect(const struct reference *reference, void *argument) {
  struct redirection *wanted = argument;
  uintptr_t now = __atomic_load_n(reference->word, __ATOMIC_RELAXED);
  if (wanted->done || reference->is_own || strcmp(reference->name, wanted->function) != 0) return;
  if (now != wanted->from && now != wanted->to) return;
  wanted->done = store(reference->word, wanted->to, is_closed(wanted->object, (uintptr_t)reference->word));
}

static void redirect_in(const struct walked_object *object, void *argument) {
  struct redirection *wanted = argument;
  if (!object_contains(object, wanted->caller)) return;
  wanted->object = object;
  references_visit(object, redirect, wanted);
}

bool import_redirect(const void *caller, const char *function, const void *from, const void *to) {
  struct redirection wanted = {(uintptr_t)caller, function, (uintptr_t)from, (uintptr_t)to, NULL, false};
  objects_visit(redirect_in, &wanted);
  return wanted.done;
}
