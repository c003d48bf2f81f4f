/* Nodes by caller and frame in a hash table. The memory is zeroed before its first use. See stack_tree.h. */
#include "sample/stack_tree.h"

#include "sample/work.h"

enum { PROBES = 32 };

static uint64_t place_of(uint32_t caller, uint64_t frame) {
  uint64_t hash = (frame ^ (uint64_t)caller << 32) * 0x9e3779b97f4a7c15u;
  return (hash ^ hash >> 29) * 0xbf58476d1ce4e5b9u >> 32;
}

/* 1 + the number of a new node; 0 if there is no room. The exchange only makes it this thread's; the index, which is
 * released, shows it to others. */
static uint32_t new_node(struct stack_tree *tree, uint32_t caller, uint64_t frame) {
  uint32_t number = __atomic_load_n(&tree->taken, __ATOMIC_RELAXED);
  do {
    if (number == STACK_NODES) return 0;
  } while (!__atomic_compare_exchange_n(&tree->taken, &number, number + 1, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED));
  tree->nodes[number].frame = frame;
  tree->nodes[number].caller = caller;
  return number + 1;
}

static uint32_t node_of(struct stack_tree *tree, uint32_t caller, uint64_t frame, uint32_t *work) {
  uint64_t place = place_of(caller, frame);
  uint32_t fresh = 0;
  for (uint64_t i = 0; i < PROBES; i++) {
    uint32_t *slot = &tree->index[(place + i) % STACK_INDEX];
    uint32_t found = __atomic_load_n(slot, __ATOMIC_ACQUIRE);
    if (found == 0) {
      if (!fresh) fresh = new_node(tree, caller, frame);
      if (!fresh) return 0;
      *work += WORK_NEW_FRAME;
      if (__atomic_compare_exchange_n(slot, &found, fresh, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) return fresh;
    }
    const struct stack_node *node = &tree->nodes[found - 1];
    if (node->frame == frame && node->caller == caller) return found;
  }
  return 0;
}

bool stack_tree_add(struct stack_tree *tree, const uint64_t *frames, uint32_t count, uint32_t *innermost,
                    uint32_t *work) {
  uint32_t node = 0;
  for (uint32_t i = count; i > 0; i--) {
    node = node_of(tree, node, frames[i - 1], work);
    if (!node) return false;
  }
  *innermost = node;
  return true;
}

uint32_t stack_tree_copy(const struct stack_tree *tree, uint32_t innermost, uint64_t *frames, uint32_t capacity) {
  uint32_t count = 0;
  for (uint32_t node = innermost; node && count < capacity; node = tree->nodes[node - 1].caller) {
    frames[count++] = tree->nodes[node - 1].frame;
  }
  return count;
}
