/*
 * Which Java objects hold the addresses of native blocks, and who keeps these objects.
 *
 * The JVM is asked by its tools interface, in an environment of its own that may tag objects; it is made when a search
 * begins and disposed of when it ends, because tags cost each collection something. A search goes step by step, and
 * whoever drives it decides about each, as most of them stop the program:
 *
 * 1. A walk over all objects with values of long fields and long arrays, of classes alone that have such, finds the
 *    holders and tags them.
 * 2. For blocks that no Java long holds, values that could lead there through native memory are followed while the
 *    program runs (native_pointers.h); a second walk finds who holds these.
 * 3. A walk along all references finds what refers to the objects that were tagged last, and tags that: once for each
 *    link of a path. Only such objects are ever tagged. Where all that are looked for are of one class the JVM is told
 *    so, and calls back for no others.
 *
 * Callbacks run in the JVM's own thread while it is stopped: they write into reserved memory (owner_graph.h), allocate
 * nothing and call nothing of the JVM's. Local references of the search would be roots, so none to an object that is
 * looked for is there during a walk. Objects are named after each walk, as long as they are there.
 *
 * One search at a time; each function is called by one thread of the JVM.
 */
#ifndef MALLOMETER_JVM_OWNER_SEARCH_H
#define MALLOMETER_JVM_OWNER_SEARCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "jvm/owner_graph.h"
#include "mallometer.h"

/*
 * Makes the environment and the tables; the caller fills in blocks, ascending, before the first step. NULL: see
 * `error`. -ESRCH: no JVM, or the calling thread is none of its threads; -ENOTSUP: the JVM refuses; -ENOMEM.
 */
struct owner_graph *owner_search_begin(int *error);

/* Disposes of both. */
void owner_search_end(void);

/* Bytes that a search has reserved. */
size_t owner_search_footprint(void);

/* ---- Steps: 0; -ENOMEM, -ESRCH, -EIO: the JVM refused ------------------------------------------------------- */

int owner_search_holders(void);

/* Makes no pause. */
void owner_search_pointers(bool chunks_have_sizes);
int owner_search_pointer_holders(void);

/* -ENODATA: there is nothing whose referrers are unknown. */
int owner_search_referrers(void);

struct owner_search_figures {
  uint64_t walk_ns;       /* of the latest walk */
  uint32_t next, classes; /* objects whose referrers the next walk looks for, and of how many classes: 0, 1 or more */
};

struct owner_search_figures owner_search_figures(void);

#endif
