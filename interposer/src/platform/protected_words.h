/*
 * Changes single words of loaded objects while the program runs, whatever protects their pages, and leaves each page
 * as it was. Pages of code are never written: security policies forbid that, and rightly so.
 *
 * A page without write permission is opened, changed and closed (mprotect). Where the system refuses that (sealed
 * pages, a filter of system calls), the word is written through /proc/self/mem, for which the protection does not
 * matter; a page that could be opened but perhaps not closed again is not opened. An aligned word changes as a whole
 * either way.
 *
 * One thread at a time, with the loader's lock (platform/loader_lock.h), or the loader may close a page in between. A
 * fork waits meanwhile, for the child would have an open page, the file, and some words of many; and signals do, whose
 * handlers may fork or never return. Children by system calls past the C library's fork are not waited for.
 */
#ifndef MALLOMETER_PLATFORM_PROTECTED_WORDS_H
#define MALLOMETER_PLATFORM_PROTECTED_WORDS_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

#include "platform/mappings.h"

struct protected_words {
  struct mappings mappings;
  uintptr_t page; /* that is open beyond its protection; 0: none */
  int protection;
  bool may_open; /* pages can be opened and closed; known from the first on */
  bool tried;
  int file; /* -1: not open */
  uint32_t refused;
  int error; /* of the latest refusal, an errno value */
  sigset_t signals;
};

/* Before the first of all, and without the loader's lock. Allocates. */
void protected_words_prepare(void);

/*
 * False, with `error`, if nothing can be changed: the protections are not known; or, with EAGAIN, another thread is
 * in the middle of a fork. It must not be waited for, as it may want the loader's lock.
 */
bool protected_words_begin(struct protected_words *words);

/*
 * Stores `value` if the word is `expected`. False if it is something else by now, or, counted in `refused`, if the
 * system forbids it, or the page is one of code.
 */
bool protected_word_replace(struct protected_words *words, uintptr_t *word, uintptr_t expected, uintptr_t value);

/* Closes the page that is open. False if that, or anything before, was refused. */
bool protected_words_close(struct protected_words *words);

/*
 * Has a function called in each forked child, to close descriptors that a child must not have. One of two functions; to
 * name one again does nothing. A fork that runs keep_forks_out()'s handler also runs this: with a handler of its own, a
 * fork that was under way when the function was added would run the one and not the other.
 */
void close_in_children(void (*close)(void));

/* Whether a word lies where stores need no permission. */
bool protected_word_is_plain(const struct protected_words *words, const void *word);

/* Closes what is open. Afterwards only the counts and `error` may be read. */
void protected_words_end(struct protected_words *words);

/*
 * The same for others who open what a child must not have, after protected_words_prepare() and with signals blocked:
 * forks wait from a true answer on until let_forks_go(). False if a thread is in the middle of one.
 */
bool keep_forks_out(void);
void let_forks_go(void);

#endif
