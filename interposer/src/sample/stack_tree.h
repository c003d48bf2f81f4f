/*
 * Call stacks that share what they have in common.
 *
 * Stacks of one program mostly differ in their innermost frames and agree in the outer ones, so they are kept as a
 * tree: a node is a frame and the node of its caller. A stack of 100 frames that differs from a known one in three
 * takes three nodes of 16 bytes. Nodes are found by caller and frame in a hash table, are written before they are
 * published, and never change or go. Nothing is locked: of two threads that add the same node at once one wastes its
 * own.
 *
 * A frame is a return address; or, with the highest bit set, which no address has, the number of a Java method and in
 * the lowest 16 bits its bytecode index (0xffff: unknown, or a native method). Before the Java frames there may be one
 * more, with the two highest bits set (jvm/foreign_calls.h).
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

static inline bool is_java_frame(uint64_t frame) { return (frame & JAVA_FRAME) != 0; }

static inline bool has_bytecode(uint64_t java_frame) { return (java_frame & 0xffffu) != UNKNOWN_BYTECODE; }

static inline uint64_t java_frame(uint32_t method, int bytecode_index) {
  bool known = bytecode_index >= 0 && bytecode_index < (int)UNKNOWN_BYTECODE;
  return JAVA_FRAME | (uint64_t)method << 16 | (known ? (uint32_t)bytecode_index : UNKNOWN_BYTECODE);
}

struct stack_tree {
  struct stack_node {
    uint64_t frame;
    uint32_t caller; /* 1 + number of a node; 0: none */
    uint32_t unused;
  } nodes[STACK_NODES];
  uint32_t index[STACK_INDEX]; /* 1 + number of a node; 0: free */
  uint32_t taken;
};

/*
 * Adds a stack, innermost frame first, as far as it is not there. Sets the innermost node, 1 + its number (0 for a
 * stack without frames), and adds what it did to `work` (sample/work.h). False if there is no room.
 */
bool stack_tree_add(struct stack_tree *tree, const uint64_t *frames, uint32_t count, uint32_t *innermost,
                    uint32_t *work);

/* Copies at most `capacity` frames, innermost first. Returns how many. */
uint32_t stack_tree_copy(const struct stack_tree *tree, uint32_t innermost, uint64_t *frames, uint32_t capacity);

#endif
