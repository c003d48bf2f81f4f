/* The mappings of the process and their protection, as the kernel reports them at one moment. Code that changes a
 * word in a read-only page must afterwards restore the page's protection. */
#ifndef MALLOMETER_PLATFORM_MAPPINGS_H
#define MALLOMETER_PLATFORM_MAPPINGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct mapping {
  uintptr_t begin, end;
  int protection;    /* bits of mmap(2) */
  bool is_anonymous; /* private, and not of a file or device */
  bool is_shared;
  bool is_device; /* reading it may have side effects, because a device need not be memory */
};

struct mappings {
  struct mapping *rows; /* sorted by address; adjacent mappings with the same properties are merged */
  size_t count;
};

bool mapping_is_readable(const struct mapping *mapping);
bool mapping_is_writable(const struct mapping *mapping);

/* Reads all mappings; 100 mappings take about 20 us. Returns false and sets errno if the kernel does not report them
 * or there is no memory; then there is nothing to free. Makes system calls; does not use malloc. */
bool mappings_read(struct mappings *mappings);
void mappings_forget(struct mappings *mappings);

/* Returns the protection at an address; -1 if nothing is mapped there. */
int mappings_protection(const struct mappings *mappings, uintptr_t address);

#endif
