/*
 * The protection of the process's memory, mapping by mapping, as the kernel tells it at one moment. The loader closes
 * pages after it has filled them in, so after a change of a word in a loaded object its page needs the same protection.
 */
#ifndef MALLOMETER_PLATFORM_MAPPINGS_H
#define MALLOMETER_PLATFORM_MAPPINGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct mapping {
  uintptr_t begin, end;
  int protection;    /* bits of mmap(2) */
  bool is_anonymous; /* private, and not of a file or device */
  bool is_shared;    /* visible to other processes */
  bool is_device;    /* may be no memory, and have effects when it is read */
};

struct mappings {
  struct mapping *rows; /* ascending; equal neighbours are merged */
  size_t count;
};

bool mapping_is_readable(const struct mapping *mapping);
bool mapping_is_writable(const struct mapping *mapping);

/*
 * Reads all mappings; 20 us for each hundred. Returns false, with errno, if the kernel does not tell or there is no
 * memory: then there is nothing to forget. Makes system calls, allocates nothing by malloc.
 */
bool mappings_read(struct mappings *mappings);
void mappings_forget(struct mappings *mappings);

/* Returns the protection at an address; -1 if nothing is mapped there. */
int mappings_protection(const struct mappings *mappings, uintptr_t address);

#endif
