/*
 * Changes single words of loaded objects while the program runs, even on protected pages, and restores the protection
 * of each page. Pages of code are never written, because security policies forbid that.
 *
 * A page without write permission is opened (made writable by mprotect), changed, and closed. It is opened only if it
 * can be closed again. If the system refuses (sealed pages, a filter of system calls), the word is written through
 * /proc/self/mem, which ignores the protection. In both cases an aligned word changes atomically.
 *
 * Only one thread at a time may change words. It must have the loader's lock (platform/loader_lock.h), because the
 * loader might otherwise close a page in between. Forks wait for the changes. Otherwise the child would have an open
 * page, the open file, and only some of the changes. A fork by a direct system call does not wait. Signals are blocked,
 * because their handlers may fork or never return.
 */
#ifndef MALLOMETER_PLATFORM_PROTECTED_WORDS_H
#define MALLOMETER_PLATFORM_PROTECTED_WORDS_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

#include "platform/mappings.h"

struct protected_words {
  struct mappings mappings;
  uintptr_t page; /* The open page; 0 if none is open. */
  int protection;
  bool may_open; /* Whether pages can be opened and closed; unknown until `tried` is set. */
  bool tried;
  int file; /* The descriptor of /proc/self/mem; -1 if it is not open. */
  uint32_t refused;
  int error; /* The errno value of the latest refusal. */
  sigset_t signals;
};

/* Registers the fork handlers. Must be called first, without the loader's lock. Allocates. */
void protected_words_prepare(void);

/*
 * Returns false and sets `error` if nothing can be changed. EAGAIN: another thread is in the middle of a fork. The
 * caller must not wait for that thread, which may need the loader's lock. Other errors: the protections are unknown.
 */
bool protected_words_begin(struct protected_words *words);

/* Stores `value` if the word is `expected`; otherwise returns false. If the system forbids the change or the page
 * contains code, returns false and increments `refused`. */
bool protected_word_replace(struct protected_words *words, uintptr_t *word, uintptr_t expected, uintptr_t value);

/* Closes the open page. Returns false if any change was refused. */
bool protected_words_close(struct protected_words *words);

/*
 * Registers a function that closes descriptors in each forked child. At most two functions can be registered;
 * registering one again has no effect. This file's fork handlers call both functions. If each function were a fork
 * handler of its own, a fork during its registration could miss it.
 */
void close_in_children(void (*close)(void));

/* Returns whether the program can store to a word without a change of protection, and the word is not in code. */
bool protected_word_is_writable(const struct protected_words *words, const void *word);

/* Closes the open page and file. Afterwards only the counts and `error` may be read. */
void protected_words_end(struct protected_words *words);

/* Makes forks wait until unblock_forks(), while the caller opens a file that a child must not have. Must be called
 * after protected_words_prepare() and with signals blocked. Returns false if a thread is in the middle of a fork. */
bool block_forks(void);
void unblock_forks(void);

#endif
