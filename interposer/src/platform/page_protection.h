/*
 * Opens bytes of memory that a system library keeps read-only, to change a word of them, and restores the protection of
 * their pages. For Darwin's malloc zones (hooks/darwin_zone.h); on Linux platform/protected_words.h does this for words
 * of loaded objects.
 */
#ifndef MALLOMETER_PLATFORM_PAGE_PROTECTION_H
#define MALLOMETER_PLATFORM_PAGE_PROTECTION_H

#include <stdbool.h>
#include <stddef.h>

/* pages_open_for_change() sets `before` for the other. False if the system refuses, or protections differ. */
bool pages_open_for_change(void *begin, size_t bytes, int *before);
bool pages_close_after_change(void *begin, size_t bytes, int before);

#endif
