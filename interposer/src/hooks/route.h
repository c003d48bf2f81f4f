/* Routes: sets of functions that serve the program's calls of malloc, free, calloc, realloc and C++'s operators. One
 * is open at a time; which one depends on the hook's state (hooks/state.h) and on the allocator. */
#ifndef MALLOMETER_HOOKS_ROUTE_H
#define MALLOMETER_HOOKS_ROUTE_H

#include <stdbool.h>

enum hook_route {
  /* Calls the functions of complete.h, which work in every state. This route is used if the faster routes cannot
   * serve: for example, if each object has a header, or if every event is monitored. */
  ROUTE_COMPLETE,
  ROUTE_COUNTED,
  ROUTE_FORWARDED
};

/* Makes the functions of a route serve the program's calls of malloc and its family. `tracked`: objects may be
 * samples. `matched`: a scope (account/scopes.h) checks for each freed object whether it was allocated in the scope.
 * May be called from any thread; other threads use the new functions from their next call on. */
void hook_open_route(enum hook_route route, bool tracked, bool matched);

/*
 * Called if the malloc of another library precedes this library's. Finds out which rarely defined functions (valloc,
 * pvalloc, further names of free) the other library lacks: the program's calls of these functions come here.
 * `program_calls` returns whether the program's calls of `name` reach `ours`.
 */
void hook_find_missing_functions(bool (*program_calls)(const char *name, const void *ours));

#endif
