/*
 * What the hook does with an event, in words that the slow path reads first.
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

/* How the functions that programs call most are served. */
enum hook_route {
  /* By complete.h: right in every state. Until the allocator is found, and where sizes cannot be read from chunks. */
  ROUTE_COMPLETE,
  /* Counted on the fast path. */
  ROUTE_COUNTED,
  /* Passed on to the allocator. */
  ROUTE_FORWARDED
};

/* In malloc.c. From any thread; other threads notice at their next event. */
void hook_route(enum hook_route route);

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

/* Requests above it are counted as huge; set once when the process starts. */
extern HIDDEN size_t huge_threshold;

/*
 * Whether a program that calls malloc comes to us. Found out once, at the start, by the loader's tables: the program's
 * malloc may not be ready for a call.
 */
bool program_malloc_is_ours(void);

/*
 * Whether the process's malloc is ours. False for a library that was loaded late or stands behind another
 * allocator in LD_PRELOAD: `next` then holds what serves the process, stray calls are passed on to it, and nothing is
 * ever counted. False over a sanitizer too, which is called only where the program calls malloc.
 */
extern HIDDEN bool malloc_leads_here;

/* That is because a memory checker answers the calls of our malloc. */
extern HIDDEN bool malloc_is_replaced;

/* hook_ready()'s rare part. Keeps errno. */
bool hook_find_allocator(void);

/*
 * Finds the next allocator unless that is done. True if `next` may be used; false for the thread that is just
 * finding it, and for all if there is none. Other threads wait for the one that is finding it.
 */
static inline bool hook_ready(void) {
  return __atomic_load_n(&hook_state, __ATOMIC_ACQUIRE) >= HOOK_COUNTING || hook_find_allocator();
}

/*
 * Implemented above this layer, and called once, when the next allocator was found and before it serves: the moment to
 * configure. Only the calling thread knows of the hook then; what it allocates comes from the bootstrap buffer.
 */
void hook_starts(void);

/* Implemented above this layer: tells the user that header mode opens the library `file` without RTLD_DEEPBIND. */
void hook_refuses_deepbind(const char *file);

/* The same if the file, which is going to be loaded, frees objects past the headers. May change errno. */
void hook_warns_of_internals(const char *file);

/* Implemented above this layer: the program is about to load a JVM. May change errno. */
void hook_meets_jvm(void);

/* Counting on or off, from any thread, also during hook_starts(). No effect unless malloc_leads_here. */
void hook_count(bool on);

/* Once more, because there is something new to choose by: whether call sites are recorded. From any thread. */
void hook_choose_route(void);

/* Gives every object from now on a header, for good. During hook_starts() only. */
void hook_use_headers(void);

#endif
