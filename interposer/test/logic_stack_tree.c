/* Tests the tree that stores the stacks of samples: concurrent changes by two threads, and a full tree. Stacks with
 * the same callers share nodes. */
#include "platform/given.h"
#include "sample/stack_tree.h"

enum { FRAMES = 4 };

static struct stack_tree tree;
static const uint64_t common[FRAMES] = {11, 12, 13, 14}, others[FRAMES] = {21, 22, 13, 14};
static uint32_t of_other;

static uint32_t add(const uint64_t *frames, uint32_t count) {
  uint32_t innermost, work = 0;
  CHECK(stack_tree_add(&tree, frames, count, &innermost, &work));
  return innermost;
}

static void check_frames(uint32_t innermost, const uint64_t *frames) {
  uint64_t copy[FRAMES + 1];
  CHECK_EQUAL(stack_tree_copy(&tree, innermost, copy, FRAMES + 1), FRAMES);
  for (unsigned i = 0; i < FRAMES; i++) CHECK_EQUAL(copy[i], frames[i]);
}

static void another_adds_the_same(void) { of_other = add(common, FRAMES); }

static int two_that_add_the_same_stack_get_the_same_node(unsigned point) {
  interrupt_at(point, another_adds_the_same);
  uint32_t own = add(common, FRAMES);
  if (!was_interrupted()) return NOT_REACHED;
  CHECK_EQUAL(own, of_other);
  check_frames(own, common);
  CHECK(tree.taken <= FRAMES + 1); /* the interrupted thread may have taken one node in vain */
  return REACHED;
}

static void another_adds_one_with_the_same_callers(void) { of_other = add(others, FRAMES); }

static int two_stacks_share_their_callers(unsigned point) {
  interrupt_at(point, another_adds_one_with_the_same_callers);
  uint32_t own = add(common, FRAMES);
  if (!was_interrupted()) return NOT_REACHED;
  CHECK(own != of_other);
  check_frames(own, common);
  check_frames(of_other, others);
  CHECK(tree.taken <= FRAMES + 2 + 1);
  return REACHED;
}

CASE(a_full_tree_keeps_what_it_has) {
  static uint32_t nodes[STACK_NODES];
  uint32_t added = 0, innermost, work = 0;
  for (uint64_t frame = 1; added < STACK_NODES; frame++) {
    CHECK(frame < 2 * STACK_NODES); /* up to half of the frames may find no place in the hash table */
    if (stack_tree_add(&tree, &frame, 1, &innermost, &work)) nodes[added++] = innermost;
    if (tree.taken == STACK_NODES) break;
  }
  CHECK_EQUAL(tree.taken, STACK_NODES);
  for (uint64_t i = 0; i < 1000; i++) {
    uint64_t fresh = ((uint64_t)1 << 40) + i;
    CHECK(!stack_tree_add(&tree, &fresh, 1, &innermost, &work));
  }
  for (uint32_t i = 0; i < added; i++) {
    uint64_t frame;
    CHECK_EQUAL(stack_tree_copy(&tree, nodes[i], &frame, 1), 1);
    CHECK_EQUAL(add(&frame, 1), nodes[i]);
  }
}

static void another_releases_what_it_has(void) {
  stack_tree_release(&tree, of_other);
  of_other = 0;
}

/* Adds a stack while another thread removes one with the same callers. Either the shared nodes of these callers must
 * stay, or the addition must fail. */
static int a_stack_is_added_while_another_with_the_same_callers_goes(unsigned point) {
  of_other = add(others, FRAMES);
  interrupt_at(point, another_releases_what_it_has);
  uint32_t innermost, work = 0;
  bool added = stack_tree_add(&tree, common, FRAMES, &innermost, &work);
  if (!was_interrupted()) return NOT_REACHED;
  if (added) check_frames(innermost, common);
  stack_tree_reuse(&tree);
  if (added) check_frames(innermost, common);
  uint32_t own = add(common, FRAMES);
  check_frames(own, common);
  check_frames(add(others, FRAMES), others);
  if (added) CHECK_EQUAL(own, innermost);
  CHECK(stack_tree_in_use(&tree) <= 2 * FRAMES);
  return REACHED;
}

CASE(nodes_without_a_stack_are_used_again) {
  uint32_t kept = add(common, FRAMES), most = 0;
  for (uint64_t round = 0; round < 8 * STACK_NODES / FRAMES; round++) {
    uint64_t frames[FRAMES] = {2 * round + 100, 2 * round + 101, 13, 14};
    uint32_t innermost = add(frames, FRAMES);
    check_frames(innermost, frames);
    stack_tree_release(&tree, innermost);
    stack_tree_reuse(&tree);
    if (stack_tree_in_use(&tree) > most) most = stack_tree_in_use(&tree);
  }
  CHECK(most <= FRAMES + 2);
  check_frames(kept, common);
  CHECK_EQUAL(add(common, FRAMES), kept);
  stack_tree_release(&tree, kept);
  stack_tree_release(&tree, kept);
  stack_tree_reuse(&tree);
  CHECK_EQUAL(stack_tree_in_use(&tree), 0);
}

CASE(a_node_is_not_used_again_before_it_may_be) {
  uint32_t released = add(common, 1);
  stack_tree_release(&tree, released);
  tree.taken = STACK_NODES;
  uint32_t innermost, work = 0;
  CHECK(!stack_tree_add(&tree, others, 1, &innermost, &work));
  stack_tree_reuse(&tree);
  CHECK_EQUAL(add(others, 1), released);
}

CASE(a_stack_that_finds_no_room_keeps_no_caller) {
  uint32_t released = add(common, FRAMES), innermost, work = 0, taken = tree.taken;
  tree.taken = STACK_NODES;
  uint64_t frames[FRAMES];
  memcpy(frames, common, sizeof frames);
  frames[0]++;
  for (unsigned i = 0; i < 3; i++) CHECK(!stack_tree_add(&tree, frames, FRAMES, &innermost, &work));
  tree.taken = taken;
  stack_tree_release(&tree, released);
  stack_tree_reuse(&tree);
  CHECK_EQUAL(stack_tree_in_use(&tree), 0);
}

int main(void) {
  CHECK(at_each_point(two_that_add_the_same_stack_get_the_same_node) > 3 * FRAMES - 1);
  CHECK(at_each_point(two_stacks_share_their_callers) > 3 * FRAMES - 1);
  RUN(a_full_tree_keeps_what_it_has);
  CHECK(at_each_point(a_stack_is_added_while_another_with_the_same_callers_goes) > 3 * FRAMES - 1);
  RUN(nodes_without_a_stack_are_used_again);
  RUN(a_node_is_not_used_again_before_it_may_be);
  RUN(a_stack_that_finds_no_room_keeps_no_caller);
  return 0;
}
