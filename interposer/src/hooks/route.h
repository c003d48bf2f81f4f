/*
 * The routes that serve the functions which programs call most. One route is open at a time. The allocator below, and
 * whether anything is to be counted, decide which.
 */
#ifndef MALLOMETER_HOOKS_ROUTE_H
#define MALLOMETER_HOOKS_ROUTE_H

#include <stdbool.h>

enum hook_route {
  /* Calls the functions of complete.h, which work in every state. Open until the allocator is found, while every event
   * is monitored, and if sizes cannot be read from chunks. */
  ROUTE_COMPLETE,
  /* Counts on the fast path. */
  ROUTE_COUNTED,
  /* Forwards calls to the allocator. */
  ROUTE_FORWARDED
};

/*
 * Opens a route. `tracked`: call sites are recorded, so objects may be samples; `matched`: matched scopes are open.
 * May be called from any thread; other threads follow at their next event.
 */
void hook_open_route(enum hook_route route, bool tracked, bool matched);

/*
 * Finds out which rarely defined functions (valloc, pvalloc, further names of free) the malloc in front of this library
 * lacks, so that the program's calls come here. `program_calls` returns whether a program that calls a function by its
 * name reaches this library's.
 */
void hook_find_missing_functions(bool (*program_calls)(const char *name, const void *ours));

#endif
