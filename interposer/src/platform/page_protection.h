/*
 * Makes read-only memory of a system library writable, so that a word can be changed, and restores the protection. Used
 * for Darwin's malloc zones (hooks/darwin_zone.h). On Linux, platform/protected_words.h changes words of loaded
 * objects.
 */
#ifndef MALLOMETER_PLATFORM_PAGE_PROTECTION_H
#define MALLOMETER_PLATFORM_PAGE_PROTECTION_H

#include <stdbool.h>
#include <stddef.h>

/* pages_open_for_change() stores the protection in `before`, and returns false if the pages have different
 * protections. pages_close_after_change() restores the protection. Both return false if the system refuses. */
bool pages_open_for_change(void *begin, size_t bytes, int *before);
bool pages_close_after_change(void *begin, size_t bytes, int before);

#endif
