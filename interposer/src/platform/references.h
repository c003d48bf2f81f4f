/*
 * The words by which loaded objects (executable and libraries) lead to functions by name: one for each function that an
 * object calls through its procedure linkage table, has in its global offset table, or keeps in a variable. The loader
 * fills them in; relocations tell where they are.
 *
 * The caller of all functions here has the loader's lock (platform/loader_lock.h). They allocate nothing.
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

/* Visits all objects of the program's namespace in the loader's order, the executable first, but not this library. */
void objects_visit(void (*visit)(const struct walked_object *object, void *argument), void *argument);

/* Returns whether an address lies in a segment of the object. */
bool object_contains(const struct walked_object *object, uintptr_t address);

struct reference {
  uintptr_t *word;
  const char *name;
  bool is_call;    /* may still lead into its own object, to be bound at the first call */
  bool is_own;     /* the object defines the function itself */
  bool is_ignored; /* calls do not read the word, because the loader has rewritten the code */
};

void references_visit(const struct walked_object *object, void (*visit)(const struct reference *, void *),
                      void *argument);

/*
 * Visits the aligned words of the object's data that the loader or the object may have written, in the first 16 MiB of
 * each segment: some objects have gigabytes of zeros, which would become resident.
 */
void data_words_visit(const struct walked_object *object, void (*visit)(uintptr_t *word, void *argument),
                      void *argument);

/*
 * Returns whether calls may lead through words of an auditor (rtld-audit(7)) or of the loader's profiler, which lie on
 * the heap. Words that are not bound yet are then never bound.
 */
bool calls_are_audited(void);

#endif
