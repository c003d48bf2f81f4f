/*
 * The hook's state: whether it counts, forwards, or has not started yet. The slow path reads it.
 *
 * The fast path reads none of it: the functions that the program calls jump to where `entry` says, and that changes
 * with the state. A thread that is in the middle of an event when counting stops may count that one.
 */
#ifndef MALLOMETER_HOOKS_STATE_H
#define MALLOMETER_HOOKS_STATE_H

#include <stdbool.h>
#include <stddef.h>

#include "platform/visibility.h"

enum hook_state {
  /* Nothing is known yet; the first event finds the next allocator. */
  HOOK_UNRESOLVED = 0,
  /* The thread that came first is finding it and allocates from the bootstrap buffer. */
  HOOK_RESOLVING,
  /* There is none below us. Only the bootstrap buffer is left; nobody calls us then but by mistake. */
  HOOK_UNSERVED,
  HOOK_COUNTING,
  /* Off, while objects have headers that must be found and removed. */
  HOOK_IDLE,
  /* Off: calls are passed on and nothing else. */
  HOOK_FORWARDING
};

extern HIDDEN int hook_state;

/* Where the size of an object comes from. Decided before the first object. */
enum size_source {
  /* Read from glibc's chunk: the only source that the fast path knows. */
  SIZE_FROM_CHUNK,
  /* Asked of the allocator. */
  SIZE_FROM_CALL,
  /* From our own header. */
  SIZE_FROM_HEADER
};

extern HIDDEN enum size_source size_source;

/*
 * Whether the process's malloc is ours. False for a library that was loaded late or stands behind another
 * allocator in LD_PRELOAD: `next` then holds what serves the process, stray calls are passed on to it, those of an
 * allocator that stands before to what comes after (`after`), and nothing is ever counted. False over a sanitizer too,
 * which is called only where the program calls malloc.
 */
extern HIDDEN bool malloc_leads_here;

/* That is because a memory checker answers the calls of our malloc. */
extern HIDDEN bool malloc_is_replaced;

/* What hook_count() says, and whether it ever said no: what came and went meanwhile is in no sum. Atomic. */
extern HIDDEN bool counting_is_wanted;
extern HIDDEN bool counting_was_off;

/*
 * What the hook tells whoever it serves, whom it does not know otherwise. The first event comes before any code of this
 * library has run, so nothing can be registered in time: the owner defines `hook_owner`, and the linker takes that
 * definition in place of the empty one in state.c, which only marks the place. The library does not run without one.
 */
struct hook_owner {
  /* hook_find_allocator() of hooks/start.h, which needs the files that call it: by this way there is no circle. */
  bool (*finds_allocator)(void);
  /*
   * Once, when the next allocator was found and before it serves: the moment to configure. Only the calling thread
   * knows of the hook then; what it allocates comes from the bootstrap buffer.
   */
  void (*starts)(void);
  /* In header mode the library `file` (NULL: the executable) is opened without RTLD_DEEPBIND, which it was to have. */
  void (*refuses_deepbind)(const char *file);
  /* In header mode `file` is about to be loaded, which may free objects past the headers. May change errno. */
  void (*loads_in_header_mode)(const char *file);
  /* The program is about to load a JVM. May change errno. */
  void (*meets_jvm)(void);
};

extern HIDDEN const struct hook_owner hook_owner;

/*
 * Finds the next allocator unless that is done. True if `next` may be used; false for the thread that is just
 * finding it, and for all if there is none. Other threads wait for the one that is finding it.
 */
static inline bool hook_ready(void) {
  return __atomic_load_n(&hook_state, __ATOMIC_ACQUIRE) >= HOOK_COUNTING || hook_owner.finds_allocator();
}

#endif
