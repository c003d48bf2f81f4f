/*
 * What the process may do with its memory, mapping by mapping, as the kernel tells it at one moment. The loader closes
 * pages after it has filled them in, so whoever changes a word of a loaded object needs to know how its page is to be
 * left.
 */
#ifndef MALLOMETER_PLATFORM_MAPPINGS_H
#define MALLOMETER_PLATFORM_MAPPINGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct mapping {
  uintptr_t begin, end;
  int protection;    /* bits of mmap(2) */
  bool is_anonymous; /* private, and of no file or device */
  bool is_shared;    /* what is stored there others may see */
  bool is_device;    /* what is read there may be no memory, and reading it may do something */
};

struct mappings {
  struct mapping *rows; /* in ascending order; equal neighbours are one */
  size_t count;
};

bool mapping_is_readable(const struct mapping *mapping);
bool mapping_is_writable(const struct mapping *mapping);

/*
 * Reads all of them; 20 us for each hundred. False, with errno, if the kernel does not tell or there is no memory:
 * nothing is to be forgotten then. Makes system calls, allocates nothing by malloc.
 */
bool mappings_read(struct mappings *mappings);
void mappings_forget(struct mappings *mappings);

/* -1 if nothing is mapped at the address. */
int mappings_protection(const struct mappings *mappings, uintptr_t address);

#endif
