/*
 * The references of loaded objects (executable and libraries) to functions by name. A reference is a word in a
 * procedure linkage table, a global offset table or a variable. The loader fills the words in; relocations say where
 * they are.
 *
 * The caller of every function here must have the loader's lock (platform/loader_lock.h), or use only references of an
 * object that is not being loaded. The functions do not allocate.
 */
#ifndef MALLOMETER_PLATFORM_REFERENCES_H
#define MALLOMETER_PLATFORM_REFERENCES_H

#include <link.h>
#include <stdbool.h>
#include <stdint.h>

#include "platform/dynamic_section.h"

struct walked_object {
  uintptr_t bias;
  const ElfW(Phdr) * segments;
  size_t segment_count;
  struct dynamic_section section;
  bool is_executable;
};

/* Returns whether the processor's relocations are known; if not, no references are found. */
bool references_are_known(void);

/*
 * Visits the objects of the program's namespace except this library, in the loader's order: the executable is first.
 */
void objects_visit(void (*visit)(const struct walked_object *object, void *argument), void *argument);

bool object_contains(const struct walked_object *object, uintptr_t address);

struct reference {
  uintptr_t *word;
  const char *name;
  bool is_call;    /* A PLT entry reads the word; until the first call, the word may point into the PLT. */
  bool is_own;     /* The object defines the function itself. */
  bool is_ignored; /* Calls do not read the word, because the loader has rewritten the PLT entry. */
};

void references_visit(const struct walked_object *object, void (*visit)(const struct reference *, void *),
                      void *argument);

/* Visits the aligned words of the object's writable segments, but only the first 16 MiB of each segment: some
 * objects have gigabytes of zeros that would become resident. */
void data_words_visit(const struct walked_object *object, void (*visit)(uintptr_t *word, void *argument),
                      void *argument);

/*
 * Returns whether an auditor (rtld-audit(7)) or the loader's profiler may intercept calls. The loader keeps the
 * addresses of intercepted functions on the heap, and never stores them in the words that PLT entries read.
 */
bool calls_are_audited(void);

#endif
