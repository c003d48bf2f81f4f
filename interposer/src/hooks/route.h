/* Routes: sets of functions that serve the program's calls of malloc, free, calloc, realloc and C++'s operators. One
 * route is open at a time. Which one depends on the state of the hook (hooks/state.h) and on the allocator. */
#ifndef MALLOMETER_HOOKS_ROUTE_H
#define MALLOMETER_HOOKS_ROUTE_H

#include <stdbool.h>

enum hook_route {
  /* Calls the functions of complete.h, which work in every state. Open if no allocator is found, while every event is
   * monitored, if objects have headers, and while events are counted whose sizes cannot be read from chunks. */
  ROUTE_COMPLETE,
  /* Counts on the fast path. */
  ROUTE_COUNTED,
  /* Forwards calls to the allocator. */
  ROUTE_FORWARDED
};

/*
 * Opens a route. `tracked`: call sites are recorded, so objects may be samples; `matched`: scopes are open that match
 * frees with allocations. May be called from any thread; other threads follow at their next event.
 */
void hook_open_route(enum hook_route route, bool tracked, bool matched);

/*
 * Called if the program's malloc is that of another library, which precedes this one. Finds out which rarely defined
 * functions (valloc, pvalloc, further names of free) that library lacks: the program's calls of these come here.
 * `program_calls` returns whether the program's calls of `name` reach `ours`, this library's function.
 */
void hook_find_missing_functions(bool (*program_calls)(const char *name, const void *ours));

#endif
