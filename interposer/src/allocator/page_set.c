/*
 * Three levels, of 12 bits of the address each. The first is part of the library, for addresses of 48 bits, which is
 * what programs have on x86-64 and aarch64 unless they ask for more. See page_set.h.
 */
#include "allocator/page_set.h"

#include <stddef.h>

#include "allocator/next.h"

#ifndef LARGEST_BRANCH /* a test has room for none */
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

/* What is there, or fresh memory of that size, or NULL. */
static void *grown(void **place, size_t bytes) {
  void *known = __atomic_load_n(place, __ATOMIC_ACQUIRE);
  if (known) return known;
  void *fresh = bytes <= LARGEST_BRANCH ? next.calloc(1, bytes) : NULL;
  if (!fresh || __atomic_compare_exchange_n(place, &known, fresh, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) {
    return fresh;
  }
  next.free(fresh); /* another thread was first */
  return known;
}

/* The word that holds the page's bit; NULL if there is none. */
static uint64_t *word_of(const void *page, bool grow) {
  uint64_t number = number_of(page), branch = number >> (2 * BITS);
  if (branch >= BRANCHES) return NULL;
  void **place = (void **)&nodes[branch];
  struct node *node = grow ? grown(place, sizeof *node) : __atomic_load_n(place, __ATOMIC_ACQUIRE);
  if (!node) return NULL;
  place = (void **)&node->leaves[number >> BITS & (BRANCHES - 1)];
  struct leaf *leaf = grow ? grown(place, sizeof *leaf) : __atomic_load_n(place, __ATOMIC_ACQUIRE);
  return leaf ? &leaf->words[(number & (BRANCHES - 1)) / 64] : NULL;
}

static uint64_t bit_of(const void *page) { return (uint64_t)1 << number_of(page) % 64; }

/*
 * The bit is set before an object in the page is handed out. Whoever asks has the object's address from there, over a
 * barrier of the program's own if in another thread, and where the bit lies depends on the address: so a relaxed load
 * sees it (test/litmus/page-of-slot).
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
