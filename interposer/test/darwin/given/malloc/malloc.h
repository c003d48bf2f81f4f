/* Declares functions of libsystem_malloc as Apple's header does. logic_interposing.c defines these functions. */
#ifndef MALLOMETER_TEST_GIVEN_MALLOC_H
#define MALLOMETER_TEST_GIVEN_MALLOC_H

#include <stddef.h>

typedef struct given_zone malloc_zone_t;

void *reallocf(void *object, size_t size);
void *malloc_zone_malloc(malloc_zone_t *zone, size_t size);
void *malloc_zone_calloc(malloc_zone_t *zone, size_t number, size_t size);
void *malloc_zone_valloc(malloc_zone_t *zone, size_t size);
void *malloc_zone_memalign(malloc_zone_t *zone, size_t alignment, size_t size);
void malloc_zone_free(malloc_zone_t *zone, void *object);
void *malloc_zone_realloc(malloc_zone_t *zone, void *object, size_t size);
unsigned malloc_zone_batch_malloc(malloc_zone_t *zone, size_t size, void **objects, unsigned wanted);
void malloc_zone_batch_free(malloc_zone_t *zone, void **objects, unsigned number);

#endif
