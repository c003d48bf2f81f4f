/*
 * Searches for the Java objects that hold the addresses of native blocks, and for the objects that refer to these.
 *
 * A search uses an environment of the JVM's tools interface that may tag objects. It exists only during the search,
 * because tags cost each collection time. The search consists of steps, and the caller decides about each of them,
 * because most steps stop the program:
 *
 * 1. A walk over all objects and their long fields and long arrays (of classes that have such) finds the holders and
 *    tags them.
 * 2. For blocks that no Java long holds, longs that could lead there through native memory are followed while the
 *    program runs (native_pointers.h); a second walk finds the objects that hold these longs.
 * 3. A walk along all references finds the objects that refer to the ones tagged last, and tags these: one walk for
 *    each link of a path. Only such objects are tagged. If all objects that are searched for are of one class, the walk
 *    has a filter, so that the JVM calls back for this class only.
 *
 * Callbacks run in the JVM's own thread while it is stopped: they write into reserved memory (owner_graph.h), allocate
 * nothing and call no function of the JVM. Local references would be roots, so the search holds none to such an object
 * during a walk. Objects are named after each walk, as long as they exist.
 *
 * There is one search at a time, and only one thread of the JVM at a time may call these functions.
 */
#ifndef MALLOMETER_JVM_OWNER_SEARCH_H
#define MALLOMETER_JVM_OWNER_SEARCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "jvm/owner_graph.h"
#include "mallometer.h"

/*
 * Makes the environment and the tables. Before the first step the caller fills in the blocks, ascending. On failure
 * returns NULL and sets `error`. -ESRCH: no JVM, or not one of its threads; -ENOTSUP: the JVM refuses; -ENOMEM.
 */
struct owner_graph *owner_search_begin(int *error);

/* Disposes of the environment and the tables. */
void owner_search_end(void);

/* Returns the bytes that a search has reserved. */
size_t owner_search_footprint(void);

/* ---- Steps: 0; -ENOMEM, -ESRCH, -EIO: the JVM refused ------------------------------------------------------- */

int owner_search_find_holders(void);

/* Follows longs through native memory without stopping the JVM. */
void owner_search_follow_pointers(bool chunks_have_sizes);
int owner_search_find_pointer_holders(void);

/* Returns -ENODATA if no object is left whose referrers are unknown. */
int owner_search_find_referrers(void);

struct owner_search_figures {
  uint64_t walk_ns;       /* time of the latest walk */
  uint32_t next, classes; /* objects whose referrers the next walk looks for, and of how many classes: 0, 1 or more */
};

struct owner_search_figures owner_search_figures(void);

#endif
