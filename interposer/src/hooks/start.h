/*
 * The hook's start, at the first event of the process, and its switches: which allocator serves, where sizes come from,
 * and which route calls take.
 */
#ifndef MALLOMETER_HOOKS_START_H
#define MALLOMETER_HOOKS_START_H

#include <stdbool.h>

/*
 * Returns whether the program's calls of malloc reach this library. Found once, at the start, from the loader's tables,
 * since the program's malloc may not be ready for a call.
 */
bool program_malloc_is_ours(void);

/* Finds the C++ operators of other libraries in a process whose malloc is not this library's, which then passes calls
 * on to them. */
void hook_find_operators(void);

/* Finds the next allocator; the slow part of hook_ready(). Preserves errno. */
bool hook_find_allocator(void);

/* Switches counting on or off, from any thread, also from hook_owner.configure. No effect unless malloc_leads_here. */
void hook_set_counting(bool on);

/* Returns whether counting was ever off, so that events are missing in all sums. */
bool hook_was_off(void);

/*
 * Begins to count in a process whose malloc was not this library's. Call it before any word points to this library,
 * with a next allocator that is found (hook_ready()) and complete (next_allocator_bypass_executable()). Returns false
 * if a memory checker answers calls of the library's malloc. Allocates. hook_detach() returns to forwarding, from any
 * thread.
 */
bool hook_attach(void);
void hook_detach(void);

/* Chooses the route again after a change of its inputs, such as whether call sites are recorded. May be called from any
 * thread. */
void hook_choose_route(void);

/* Waits until no other thread stores a route that it chose before, for a second at most. Preserves errno. */
void hook_wait_for_route(void);

/* Repairs the state in the child of a fork: other threads may have been choosing a route. */
void hook_forked(void);

/* Gives every later object a header, permanently. Returns false on macOS. From hook_owner.configure only. */
bool hook_use_headers(void);

#endif
