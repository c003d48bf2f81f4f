/* Changes words by mprotect(2) or /proc/self/mem, while forks wait. See protected_words.h. */
#include "platform/protected_words.h"

#include <errno.h>
#include <sys/mman.h>

#include "platform/keep_errno.h"
#include "platform/libc.h"
#include "platform/memory.h"
#include "platform/system_calls.h"
#include "platform/wait.h"

static bool refuse(struct protected_words *words, int error) {
  words->refused++;
  words->error = error;
  return false;
}

static void close_page(struct protected_words *words) {
  if (!words->page) return;
  if (mprotect((void *)words->page, memory_page_bytes(), words->protection) != 0) refuse(words, errno);
  words->page = 0;
}

/* Returns whether a page could be made read-only again after a change. Tests this once, by setting the protection
 * that the page already has, and stores the result for all pages. */
static bool may_open(struct protected_words *words, uintptr_t page, int protection) {
  if (!words->tried) words->may_open = mprotect((void *)page, memory_page_bytes(), protection) == 0;
  words->tried = true;
  return words->may_open;
}

static bool open_page(struct protected_words *words, uintptr_t page, int protection) {
  if (words->page == page) return true;
  close_page(words);
  if (!may_open(words, page, protection)) return false;
  if (mprotect((void *)page, memory_page_bytes(), protection | PROT_WRITE) != 0) return false;
  words->page = page;
  words->protection = protection;
  return true;
}

static bool replace_by_file(struct protected_words *words, uintptr_t *word, uintptr_t expected, uintptr_t value) {
  if (words->file < 0) words->file = call_open("/proc/self/mem", O_RDWR);
  if (words->file < 0) return refuse(words, errno);
  if (__atomic_load_n(word, __ATOMIC_RELAXED) != expected) return false;
  if (syscall(SYS_pwrite64, words->file, &value, sizeof value, (off_t)(uintptr_t)word) != sizeof value)
    return refuse(words, errno);
  if (__atomic_load_n(word, __ATOMIC_SEQ_CST) != value) return refuse(words, EIO);
  return true;
}

bool protected_word_replace(struct protected_words *words, uintptr_t *word, uintptr_t expected, uintptr_t value) {
  uintptr_t page = (uintptr_t)word & ~((uintptr_t)memory_page_bytes() - 1);
  int protection = mappings_protection(&words->mappings, (uintptr_t)word);
  if (protection < 0 || protection & PROT_EXEC) return refuse(words, EACCES);
  if (!(protection & PROT_WRITE) && !open_page(words, page, protection))
    return replace_by_file(words, word, expected, value);
  return __atomic_compare_exchange_n(word, &expected, value, false, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED);
}

bool protected_word_is_writable(const struct protected_words *words, const void *word) {
  int protection = mappings_protection(&words->mappings, (uintptr_t)word);
  return protection >= 0 && (protection & (PROT_WRITE | PROT_EXEC)) == PROT_WRITE;
}

bool protected_words_close(struct protected_words *words) {
  close_page(words);
  return words->refused == 0;
}

/* Restores the protection of the page that was made writable, and closes /proc/self/mem. A forked child must do so,
 * too, because the descriptor would let the child write to all memory of its parent. */
static void close_all(struct protected_words *words) {
  close_page(words);
  if (words->file >= 0) call_close(words->file);
  words->file = -1;
}

/* ---- Forks --------------------------------------------------------------------------------------------- */

#define CHANGING ((uint32_t)1 << 31)
static uint32_t forks; /* The number of forks under way, plus CHANGING while words are changed. */
static struct protected_words *open_words;

/*
 * Waits until no words are being changed, but at most a second. The limit prevents a deadlock: the thread that changes
 * words may wait for the lock of dl_iterate_phdr, which the forking thread may hold. After a fork during a change, the
 * child calls close_all().
 */
static void before_fork(void) {
  enum { LONGEST_MS = 1000 };
  KEEP_ERRNO;
  int waited_ms = 0;
  uint32_t seen;
  do {
    for (seen = __atomic_load_n(&forks, __ATOMIC_RELAXED); seen & CHANGING && waited_ms < LONGEST_MS; waited_ms++) {
      wait_for_change(&forks, seen, 1000000);
      seen = __atomic_load_n(&forks, __ATOMIC_RELAXED);
    }
  } while (!__atomic_compare_exchange_n(&forks, &seen, seen + 1, false, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED));
}

static void after_fork_in_parent(void) { __atomic_fetch_sub(&forks, 1, __ATOMIC_SEQ_CST); }

static void (*closers[2])(void);

void close_in_children(void (*close)(void)) {
  for (size_t i = 0; i < sizeof closers / sizeof *closers; i++) {
    void (*known)(void) = NULL;
    bool added = __atomic_compare_exchange_n(&closers[i], &known, close, false, __ATOMIC_RELEASE, __ATOMIC_RELAXED);
    if (added || known == close) return;
  }
}

static void after_fork_in_new_process(void) {
  KEEP_ERRNO;
  if (forks & CHANGING && open_words) close_all(open_words);
  for (size_t i = 0; i < sizeof closers / sizeof *closers; i++) {
    if (closers[i]) closers[i]();
  }
  forks = 0;
}

void protected_words_prepare(void) {
  static bool registered;
  if (!registered) around_forks(before_fork, after_fork_in_parent, after_fork_in_new_process);
  registered = true;
}

bool block_forks(void) {
  uint32_t none = 0;
  return __atomic_compare_exchange_n(&forks, &none, CHANGING, false, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED);
}

void unblock_forks(void) {
  __atomic_fetch_and(&forks, ~CHANGING, __ATOMIC_SEQ_CST);
  wait_wake(&forks);
}

/* ---- Begin and end ------------------------------------------------------------------------------------- */

static bool begin(struct protected_words *words) {
  if (!block_forks()) {
    words->error = EAGAIN;
    return false;
  }
  open_words = words;
  if (mappings_read(&words->mappings)) return true;
  words->error = errno;
  unblock_forks();
  return false;
}

bool protected_words_begin(struct protected_words *words) {
  sigset_t all;
  *words = (struct protected_words){.file = -1};
  sigfillset(&all);
  sigprocmask(SIG_SETMASK, &all, &words->signals);
  if (begin(words)) return true;
  sigprocmask(SIG_SETMASK, &words->signals, NULL);
  return false;
}

void protected_words_end(struct protected_words *words) {
  close_all(words);
  unblock_forks();
  sigprocmask(SIG_SETMASK, &words->signals, NULL);
  mappings_forget(&words->mappings);
}
