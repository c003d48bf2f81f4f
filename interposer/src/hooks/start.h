/*
 * The hook's start, at the first event of the process, and its switches: which allocator serves, where sizes come from,
 * and which route calls take.
 */
#ifndef MALLOMETER_HOOKS_START_H
#define MALLOMETER_HOOKS_START_H

#include <stdbool.h>

/* Returns whether the program's calls of malloc reach this library. The first call finds that out: on Linux from the
 * loader's tables, because malloc may not be ready for a call; on Darwin by a call. */
bool program_malloc_is_ours(void);

/* Finds the C++ operators of other libraries, for a process whose malloc is not this library's. This library's
 * operators then pass their calls on to them. */
void hook_find_operators(void);

/* Is the slow path of hook_ready(): finds the next allocator if it is still unknown. Preserves errno. */
bool hook_find_allocator(void);

/* Switches counting on or off. May be called from any thread. Nothing is counted while `malloc_leads_here` is
 * false. */
void hook_set_counting(bool on);

/* Returns whether counting was off at any time since the start or the latest attach. */
bool hook_was_off(void);

/*
 * Begins to count in a process whose malloc was not this library's. Returns false if a memory checker answers calls
 * of the library's malloc. Call it before redirection_apply(), when the next allocator is found (hook_ready()) and
 * complete (next_allocator_bypass_executable()). Allocates.
 *
 * hook_detach() makes the hook forward calls again. It may be called from any thread.
 */
bool hook_attach(void);
void hook_detach(void);

/* Chooses the route again after a change of its inputs, such as whether call sites are recorded. May be called from any
 * thread. */
void hook_choose_route(void);

/* Waits, for a second at most, until no other thread is about to store a route that it chose before this call.
 * Preserves errno. */
void hook_wait_for_route(void);

/* Repairs the state in the child of a fork. In the parent, other threads may have been choosing the functions that
 * serve malloc (the route). */
void hook_forked(void);

/* Gives each later object a header, until the process ends. Returns false, without an effect, on Darwin. Call this from
 * hook_owner.configure only. */
bool hook_use_headers(void);

#endif
