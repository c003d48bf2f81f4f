/*
 * Opens a few bytes of memory that a system library keeps read-only, to change a word of them, and leaves their pages
 * as they were. For Darwin's malloc zones (hooks/darwin_zone.h); on Linux the words of loaded objects have a header of
 * their own (platform/protected_words.h).
 */
#ifndef MALLOMETER_PLATFORM_PAGE_PROTECTION_H
#define MALLOMETER_PLATFORM_PAGE_PROTECTION_H

#include <stdbool.h>
#include <stddef.h>

/* Sets `before`, for the other. False if the system refuses, or the bytes lie in pages of two kinds. */
bool pages_open_for_change(void *begin, size_t bytes, int *before);
bool pages_close_after_change(void *begin, size_t bytes, int before);

#endif
