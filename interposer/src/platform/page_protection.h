/*
 * Makes memory writable that a system library keeps read-only, so that a word in it can be changed, and restores its
 * protection. Used for Darwin's malloc zones (hooks/darwin_zone.h); on Linux, platform/protected_words.h does this
 * for words of loaded objects.
 */
#ifndef MALLOMETER_PLATFORM_PAGE_PROTECTION_H
#define MALLOMETER_PLATFORM_PAGE_PROTECTION_H

#include <stdbool.h>
#include <stddef.h>

/* pages_open_for_change() stores the protection in `before`, and pages_close_after_change() restores it. Both return
 * false if the system refuses; the first also if the pages have different protections. */
bool pages_open_for_change(void *begin, size_t bytes, int *before);
bool pages_close_after_change(void *begin, size_t bytes, int before);

#endif
