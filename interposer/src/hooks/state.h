/*
 * The hook's state: whether it counts, forwards, or has not started yet.
 *
 * The fast path does not read the state: a change also stores other functions in `entry` (malloc.c), to which the
 * program's calls jump. A thread that is in the middle of an event when counting stops may count that event.
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
  /* No allocator was found. The bootstrap buffer serves all calls. */
  HOOK_UNSERVED,
  HOOK_COUNTING,
  /* Counting is off, but objects may have headers, which frees must find and remove (header mode). */
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
  SIZE_FROM_HEADER
};

extern HIDDEN enum size_source size_source;

/*
 * Whether the program's calls of malloc reach this library. They do not if the library was loaded late, or if another
 * allocator comes before it in LD_PRELOAD. Nothing is then counted before an attach.
 *
 * While this is false, `next` is the allocator that serves the process. If that allocator precedes this library and
 * calls malloc itself, its calls arrive here, and go to `after`, the allocator that follows this library. Other calls
 * go to `next`.
 *
 * Also false with a sanitizer's malloc: calls are then only forwarded.
 */
extern HIDDEN bool malloc_leads_here;

/* Whether malloc_leads_here is false because a memory checker such as Valgrind intercepts the program's calls of
 * malloc. */
extern HIDDEN bool malloc_is_replaced;

/* The latest request of hook_set_counting(), and whether counting was off at any time since the start or the latest
 * attach. Both are atomic. */
extern HIDDEN bool counting_is_wanted;
extern HIDDEN bool counting_was_off;

/*
 * The functions by which the hook calls the code above it (src/control). Nothing could register them in time, because
 * the first event comes before any code of this library has run. src/control therefore defines `hook_owner`. The linker
 * prefers that definition to the weak one in state.c.
 */
struct hook_owner {
  /* hook_find_allocator(). The pointer avoids a cycle of files that call each other. */
  bool (*find_allocator)(void);
  /* Reads the configuration. Called once, before hook_ready() first returns true, if the program's calls of malloc
   * reach this library (malloc_leads_here). On Linux, the calling thread's allocations come from the bootstrap
   * buffer during this call, and other threads wait. */
  void (*configure)(void);
  /* Called in header mode (a header before each object) when this library clears the flag RTLD_DEEPBIND in a dlopen()
   * of `file`; NULL stands for the executable. */
  void (*on_deepbind_removal)(const char *file);
  /* Called in header mode before the program opens `file` by a path. The library in `file` may free objects without
   * regard to their headers. May change errno. */
  void (*before_load_with_headers)(const char *file);
  /* Called before the program loads a JVM. May change errno. */
  void (*before_jvm_load)(void);
};

extern HIDDEN const struct hook_owner hook_owner;

/* Returns whether `next` may be used. The first call finds the next allocator, while other threads wait. Returns
 * false in the thread that is finding it, and in all threads if there is none. */
static inline bool hook_ready(void) {
  return __atomic_load_n(&hook_state, __ATOMIC_ACQUIRE) >= HOOK_COUNTING || hook_owner.find_allocator();
}

#endif
