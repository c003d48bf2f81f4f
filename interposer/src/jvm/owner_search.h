/*
 * Searches for the Java objects that hold the addresses of native blocks, and for the objects that refer to these.
 *
 * The search tags objects in a JVMTI environment of its own. owner_search_end() disposes of the environment and its
 * tags, because tags make each garbage collection longer. Most steps stop the program, so the caller decides about each
 * of them:
 *
 * 1. A walk over all objects finds the holders: objects whose long fields or long arrays contain addresses of the
 * blocks.
 *
 * 2. A Java long may also be the address of a native structure from which pointers lead to a block. For blocks without
 * a holder, such pointers are followed while the program runs (native_pointers.h). A second walk then finds the objects
 * with these longs.
 *
 * 3. A walk along all references finds the objects that refer to the objects found last. Each link of a path takes one
 * such walk.
 *
 * Callbacks run while the program is stopped: they write into reserved memory (owner_graph.h), allocate nothing and
 * call no function of the JVM. Objects are named after each walk, if they still exist.
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
 * Makes the JVMTI environment and the tables. The caller then fills in the sought blocks, in ascending order of
 * address. On failure, returns NULL and sets `error` to -ESRCH (there is no JVM, or the caller is not one of its
 * threads), -ENOTSUP (the JVM refuses) or -ENOMEM.
 */
struct owner_graph *owner_search_begin(int *error);

void owner_search_end(void);

size_t owner_search_footprint(void);

/* ---- Steps: they return 0, -ENOMEM, -ESRCH or -EIO (the JVM refuses) ---------------------------------------- */

int owner_search_find_holders(void);

/* Follows Java longs as pointers through native memory. Does not stop the JVM. */
void owner_search_follow_pointers(bool chunks_have_sizes);
int owner_search_find_pointer_holders(void);

/* Finds the objects that refer to those found last (step 3 above). Returns -ENODATA if all referrers are known. */
int owner_search_find_referrers(void);

struct owner_search_figures {
  uint64_t walk_ns;
  /* `next` is the number of objects whose referrers the next walk searches for. `classes` is the number of their
   * classes, where 2 means two or more. */
  uint32_t next, classes;
};

struct owner_search_figures owner_search_figures(void);

#endif
