/* Lets the library's own threads wait until a word changes or a deadline passes. Must not be called inside of
 * malloc. */
#ifndef MALLOMETER_PLATFORM_WAIT_H
#define MALLOMETER_PLATFORM_WAIT_H

#include <stdint.h>

#define WAIT_WITHOUT_LIMIT UINT64_MAX

/*
 * Blocks until another thread wakes those that wait for `word`, or until this many nanoseconds have passed. Returns
 * immediately if the word is not `seen`, and may return early, so callers must check the word again. May change
 * errno.
 */
void wait_for_change(const uint32_t *word, uint32_t seen, uint64_t longest_ns);

/* Wakes one thread that waits for the word, which the caller has changed before. Preserves errno. */
void wait_wake(const uint32_t *word);

/* Blocks until monotonic_ns() reaches the moment, or a signal arrives. May change errno. */
void wait_until(uint64_t moment_ns);

#endif
