/*
 * Starts the hook at the first event of the process. Chooses the allocator to which calls are passed, the source of
 * object sizes (the allocator, or a header before each object), and the functions that serve the program's calls.
 */
#ifndef MALLOMETER_HOOKS_START_H
#define MALLOMETER_HOOKS_START_H

#include <stdbool.h>

/* Returns whether the program's calls of malloc reach this library. The first call finds that out: on Linux from the
 * loader's tables, because malloc may not be ready for a call; on Darwin by a call. */
bool program_malloc_is_ours(void);

/* Finds the C++ operators of other libraries, for a process whose malloc is not this library's. This library's
 * operators then forward calls to those operators. */
void hook_find_operators(void);

/* Is the slow path of hook_ready(): finds the next allocator if it is still unknown. Preserves errno. */
bool hook_find_allocator(void);

/* Switches counting on or off. May be called from any thread. Nothing is counted while `malloc_leads_here` is
 * false. */
void hook_set_counting(bool on);

/* Returns whether counting was off at any time since the start or the latest attach. */
bool hook_was_off(void);

/*
 * Begins to count in a process whose malloc was not this library's. Returns false if a memory checker answers calls of
 * the library's malloc. Call it when hook_ready() and next_allocator_bypass_executable() have returned true, and before
 * redirection_apply(). Allocates.
 *
 * hook_detach() makes the hook forward calls again. It may be called from any thread.
 */
bool hook_attach(void);
void hook_detach(void);

/* Chooses again which functions serve the program's calls. Must be called after a change of a condition for this
 * choice, such as whether call sites are recorded. May be called from any thread. */
void hook_choose_route(void);

/* Waits, for a second at most, until other threads have stored all routes that they chose before this call.
 * Preserves errno. */
void hook_wait_for_route(void);

/* Repairs the state in the child of a fork. Threads that were in choose_route() in the parent do not exist in the
 * child. */
void hook_forked(void);

/* Gives each later object a header, until the process ends. Returns false, without an effect, on Darwin. Call this from
 * hook_owner.configure only. */
bool hook_use_headers(void);

#endif
