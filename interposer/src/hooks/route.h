/*
 * The routes by which the functions that programs call most are served. One is open at a time, by what is known of the
 * allocator below and whether anything is to be counted.
 */
#ifndef MALLOMETER_HOOKS_ROUTE_H
#define MALLOMETER_HOOKS_ROUTE_H

enum hook_route {
  /* By complete.h: right in every state. Until the allocator is found, and where sizes cannot be read from chunks. */
  ROUTE_COMPLETE,
  /* Counted on the fast path. */
  ROUTE_COUNTED,
  /* Passed on to the allocator. */
  ROUTE_FORWARDED
};

/* Opens a route. From any thread; other threads notice at their next event. */
void hook_route(enum hook_route route);

#endif
