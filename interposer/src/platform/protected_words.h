/*
 * Changes single words of loaded objects while the program runs, whatever protects their pages, and restores the
 * protection of each page. Pages of code are never written: security policies forbid that.
 *
 * A page without write permission is opened, changed and closed (mprotect). Where the system refuses that (sealed
 * pages, a filter of system calls), the word is written through /proc/self/mem, which ignores the protection. A page
 * that might not be closed again is not opened. Either way an aligned word changes as a whole.
 *
 * Only one thread at a time may change words, and must have the loader's lock (platform/loader_lock.h), because the
 * loader might close a page in between. Forks wait meanwhile, because the child would have an open page, the open file,
 * and only some of the changes. Signals are blocked, because their handlers may fork or never return. Forks by system
 * calls without the C library's fork do not wait.
 */
#ifndef MALLOMETER_PLATFORM_PROTECTED_WORDS_H
#define MALLOMETER_PLATFORM_PROTECTED_WORDS_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

#include "platform/mappings.h"

struct protected_words {
  struct mappings mappings;
  uintptr_t page; /* the page that is open beyond its protection; 0: none */
  int protection;
  bool may_open; /* pages can be opened and closed; known after the first try */
  bool tried;
  int file; /* -1: not open */
  uint32_t refused;
  int error; /* the errno value of the latest refusal */
  sigset_t signals;
};

/* Registers the handlers of forks. Must be called first, and without the loader's lock. Allocates. */
void protected_words_prepare(void);

/*
 * Returns false, with `error`, if nothing can be changed: the protections are not known; or, with EAGAIN, another
 * thread is in the middle of a fork. The caller must not wait for that thread, which may need the loader's lock.
 */
bool protected_words_begin(struct protected_words *words);

/*
 * Stores `value` if the word is `expected`. Returns false if it has another value; or, counted in `refused`, if the
 * system forbids it or the page is one of code.
 */
bool protected_word_replace(struct protected_words *words, uintptr_t *word, uintptr_t expected, uintptr_t value);

/* Closes the page that is open. Returns false if that, or anything before it, was refused. */
bool protected_words_close(struct protected_words *words);

/*
 * Registers a function to be called in each forked child, to close descriptors that a child must not have. Up to two
 * functions; registering one again has no effect. The functions run in block_forks()'s own handler: with another
 * handler, a fork that was under way at the registration would run only one of the two.
 */
void close_in_children(void (*close)(void));

/* Returns whether stores to a word need no change of protection. */
bool protected_word_is_writable(const struct protected_words *words, const void *word);

/* Closes what is open. Afterwards only the counts and `error` may be read. */
void protected_words_end(struct protected_words *words);

/*
 * Makes forks wait until unblock_forks(), for callers that open a file which a child must not have. Must be called
 * after protected_words_prepare() and with signals blocked. Returns false if a thread is in the middle of a fork.
 */
bool block_forks(void);
void unblock_forks(void);

#endif
