/* Redirects pointers to malloc and its family to this library, and restores them. See redirection.h. */
#include "hooks/redirection.h"

#include <stddef.h>
#include <string.h>

#include "account/thread_block.h"
#include "account/totals.h"
#include "allocator/next.h"
#include "hooks/complete.h"
#include "hooks/interposed.h"
#include "hooks/mappings.h"
#include "platform/clock.h"
#include "platform/dynamic_symbols.h"
#include "platform/glibc_versions.h"
#include "platform/loader_lock.h"
#include "platform/protected_words.h"
#include "platform/references.h"
#include "platform/symbol_table.h"
#include "platform/wait.h"

/* ---- The functions to replace -------------------------------------------------------------------------- */

#define DECLARE_OPERATOR(form, name, derived_from) extern void *name(uintptr_t, uintptr_t, uintptr_t);
EACH_OPERATOR(DECLARE_OPERATOR)

static char *counted_strdup(const char *text);
static char *counted_strndup(const char *text, size_t most);
static char *counted_realpath(const char *path, char *resolved);

struct function {
  const char *name;
  void (*ours)(void);
  /* the function to replace; 0 if the allocator lacks it, or if the allocator's version calls another function of
   * this list */
  uintptr_t real;
};

/* Several rows have this library's free as `ours`. The row of `free` must be the first of them: to undo the
 * redirection, redirect_data_word() takes `real` from the first row whose `ours` equals the pointer to restore. */
static struct function functions[] = {
#define ROW(function) {#function, (void (*)(void))function, 0},
#define ROW_OF_FREE(function) {#function, (void (*)(void))free, 0},
#define ROW_OF_OPERATOR(form, name, derived_from) ROW(name)
#define ROW_OF_TEXTS(function) {#function, (void (*)(void))counted_##function, 0},
#define ROW_OF_MAPPINGS(function) {#function, (void (*)(void))program_##function, 0},
    ROW(malloc) ROW(free) ROW(calloc) ROW(realloc) ROW(memalign) ROW(aligned_alloc) ROW(posix_memalign)
        ROW(malloc_usable_size) ROW(reallocarray) ROW(valloc) ROW(pvalloc) EACH_NAME_OF_FREE(ROW_OF_FREE)
            EACH_OPERATOR(ROW_OF_OPERATOR) ROW_OF_MAPPINGS(mmap) ROW_OF_MAPPINGS(mmap64) ROW_OF_MAPPINGS(munmap)
                ROW_OF_MAPPINGS(mremap) ROW_OF_TEXTS(strdup) ROW_OF_TEXTS(strndup) ROW_OF_TEXTS(realpath)
#undef ROW
};
enum { FUNCTIONS = sizeof functions / sizeof *functions, OF_TEXTS = FUNCTIONS - 3, OF_MAPPINGS = OF_TEXTS - 4 };

static bool is_of_mappings(size_t row) { return row >= OF_MAPPINGS && row < OF_TEXTS; }

static uintptr_t ours(const struct function *function) { return (uintptr_t)function->ours; }

static void *address_of(uintptr_t function) { return (void *)function; }

void *redirected_function(const char *name) {
  for (size_t i = 0; i < OF_TEXTS; i++) {
    if (strcmp(functions[i].name, name) == 0) return address_of(ours(&functions[i]));
  }
  return NULL;
}

static uintptr_t in_libc(void) { return (uintptr_t)gnu_get_libc_version; }

/*
 * Sets `real` in the rows of `functions`. The first eight rows get the functions of `next` (the process's allocator);
 * mmap, munmap and mremap always get the C library's functions. Any other function, such as operator new, is replaced
 * only if the allocator defines it, because the C and C++ libraries' versions call malloc.
 */
static bool find_real_functions(void) {
  const uintptr_t of_next[] = {(uintptr_t)next.malloc,         (uintptr_t)next.free,
                               (uintptr_t)next.calloc,         (uintptr_t)next.realloc,
                               (uintptr_t)next.memalign,       (uintptr_t)next.aligned_alloc,
                               (uintptr_t)next.posix_memalign, (uintptr_t)next.usable_size};
  enum { OF_NEXT = sizeof of_next / sizeof *of_next };
  const struct link_map *allocator = object_of(address_of(of_next[0]));
  bool is_libc = allocator == object_of(address_of(in_libc()));
  for (size_t i = 0; i < FUNCTIONS; i++) {
    functions[i].real = i < OF_NEXT ? of_next[i] : (uintptr_t)plain_function_in(allocator, functions[i].name);
    if (i >= OF_TEXTS && is_libc) functions[i].real = 0;
    if (is_of_mappings(i)) {
      functions[i].real = (uintptr_t)plain_function_in(object_of(address_of(in_libc())), functions[i].name);
    }
    if (i < OF_NEXT && !function_in(object_of(address_of(of_next[i])), functions[i].name)) return false;
  }
  return true;
}

/* Returns false for most names that are not in the list. This must be quick, because hundreds of thousands of names
 * are tested. */
static bool may_be_listed(const char *name) {
  if (name[0] == '_') return name[1] == 'Z' && (name[2] == 'n' || name[2] == 'd');
  return name[0] == 'm' || name[0] == 'f' || name[0] == 'c' || name[0] == 'r' || name[0] == 'a' || name[0] == 'p' ||
         name[0] == 'v' || name[0] == 's';
}

static const struct function *function_named(const char *name) {
  if (!may_be_listed(name)) return NULL;
  for (size_t i = 0; i < FUNCTIONS; i++) {
    if (functions[i].real && strcmp(functions[i].name, name) == 0) return &functions[i];
  }
  return NULL;
}

/* ---- strdup, strndup and realpath ---------------------------------------------------------------------- */

/* Allocators such as mimalloc define strdup, strndup and realpath themselves, without calls of their malloc. The
 * functions below call the allocator's versions, and count the returned objects. They work after a detach, too. */
#define REAL(number, type) ((type)functions[OF_TEXTS + (number)].real)
#define ORIGIN ((struct origin){__builtin_return_address(0), __builtin_dwarf_cfa()})

static char *counted_strdup(const char *text) {
  char *copy = REAL(0, char *(*)(const char *))(text);
  return complete_count_allocation(copy, strlen(text) + 1, ORIGIN);
}

static char *counted_strndup(const char *text, size_t most) {
  char *copy = REAL(1, char *(*)(const char *, size_t))(text, most);
  return complete_count_allocation(copy, strnlen(text, most) + 1, ORIGIN);
}

/* Does not count failures, because realpath mostly fails for other reasons than its allocation. */
static char *counted_realpath(const char *path, char *resolved) {
  char *found = REAL(2, char *(*)(const char *, char *))(path, resolved);
  return found && !resolved ? complete_count_allocation(found, strlen(found) + 1, ORIGIN) : found;
}

/* ---- A walk over the loaded objects -------------------------------------------------------------------- */

enum { MOST_FOREIGN = 32 };

struct walk {
  struct protected_words words;
  struct redirection *result;
  const char *failure;
  bool undoes;
  bool mappings_only;
  /*
   * whether to change GOT entries that the loader has not bound yet (lazy binding); true if calls are audited or
   * profiled (calls_are_audited()), because the loader then never binds them
   */
  bool binds;
  const struct walked_object *object;
  struct walked_object executable;
  uintptr_t loader; /* an address in the loader */
  uintptr_t foreign[MOST_FOREIGN];
  size_t foreign_count;
};

static void change(struct walk *walk, uintptr_t *word, uintptr_t from, uintptr_t to) {
  if (protected_word_replace(&walk->words, word, from, to)) walk->result->words++;
}

static void note_foreign(struct walk *walk, uintptr_t function) {
  for (size_t i = 0; i < walk->foreign_count; i++) {
    if (walk->foreign[i] == function) return;
  }
  if (walk->foreign_count < MOST_FOREIGN) walk->foreign[walk->foreign_count++] = function;
}

/* Handles a word that points neither to the real function nor to this library's. A target in the word's own object
 * means that the word is not bound yet. A target in the executable is a PLT entry. Any other target is another
 * library's hook. */
static void handle_other_target(struct walk *walk, const struct reference *reference, const struct function *function,
                                uintptr_t now) {
  if (object_contains(walk->object, now)) {
    bool is_unbound = reference->is_call && !reference->is_own && !walk->undoes;
    if (is_unbound && walk->binds) change(walk, reference->word, now, ours(function));
  } else if (!object_contains(&walk->executable, now)) {
    note_foreign(walk, now);
  }
}

static void redirect_reference(const struct reference *reference, void *argument) {
  struct walk *walk = argument;
  const struct function *function = function_named(reference->name);
  if (!function || (walk->mappings_only && !is_of_mappings((size_t)(function - functions)))) return;
  uintptr_t from = walk->undoes ? ours(function) : function->real;
  uintptr_t to = walk->undoes ? function->real : ours(function);
  uintptr_t now = __atomic_load_n(reference->word, __ATOMIC_RELAXED);
  if (reference->is_ignored) walk->result->ignored++;
  if (now == from) {
    change(walk, reference->word, from, to);
  } else if (now == to) {
    walk->result->words += !walk->undoes;
  } else {
    handle_other_target(walk, reference, function, now);
  }
}

/* Redirects a word of data that no relocation describes, if it points to a listed function. */
static void redirect_data_word(uintptr_t *word, void *argument) {
  struct walk *walk = argument;
  uintptr_t now = __atomic_load_n(word, __ATOMIC_RELAXED);
  if (now == 0) return;
  for (size_t i = 0; i < FUNCTIONS; i++) {
    const struct function *function = &functions[i];
    if (!function->real) continue;
    uintptr_t from = walk->undoes ? ours(function) : function->real;
    uintptr_t to = walk->undoes ? function->real : ours(function);
    if (now == from) {
      change(walk, word, from, to);
      return;
    }
    if (now == to && !walk->undoes) {
      walk->result->words++;
      return;
    }
  }
}

/* Returns whether an object is an allocator other than the C library. Such an allocator's calls of its own functions
 * are not counted. */
static bool is_other_allocator(const struct walked_object *object) {
  return object_contains(object, functions[0].real) && !object_contains(object, in_libc());
}

static void redirect_object(const struct walked_object *object, void *argument) {
  struct walk *walk = argument;
  walk->object = object;
  if (object->is_executable) walk->executable = *object;
  /* Calls by an allocator other than the C library are not redirected. However, the loader may have bound the
   * allocator's calls of mmap, munmap or mremap to this library while the symbol tables were changed. When the
   * redirection is undone, these calls are restored. */
  walk->mappings_only = is_other_allocator(object);
  if (!walk->mappings_only || walk->undoes) references_visit(object, redirect_reference, walk);
  if (walk->mappings_only) return;
  /* The loader keeps pointers to malloc's family in its own data. For example, its table of unique C++ symbols
   * contains a pointer to free. */
  if (object_contains(object, walk->loader)) data_words_visit(object, redirect_data_word, walk);
}

static void redirect_in_owner_of_hook(const struct walked_object *object, void *argument) {
  struct walk *walk = argument;
  for (size_t i = 0; i < walk->foreign_count; i++) {
    if (!object_contains(object, walk->foreign[i])) continue;
    if (!object_contains(object, functions[0].real)) data_words_visit(object, redirect_data_word, walk);
    return;
  }
}

static void redirect_words(struct walk *walk) {
  objects_visit(redirect_object, walk);
  if (walk->foreign_count > 0) objects_visit(redirect_in_owner_of_hook, walk);
}

/* ---- Symbol tables ------------------------------------------------------------------------------------- */

/* Binds an allocator's calls of its own functions, which the loader would otherwise bind to this library. */
static void bind_own_reference(const struct reference *reference, void *argument) {
  struct walk *walk = argument;
  const struct function *function = reference->is_call ? function_named(reference->name) : NULL;
  uintptr_t now = __atomic_load_n(reference->word, __ATOMIC_RELAXED);
  if (!function || now == function->real || !object_contains(walk->object, function->real)) return;
  if (object_contains(walk->object, now)) protected_word_replace(&walk->words, reference->word, now, function->real);
}

static void bind_own(const struct walked_object *object, void *argument) {
  struct walk *walk = argument;
  walk->object = object;
  if (is_other_allocator(object)) references_visit(object, bind_own_reference, walk);
}

static bool change_symbols(struct walk *walk) {
  bool all = true;
  for (size_t i = 0; i < FUNCTIONS; i++) {
    const struct function *function = &functions[i];
    if (!function->real) continue;
    uintptr_t from = walk->undoes ? ours(function) : function->real;
    uintptr_t to = walk->undoes ? function->real : ours(function);
    struct symbol_table *table = symbol_table_of(object_of(address_of(function->real)), &walk->words);
    unsigned changed = table ? symbol_table_change(table, function->name, from, to) : 0;
    all &= changed > 0 || is_of_mappings(i);
  }
  return all;
}

/* ---- Apply and undo ------------------------------------------------------------------------------------ */

static void restore_all(struct walk *walk) {
  walk->undoes = true;
  symbol_tables_remove();
  change_symbols(walk);
  redirect_words(walk);
}

static const char *redirect_all(struct walk *walk) {
  if (!find_real_functions()) return "a function of the allocator is in no symbol table";
  walk->binds = calls_are_audited();
  objects_visit(bind_own, walk);
  if (!change_symbols(walk)) return "the dynamic loader keeps its symbol tables in an unknown place";
  if (!symbol_tables_install()) return "another library changed the symbol tables at the same time";
  redirect_words(walk);
  return protected_words_close(&walk->words)
             ? NULL
             : "the system forbids changes to the function pointers (GOT) of loaded libraries";
}

static void apply_with_lock(void *argument) {
  struct walk *walk = argument;
  uint64_t begin = monotonic_ns();
  if (!protected_words_begin(&walk->words)) {
    walk->failure = walk->words.error == EAGAIN ? "other threads fork all the time; attach later"
                                                : "the protection of mappings cannot be read from /proc/self/maps";
    walk->result->nothing_changed = true;
    walk->result->error = walk->words.error;
    return;
  }
  struct redirection undone = {0}, *done = walk->result;
  walk->failure = redirect_all(walk);
  if (walk->failure) {
    walk->result = &undone;
    restore_all(walk);
  }
  protected_words_end(&walk->words);
  done->refused = walk->words.refused;
  done->error = walk->words.error;
  done->lock_ns = monotonic_ns() - begin;
}

static void undo_with_lock(void *argument) {
  struct walk *walk = argument;
  uint64_t begin = monotonic_ns();
  if (!protected_words_begin(&walk->words)) {
    walk->result->nothing_changed = true;
    walk->result->error = walk->words.error;
    return;
  }
  restore_all(walk);
  protected_words_end(&walk->words);
  walk->result->refused = walk->words.refused;
  walk->result->error = walk->words.error;
  walk->result->lock_ns = monotonic_ns() - begin;
}

/* The walk is static, because the stacks of some threads are too small for it. */
static struct walk walk;

static void begin_walk(struct redirection *result) {
  static uintptr_t in_loader;
  if (!in_loader) in_loader = (uintptr_t)dlsym(RTLD_DEFAULT, "__tls_get_addr");
  protected_words_prepare();
  *result = (struct redirection){0};
  walk = (struct walk){.result = result, .loader = in_loader};
}

/* Runs a walk with the loader's lock. Tries again, for a second at most, while other threads fork. */
static bool walk_with_lock(void (*run)(void *walk), struct redirection *result) {
  const uint64_t pause_ns = 200000, longest_ns = 1000000000, begin = monotonic_ns();
  begin_walk(result);
  bool ran = with_loader_lock(run, &walk);
  while (ran && redirection_met_forks(result) && monotonic_ns() - begin < longest_ns) {
    wait_until(monotonic_ns() + pause_ns);
    begin_walk(result);
    ran = with_loader_lock(run, &walk);
  }
  if (!ran) result->nothing_changed = true;
  return ran;
}

const char *redirection_apply(struct redirection *done) {
  if (!references_are_known()) return "the relocations of this processor are not known";
  if (!walk_with_lock(apply_with_lock, done)) return "the lock of the dynamic loader was not found";
  return walk.failure;
}

void redirection_undo(struct redirection *done) { walk_with_lock(undo_with_lock, done); }

/* ---- Testing whether calls arrive -------------------------------------------------------------------- */

typedef char *duplicate_text(const char *text);

static duplicate_text *duplicate_in_libc(void) {
  duplicate_text *duplicate;
  const void *address = plain_function_in(object_of(address_of(in_libc())), "strdup");
  memcpy(&duplicate, &address, sizeof duplicate);
  return duplicate;
}

static bool is_counted_once(duplicate_text *duplicate, const struct thread_block *block) {
  uint64_t allocations = events_allocations(&block->events), frees = counter_read(&block->events.frees);
  free(duplicate("x"));
  return events_allocations(&block->events) == allocations + 1 && counter_read(&block->events.frees) == frees + 1;
}

/* Returns whether dlsym() or dlvsym() finds this library's malloc. Only dlvsym() can find it if the allocator
 * defines malloc with an old symbol version. */
static bool look_up_leads_here(void) {
  uintptr_t malloc_address = ours(&functions[0]), found = (uintptr_t)dlsym(RTLD_DEFAULT, "malloc");
  const char *version = VERSION_OF_MALLOC;
  if (found == malloc_address || object_contains(&walk.executable, found)) return true;
  return dlvsym && version && (uintptr_t)dlvsym(RTLD_DEFAULT, "malloc", version) == malloc_address;
}

bool redirection_works(void) {
  if (!look_up_leads_here()) return false;
  struct thread_block *block = thread_block_acquire();
  duplicate_text *duplicate = duplicate_in_libc();
  if (!block || !duplicate) return true; /* the test needs the thread's counters and the C library's strdup */
  bool counted = false;
  for (int attempts = 3; attempts > 0 && !counted; attempts--) { /* a signal handler may allocate meanwhile */
    counted = is_counted_once(duplicate, block);
  }
  return counted;
}
