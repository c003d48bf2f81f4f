/*
 * Call stacks that share their common outer frames.
 *
 * The stacks form a tree. A node has a frame and the number of its caller's node, so a stack of 100 frames that
 * differs from a known stack in three frames needs three new nodes of 16 bytes. Nodes are found by caller and frame
 * in a hash table, and are written before they are published. There are no locks: if two threads add the same node at
 * the same time, one thread frees its node.
 *
 * Each node counts its users: the nodes below it, and the stacks that begin with it. When a stack is released, nodes
 * without users leave the hash table. stack_tree_reuse() makes them free for other frames; the caller must first make
 * sure that no thread can still hold a node that it found in the table. Only one thread at a time may release stacks.
 *
 * A frame is a return address or a Java frame. In a Java frame:
 * - The highest bit is set, which no address has.
 * - The lowest 16 bits are the bytecode index; 0xffff if it is unknown, and for a native method.
 * - The bits between are the number of the method.
 *
 * One frame with the two highest bits set may precede the Java frames (jvm/foreign_calls.h). A stack of a compiler
 * thread of the JVM may begin with the method that it compiles: a Java frame with the bytecode index 0xfffe.
 */
#ifndef MALLOMETER_SAMPLE_STACK_TREE_H
#define MALLOMETER_SAMPLE_STACK_TREE_H

#include <stdbool.h>
#include <stdint.h>

#define STACK_NODES 262144u
#define STACK_INDEX 524288u

#define JAVA_FRAME ((uint64_t)1 << 63)
#define UNKNOWN_METHOD UINT32_MAX
#define UNKNOWN_BYTECODE 0xffffu
#define COMPILED_METHOD 0xfffeu

static inline bool is_java_frame(uint64_t frame) { return (frame & JAVA_FRAME) != 0; }

static inline bool has_bytecode(uint64_t java_frame) { return (java_frame & 0xffffu) < COMPILED_METHOD; }

static inline uint64_t java_frame(uint32_t method, int bytecode_index) {
  bool known = bytecode_index >= 0 && bytecode_index < (int)COMPILED_METHOD;
  return JAVA_FRAME | (uint64_t)method << 16 | (known ? (uint32_t)bytecode_index : UNKNOWN_BYTECODE);
}

static inline uint64_t compiled_frame(uint32_t method) { return JAVA_FRAME | (uint64_t)method << 16 | COMPILED_METHOD; }

static inline bool is_compiled_frame(uint64_t frame) {
  return is_java_frame(frame) && (frame & 0xffffu) == COMPILED_METHOD;
}

struct stack_tree {
  struct stack_node {
    uint64_t frame;
    uint32_t caller; /* 1 + the number of the caller's node; 0 if there is none */
    uint32_t users;  /* the number of users; in the lists `free` and `leaving`, NODE_LEFT plus the next node */
  } nodes[STACK_NODES];
  uint32_t index[STACK_INDEX]; /* 1 + the number of a node; 0: never used; NODE_LEFT: the node has left the table */
  uint32_t taken;              /* the number of nodes that were ever used */
  uint32_t unused;
  uint64_t free;    /* the first free node; the upper 32 bits count removals, against the ABA problem */
  uint32_t leaving; /* the list of nodes removed from the index, which a thread may still hold */
};

#define NODE_LEFT ((uint32_t)1 << 31)

static inline uint32_t stack_tree_in_use(const struct stack_tree *tree) {
  return __atomic_load_n(&tree->taken, __ATOMIC_RELAXED) - __atomic_load_n(&tree->unused, __ATOMIC_RELAXED);
}

/*
 * Adds the missing nodes of a stack; `frames` has the innermost frame first. Sets `innermost` to 1 + the number of
 * the innermost node, or 0 for a stack without frames. Adds the work to `work` (sample/work.h). Returns false if
 * there is no room, or if other threads changed the same part of the tree too often.
 */
bool stack_tree_add(struct stack_tree *tree, const uint64_t *frames, uint32_t count, uint32_t *innermost,
                    uint32_t *work);

void stack_tree_release(struct stack_tree *tree, uint32_t innermost);

/* Frees the nodes that stack_tree_release() removed from the index. No thread may still hold a node from the index. */
void stack_tree_reuse(struct stack_tree *tree);

/* Copies at most `capacity` frames, innermost first. Returns their number. */
uint32_t stack_tree_copy(const struct stack_tree *tree, uint32_t innermost, uint64_t *frames, uint32_t capacity);

#endif
