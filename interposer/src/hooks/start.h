/*
 * The hook's start, at the first event of the process, and its switches: which allocator is below, which source sizes
 * come from, and by which route calls are served from then on.
 */
#ifndef MALLOMETER_HOOKS_START_H
#define MALLOMETER_HOOKS_START_H

#include <stdbool.h>

/*
 * Whether a program that calls malloc comes to us. Found out once, at the start, by the loader's tables: the program's
 * malloc may not be ready for a call.
 */
bool program_malloc_is_ours(void);

/* Finds C++'s operators below us, for a process whose malloc is not ours: its calls of ours are passed on to them. */
void hook_stands_behind(void);

/* hook_ready()'s rare part. Keeps errno. */
bool hook_find_allocator(void);

/* Counting on or off, from any thread, also from `starts`. No effect unless malloc_leads_here. */
void hook_count(bool on);

/* Whether counting was ever off: what came and went meanwhile is in no sum. */
bool hook_was_off(void);

/*
 * Counts from now on in a process whose malloc was not ours: to be called before any word leads here, with a next
 * allocator that is found (hook_ready()) and defined (next_allocator_bypass_executable()). False if a memory checker
 * answers the calls of our functions. Allocates. hook_detach() goes back to passing calls on, from any thread.
 */
bool hook_attach(void);
void hook_detach(void);

/* Once more, because there is something new to choose by: whether call sites are recorded. From any thread. */
void hook_choose_route(void);

/* Waits until no other thread stores a route that it chose before, for a second at most. Keeps errno. */
void hook_route_settles(void);

/* In the child of a fork: other threads may have been in the middle of choosing. */
void hook_forked(void);

/* Gives every object from now on a header, for good. False where that is not possible: on macOS. From `starts` only. */
bool hook_use_headers(void);

#endif
