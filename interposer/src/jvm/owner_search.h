/*
 * Searches for the Java objects that hold the addresses of native blocks, and for the objects that refer to these.
 *
 * A search uses a JVMTI environment that may tag objects. The environment exists only during the search, because tags
 * make each collection longer. The search consists of steps, and the caller decides about each of them, because most
 * steps stop the program:
 *
 * 1. A walk over all objects reads their long fields and the elements of long arrays. It finds the objects that hold
 *    addresses of the blocks (holders), and tags them.
 * 2. For blocks whose address no Java long holds, longs that could lead to the blocks through native memory are
 *    followed while the program runs (native_pointers.h). A second walk finds the objects with longs that do so.
 * 3. A walk along all references finds the objects that refer to those that were tagged last, and tags the referrers.
 *    Each link of a path takes one such walk. If all objects that were tagged last have one class, the walk has a
 *    filter, so that the JVM calls back only for references to objects of this class.
 *
 * Callbacks run in the JVM's own thread while the program is stopped: they write into reserved memory (owner_graph.h),
 * allocate nothing and call no function of the JVM. The JVM takes a local reference for a root, so the search holds no
 * local reference to such an object during a walk. Objects are named after each walk, as long as they exist.
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
 * Makes the JVMTI environment and the tables. Before the first step the caller fills in the blocks whose owners are
 * sought, in ascending order of address. Returns NULL on failure, and sets `error`. -ESRCH: there is no JVM, or the
 * caller is not a thread of the JVM; -ENOTSUP: the JVM refuses; -ENOMEM: there is no memory.
 */
struct owner_graph *owner_search_begin(int *error);

/* Disposes of the environment and the tables. */
void owner_search_end(void);

/* Returns the bytes that a search has reserved. */
size_t owner_search_footprint(void);

/* ---- Steps, which return 0, -ENOMEM, -ESRCH, or -EIO if the JVM refuses ------------------------------------- */

int owner_search_find_holders(void);

/* Follows Java longs as pointers through native memory, without stopping the JVM. */
void owner_search_follow_pointers(bool chunks_have_sizes);
int owner_search_find_pointer_holders(void);

/* Finds the objects that refer to those found last (3. above). Returns -ENODATA if the referrers of all objects are
 * known. */
int owner_search_find_referrers(void);

struct owner_search_figures {
  uint64_t walk_ns;       /* time of the latest walk, in nanoseconds */
  /*
   * the number of objects whose referrers the next walk looks for, and of the classes of these objects (2: two or more)
   */
  uint32_t next, classes;
};

struct owner_search_figures owner_search_figures(void);

#endif
