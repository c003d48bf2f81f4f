/* Declares malloc_zone_t (version 13) and functions of zones as Apple's header of this name does. logic_attach.c
 * defines the functions. */
#ifndef MALLOMETER_TEST_GIVEN_ZONES_H
#define MALLOMETER_TEST_GIVEN_ZONES_H

#include <mach/mach.h>
#include <stddef.h>

typedef struct given_malloc_zone {
  void *reserved1, *reserved2;
  void *size, *malloc, *calloc, *valloc, *free, *realloc, *destroy;
  const char *zone_name;
  void *batch_malloc, *batch_free, *introspect;
  unsigned version;
  void *memalign, *free_definite_size, *pressure_relief, *claimed_address, *try_free_default;
} malloc_zone_t;

kern_return_t malloc_get_all_zones(mach_port_t task, void *reader, vm_address_t **zones, unsigned *count);

#endif
