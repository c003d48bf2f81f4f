/*
 * The routes by which the functions that programs call most are served. One is open at a time, by what is known of the
 * allocator below and whether anything is to be counted.
 */
#ifndef MALLOMETER_HOOKS_ROUTE_H
#define MALLOMETER_HOOKS_ROUTE_H

#include <stdbool.h>

enum hook_route {
  /* By complete.h: right in every state. Until the allocator is found, and where sizes cannot be read from chunks. */
  ROUTE_COMPLETE,
  /* Counted on the fast path. */
  ROUTE_COUNTED,
  /* Passed on to the allocator. */
  ROUTE_FORWARDED
};

/*
 * Opens a route. `tracked`: call sites are recorded, and objects may be samples; `matched`: matched scopes are open.
 * From any thread; other threads notice at their next event.
 */
void hook_route(enum hook_route route, bool tracked, bool matched);

/*
 * Where a malloc stands before this library, which may pass its calls on: finds out which of the functions that few
 * allocators have it has. `program_calls` tells whether a program that calls a function by its name comes to ours.
 */
void hook_passes_on(bool (*program_calls)(const char *name, const void *ours));

#endif
