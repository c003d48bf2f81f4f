/* A tree of three levels. Each level is indexed by 12 of the address bits 12 to 47. User addresses on x86-64 and
 * aarch64 have at most 48 bits unless a program requests more. The first level is a static array. See page_set.h. */
#include "allocator/page_set.h"

#include <stddef.h>

#include "allocator/next.h"

#ifndef LARGEST_BRANCH /* a test sets this to 0 to make allocations fail */
#define LARGEST_BRANCH SIZE_MAX
#endif

#define BITS 12u
#define BRANCHES ((size_t)1 << BITS)

struct leaf {
  uint64_t words[BRANCHES / 64];
};

struct node {
  struct leaf *leaves[BRANCHES];
};

static struct node *nodes[BRANCHES];

static uint64_t number_of(const void *page) { return (uintptr_t)page / SMALLEST_PAGE; }

static void *find_or_add_branch(void **place, size_t bytes) {
  void *known = __atomic_load_n(place, __ATOMIC_ACQUIRE);
  if (known) return known;
  void *fresh = bytes <= LARGEST_BRANCH ? next.calloc(1, bytes) : NULL;
  if (!fresh || __atomic_compare_exchange_n(place, &known, fresh, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) {
    return fresh;
  }
  next.free(fresh); /* another thread has stored its branch first */
  return known;
}

/* Returns the word with the page's bit, or NULL. A word that is missing in the tree is added if `grow` is set. */
static uint64_t *word_of(const void *page, bool grow) {
  uint64_t number = number_of(page), branch = number >> (2 * BITS);
  if (branch >= BRANCHES) return NULL;
  void **place = (void **)&nodes[branch];
  struct node *node = grow ? find_or_add_branch(place, sizeof *node) : __atomic_load_n(place, __ATOMIC_ACQUIRE);
  if (!node) return NULL;
  place = (void **)&node->leaves[number >> BITS & (BRANCHES - 1)];
  struct leaf *leaf = grow ? find_or_add_branch(place, sizeof *leaf) : __atomic_load_n(place, __ATOMIC_ACQUIRE);
  return leaf ? &leaf->words[(number & (BRANCHES - 1)) / 64] : NULL;
}

static uint64_t bit_of(const void *page) { return (uint64_t)1 << number_of(page) % 64; }

/*
 * Must be called before an object in the page is handed out. Relaxed accesses suffice: a thread that tests the bit
 * computes the word's place from the object's address, and this address dependency orders the loads
 * (test/litmus/page-of-slot).
 */
bool page_set_add(const void *page) {
  uint64_t *word = word_of(page, true);
  if (word) __atomic_fetch_or(word, bit_of(page), __ATOMIC_RELAXED);
  return word != NULL;
}

void page_set_remove(const void *page) {
  uint64_t *word = word_of(page, false);
  if (word) __atomic_fetch_and(word, ~bit_of(page), __ATOMIC_RELAXED);
}

bool page_set_contains(const void *page) {
  const uint64_t *word = word_of(page, false);
  return word && __atomic_load_n(word, __ATOMIC_RELAXED) & bit_of(page);
}
