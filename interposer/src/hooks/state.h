/*
 * The hook's state: whether it counts, forwards, or has not started yet. Only the slow path reads it.
 *
 * The fast path follows the state through `entry`, to which the program's calls jump. A thread that is in the middle of
 * an event when counting stops may count that event.
 */
#ifndef MALLOMETER_HOOKS_STATE_H
#define MALLOMETER_HOOKS_STATE_H

#include <stdbool.h>
#include <stddef.h>

#include "platform/visibility.h"

enum hook_state {
  /* The next allocator is unknown; the first event finds it. */
  HOOK_UNRESOLVED = 0,
  /* The first thread is finding the allocator, and allocates from the bootstrap buffer. */
  HOOK_RESOLVING,
  /* No allocator was found. The bootstrap buffer alone serves; calls come here only by mistake. */
  HOOK_UNSERVED,
  HOOK_COUNTING,
  /* Counting is off, while objects have headers that must be found and removed. */
  HOOK_IDLE,
  /* Counting is off, and calls are only forwarded. */
  HOOK_FORWARDING
};

extern HIDDEN int hook_state;

/* The source of object sizes, chosen before the first object. */
enum size_source {
  /* glibc's chunk header: the only source that the fast path knows. */
  SIZE_FROM_CHUNK,
  /* malloc_usable_size() of the allocator. */
  SIZE_FROM_CALL,
  /* The library's own header. */
  SIZE_FROM_HEADER
};

extern HIDDEN enum size_source size_source;

/*
 * Whether the process's malloc is this library's. False for a library that was loaded late or stands behind another
 * allocator in LD_PRELOAD: `next` is then the allocator that serves the process. Stray calls are passed on to `next`,
 * and calls from an allocator in front to the one behind (`after`); nothing is counted. False over a sanitizer's
 * malloc, too: calls are then only forwarded.
 */
extern HIDDEN bool malloc_leads_here;

/* Whether malloc_leads_here is false because a memory checker answers the calls of the library's malloc. */
extern HIDDEN bool malloc_is_replaced;

/* The latest request of hook_set_counting(), and whether counting was ever off. Events while it was off are in no sum.
 * Both are atomic. */
extern HIDDEN bool counting_is_wanted;
extern HIDDEN bool counting_was_off;

/*
 * The events that the hook reports to the code above it. The first event comes before any code of this library has run,
 * so nothing can be registered in time: the owner defines `hook_owner`, and the linker takes that definition in place
 * of the empty one in state.c. The library cannot run with the empty definition.
 */
struct hook_owner {
  /* hook_find_allocator() of hooks/start.h. The pointer avoids a cycle of files that call each other. */
  bool (*find_allocator)(void);
  /*
   * Called once, after the next allocator was found and before it serves, to read the configuration. Only the calling
   * thread knows of the hook then, and allocates from the bootstrap buffer.
   */
  void (*configure)(void);
  /* Called in header mode when RTLD_DEEPBIND is removed from the opening of `file` (NULL: the executable). */
  void (*on_deepbind_removal)(const char *file);
  /*
   * Called in header mode before `file` is loaded, which may free objects without regard to their headers. May change
   * errno.
   */
  void (*before_load_with_headers)(const char *file);
  /* Called before the program loads a JVM. May change errno. */
  void (*before_jvm_load)(void);
};

extern HIDDEN const struct hook_owner hook_owner;

/*
 * Returns whether `next` may be used, and finds the next allocator at the first call. False for the thread that is just
 * finding it, and for all threads if there is none. Other threads wait until it is found.
 */
static inline bool hook_ready(void) {
  return __atomic_load_n(&hook_state, __ATOMIC_ACQUIRE) >= HOOK_COUNTING || hook_owner.find_allocator();
}

#endif
