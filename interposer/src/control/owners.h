/*
 * The functions of mallometer.h that search for the Java objects that contain addresses of native memory
 * (jvm/owner_search.h). This part chooses the samples, enforces the order of the steps, and allows one search at a
 * time.
 *
 * Native code runs on while the JVM is stopped, so an object may be freed during a search. Each struct
 * mallometer_hold states whether its sample was freed.
 */
#ifndef MALLOMETER_CONTROL_OWNERS_H
#define MALLOMETER_CONTROL_OWNERS_H

#include <stddef.h>
#include <stdint.h>

#include "mallometer.h"

/* owners_begin() implements mallometer_owners_begin() of mallometer.h, and so on. */
int owners_begin(uint32_t site);
int owners_step(uint32_t step);
int owners_rows(uint32_t kind, void *rows, uint32_t capacity);
int owners_name(uint32_t number, char *name, uint32_t bytes);
int owners_end(void);

/* `out` must be zeroed, and stays so if there is no search. */
void owners_describe(struct mallometer_owners *out);

/* Returns the bytes that a search has mapped. */
size_t owners_footprint(void);

/* Forgets the parent's search in the child of a fork, which has no JVM. */
void owners_forked(void);

#endif
