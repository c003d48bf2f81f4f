/*
 * The words by which loaded objects (executable and libraries) refer to functions by name: one word for each function
 * that an object calls through its procedure linkage table, has in its global offset table, or has in a variable. The
 * loader fills these words in; relocations say where the words are.
 *
 * The caller of every function here must have the loader's lock (platform/loader_lock.h), or use only the references of
 * an object that is not being loaded. The functions do not allocate.
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
  bool is_call;    /* the word is for a PLT call; until the first call it may point into the object's own PLT */
  bool is_own;     /* the object defines the function itself */
  bool is_ignored; /* calls do not read the word, because the loader has rewritten the PLT entry */
};

void references_visit(const struct walked_object *object, void (*visit)(const struct reference *, void *),
                      void *argument);

/*
 * Visits the aligned words of the object's data that the loader or the object may have written. Only the first 16 MiB
 * of each segment are visited: some objects have gigabytes of zeros, which would become resident.
 */
void data_words_visit(const struct walked_object *object, void (*visit)(uintptr_t *word, void *argument),
                      void *argument);

/*
 * Returns whether calls may lead through words of an auditor (rtld-audit(7)) or of the loader's profiler, which lie on
 * the heap. If so, the loader never stores the function's address in the object's own word for a call.
 */
bool calls_are_audited(void);

#endif
