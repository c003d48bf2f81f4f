/*
 * Leads the calls of a process that runs already to this library's malloc and its relatives, and back.
 *
 * Only words of data change, no code. Three kinds lead a program to malloc: the loader's table of symbols, which all
 * look-ups read from then on (platform/symbol_table.h); the words of loaded objects that are bound already, libc's own
 * among them, for strdup and the like (platform/references.h); and pointers that the loader keeps for itself. A word is
 * changed only if it leads to the function that the process uses; one that is not bound yet is left to the loader, who
 * binds it to ours. Where a word leads to another library's hook, what that library's own data has for the real
 * function is changed: the other is called first, and we count what it passes on.
 *
 * All words or none: where the system refuses one, all are put back.
 *
 * Undoing needs no memory of what was done: wherever a word leads to one of our functions it gets the real one.
 */
#ifndef MALLOMETER_HOOKS_REDIRECTION_H
#define MALLOMETER_HOOKS_REDIRECTION_H

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>

struct redirection {
  uint32_t words;   /* that lead to ours now, or were put back */
  uint32_t refused; /* that the system does not let change */
  uint32_t ignored; /* calls that jump past their word: they stay unseen */
  int error;        /* why a word was refused: an errno value */
  bool is_blind;    /* nothing was done: no lock, the mappings cannot be read, or redirection_met_forks() */
  uint64_t lock_ns; /* for which the loader's lock was held */
};

/* Whether nothing was done, since other threads fork without a pause. */
static inline bool redirection_met_forks(const struct redirection *redirection) {
  return redirection->is_blind && redirection->error == EAGAIN;
}

/*
 * Redirects, or walks again for what has come since. The next allocator serves and calls are counted already. Takes the
 * loader's lock. NULL, or why it is not possible, in words; then every word is as it was, but for those in `refused`.
 * One thread at a time.
 */
const char *redirection_apply(struct redirection *done);

/* Puts everything back. As above; what was refused, or all if `is_blind`, still leads to ours, which pass all on. */
void redirection_undo(struct redirection *done);

/* Whether a call that the C library makes itself, and a look-up, come here now. Allocates. */
bool redirection_works(void);

#endif
