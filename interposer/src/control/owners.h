/*
 * The functions of mallometer.h that search for the Java objects that hold native memory (jvm/owner_search.h): which
 * samples are looked for, in which order the steps come, and that one search is under way at a time.
 *
 * Threads in native code run on while the JVM is stopped, so an object may be freed, and its address used again, within
 * a search. What was found of a sample counts only if it is still the same, by its birth, when the rows are read.
 */
#ifndef MALLOMETER_CONTROL_OWNERS_H
#define MALLOMETER_CONTROL_OWNERS_H

#include <stddef.h>
#include <stdint.h>

#include "mallometer.h"

/* As the functions of mallometer.h. */
int owners_begin(uint32_t site);
int owners_step(uint32_t step);
int owners_rows(uint32_t kind, void *rows, uint32_t capacity);
int owners_name(uint32_t number, char *name, uint32_t bytes);
int owners_end(void);

/* Fills all fields; zeros if there is no search. */
void owners_describe(struct mallometer_owners *out);

/* Bytes mapped. */
size_t owners_footprint(void);

/* In the child of a fork, which has no JVM: a search that its parent had begun is none of its own. */
void owners_forked(void);

#endif
