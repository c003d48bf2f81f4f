/*
 * What the hook does with an event, as one word that the slow path reads first.
 *
 * Threads notice a change because their countdowns are set to 0 (thread_blocks_stop_countdowns), which sends
 * them to the slow path. While the word is not HOOK_COUNTING no countdown is set again.
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
  /* Disabled or excluded: calls are passed on and nothing else. */
  HOOK_FORWARDING
};

extern HIDDEN int hook_state;

/* Requests above it are counted as huge; set once when the process starts. */
extern HIDDEN size_t huge_threshold;

/*
 * Whether object sizes are read from glibc's chunks; decided once. Where false every event takes the slow
 * path, which asks the allocator.
 */
extern HIDDEN bool sizes_from_chunks;

/*
 * Whether any event ever came here. Tells a preloaded library from one that was loaded late and whose malloc
 * nobody calls.
 */
extern HIDDEN bool hook_was_reached;

/*
 * Finds the next allocator unless that is done. True if `next` may be used; false for the thread that is just
 * finding it, and for all if there is none. Other threads wait for the one that is finding it.
 */
bool hook_ready(void);

#endif
