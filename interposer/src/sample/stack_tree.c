/* The nodes of the tree are found by caller and frame in a hash table. Its memory is zeroed before the first use. See
 * stack_tree.h. */
#include "sample/stack_tree.h"

#include <stddef.h>

#include "platform/shared_words.h"
#include "sample/work.h"

/* A thread makes ATTEMPTS attempts to store a new node, because other threads may take the place in the hash table
 * first. If all attempts fail, the stack is not stored, as if there were no room. */
enum { PROBES = 32, ATTEMPTS = 4 };

static uint64_t place_of(uint32_t caller, uint64_t frame) {
  uint64_t hash = (frame ^ (uint64_t)caller << 32) * 0x9e3779b97f4a7c15u;
  return (hash ^ hash >> 29) * 0xbf58476d1ce4e5b9u >> 32;
}

/* Takes a node from the list of free ones. Returns 1 + its number; 0 if there is none. */
static uint32_t used_node(struct stack_tree *tree) {
  uint64_t first = __atomic_load_n(&tree->free, __ATOMIC_ACQUIRE), next;
  uint32_t node;
  do {
    node = (uint32_t)first;
    if (!node) return 0;
    next = ((first >> 32) + 1) << 32 | (__atomic_load_n(&tree->nodes[node - 1].users, __ATOMIC_RELAXED) & ~NODE_LEFT);
  } while (!__atomic_compare_exchange_n(&tree->free, &first, next, true, __ATOMIC_ACQUIRE, __ATOMIC_ACQUIRE));
  __atomic_fetch_sub(&tree->unused, 1, __ATOMIC_RELAXED);
  return node;
}

static uint32_t unused_node(struct stack_tree *tree) {
  uint32_t number = reserve_numbers(&tree->taken, 1, STACK_NODES);
  return number == STACK_NODES ? used_node(tree) : number + 1;
}

/* Adds a user (a stack, or a node below) to a node. Returns false if the node has left the hash table. */
static bool add_user(struct stack_tree *tree, uint32_t node) {
  uint32_t *users = &tree->nodes[node - 1].users, before = __atomic_load_n(users, __ATOMIC_RELAXED);
  do {
    if (before & NODE_LEFT) return false;
  } while (!__atomic_compare_exchange_n(users, &before, before + 1, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED));
  return true;
}

static void remove_user(struct stack_tree *tree, uint32_t caller) {
  if (caller) __atomic_fetch_sub(&tree->nodes[caller - 1].users, 1, __ATOMIC_RELAXED);
}

static void make_free(struct stack_tree *tree, uint32_t node) {
  uint64_t first = __atomic_load_n(&tree->free, __ATOMIC_RELAXED);
  do __atomic_store_n(&tree->nodes[node - 1].users, NODE_LEFT | (uint32_t)first, __ATOMIC_RELAXED);
  while (!__atomic_compare_exchange_n(&tree->free, &first, (first >> 32) << 32 | node, true, __ATOMIC_RELEASE,
                                      __ATOMIC_RELAXED));
  __atomic_fetch_add(&tree->unused, 1, __ATOMIC_RELAXED);
}

static uint32_t new_node(struct stack_tree *tree, uint32_t caller, uint64_t frame) {
  if (caller && !add_user(tree, caller)) return 0;
  uint32_t node = unused_node(tree);
  if (!node) {
    remove_user(tree, caller);
    return 0;
  }
  tree->nodes[node - 1].frame = frame;
  tree->nodes[node - 1].caller = caller;
  __atomic_store_n(&tree->nodes[node - 1].users, 0, __ATOMIC_RELAXED);
  return node;
}

static void give_back(struct stack_tree *tree, uint32_t node) {
  remove_user(tree, tree->nodes[node - 1].caller);
  make_free(tree, node);
}

/* The first slot without a node in a probe sequence; `slot` is NULL if there is none. */
struct gap {
  uint32_t *slot;
  uint32_t content;
};

/* Returns 1 + the number of the node with this caller and frame. If there is none, returns 0 and sets `gap` to the
 * place for a new one. */
static uint32_t find_node(struct stack_tree *tree, uint32_t caller, uint64_t frame, struct gap *gap) {
  uint64_t place = place_of(caller, frame);
  gap->slot = NULL;
  for (uint64_t i = 0; i < PROBES; i++) {
    uint32_t *slot = &tree->index[(place + i) % STACK_INDEX], found = __atomic_load_n(slot, __ATOMIC_ACQUIRE);
    bool empty = found == 0 || found == NODE_LEFT;
    if (empty && !gap->slot) *gap = (struct gap){slot, found};
    if (found == 0) return 0;
    if (!empty && tree->nodes[found - 1].frame == frame && tree->nodes[found - 1].caller == caller) return found;
  }
  return 0;
}

/*
 * Returns 1 + the number of the node with this caller and frame, new or known; 0 if there is no room. The store into
 * the hash table publishes a new node. Must not be inlined, because stack_tree_add() with `count` 0 must need little
 * memory of the thread's stack.
 */
static __attribute__((noinline)) uint32_t node_of(struct stack_tree *tree, uint32_t caller, uint64_t frame,
                                                  uint32_t *work) {
  uint32_t fresh = 0, found = 0;
  struct gap gap;
  for (unsigned attempt = 0; attempt < ATTEMPTS; attempt++) {
    found = find_node(tree, caller, frame, &gap);
    if (found || !gap.slot) break;
    if (!fresh) fresh = new_node(tree, caller, frame);
    if (!fresh) return 0;
    if (__atomic_compare_exchange_n(gap.slot, &gap.content, fresh, false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED)) {
      *work += WORK_NEW_FRAME;
      return fresh;
    }
  }
  if (fresh) give_back(tree, fresh);
  return found;
}

bool stack_tree_add(struct stack_tree *tree, const uint64_t *frames, uint32_t count, uint32_t *innermost,
                    uint32_t *work) {
  uint32_t node = 0;
  for (uint32_t i = count; i > 0; i--) {
    node = node_of(tree, node, frames[i - 1], work);
    if (!node) return false;
  }
  if (node && !add_user(tree, node)) return false;
  *innermost = node;
  return true;
}

static void leave_index(struct stack_tree *tree, uint32_t node) {
  uint64_t place = place_of(tree->nodes[node - 1].caller, tree->nodes[node - 1].frame);
  for (uint64_t i = 0; i < PROBES; i++) {
    uint32_t found = node;
    if (__atomic_compare_exchange_n(&tree->index[(place + i) % STACK_INDEX], &found, NODE_LEFT, false, __ATOMIC_RELAXED,
                                    __ATOMIC_RELAXED)) {
      return;
    }
  }
}

void stack_tree_release(struct stack_tree *tree, uint32_t innermost) {
  for (uint32_t node = innermost; node; node = tree->nodes[node - 1].caller) {
    uint32_t *users = &tree->nodes[node - 1].users, none = 0;
    if (__atomic_sub_fetch(users, 1, __ATOMIC_RELAXED)) return;
    if (!__atomic_compare_exchange_n(users, &none, NODE_LEFT | tree->leaving, false, __ATOMIC_RELAXED,
                                     __ATOMIC_RELAXED))
      return;
    tree->leaving = node;
    leave_index(tree, node);
  }
}

void stack_tree_reuse(struct stack_tree *tree) {
  while (tree->leaving) {
    uint32_t node = tree->leaving;
    tree->leaving = tree->nodes[node - 1].users & ~NODE_LEFT;
    make_free(tree, node);
  }
}

uint32_t stack_tree_copy(const struct stack_tree *tree, uint32_t innermost, uint64_t *frames, uint32_t capacity) {
  uint32_t count = 0;
  for (uint32_t node = innermost; node && count < capacity; node = tree->nodes[node - 1].caller) {
    frames[count++] = tree->nodes[node - 1].frame;
  }
  return count;
}
