/*
 * Redirects the calls of malloc and its family in a running process to this library, and back. It changes only words of
 * data, no code, and changes all words or none.
 *
 * Three kinds of words lead to malloc: the loader's table of symbols, which all later look-ups read
 * (platform/symbol_table.h); words of loaded objects that the loader has bound to functions (platform/references.h);
 * and pointers that the loader stores for itself. A word may also point to another library's hook. The word then stays,
 * and the hook's own pointer to the real function is changed: the program still calls the hook first, and the hook's
 * calls are counted.
 *
 * Undoing needs no list of changes: every word that points to one of this library's functions is set to the real
 * function's address.
 */
#ifndef MALLOMETER_HOOKS_REDIRECTION_H
#define MALLOMETER_HOOKS_REDIRECTION_H

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>

struct redirection {
  uint32_t words;       /* words of data that now point to this library; when undoing, words that were restored */
  uint32_t refused;     /* words that the system did not let this library change */
  /* words that no call reads, because the loader has rewritten the calls into direct jumps; these calls are not
   * counted */
  uint32_t ignored;
  int error;            /* the errno value of the latest failure; 0 if there was none */
  /* true if nothing was changed: the loader's lock could not be taken, the mappings could not be read, or other
   * threads forked without a pause */
  bool nothing_changed;
  uint64_t lock_ns;     /* nanoseconds for which the loader's lock was held */
};

/* Returns whether nothing was changed because other threads fork without a pause. */
static inline bool redirection_met_forks(const struct redirection *redirection) {
  return redirection->nothing_changed && redirection->error == EAGAIN;
}

/* Returns this library's replacement of the function or operator of this name; NULL if there is none. */
void *redirected_function(const char *name);

/*
 * Redirects all words of data through which the program calls the allocator. next_allocator_find() must have returned
 * true, and counting must be on. Takes the loader's lock. Only one thread may call this at a time.
 *
 * Returns NULL, or the reason of a failure as text. After a failure every word is as before the call, unless the system
 * refused to restore it; `refused` counts all refused changes.
 */
const char *redirection_apply(struct redirection *done);

/* Restores all redirected words under the loader's lock. A word that could not be restored still leads to this
 * library, which forwards the call. If `nothing_changed` is set, no word was restored. */
void redirection_undo(struct redirection *done);

/* Returns whether the C library's own calls of malloc reach this library, and look-ups of malloc find this library.
 * Allocates. */
bool redirection_works(void);

#endif
