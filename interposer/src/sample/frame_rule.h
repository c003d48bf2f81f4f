/*
 * Finds the step from a function's frame to its caller's frame, by the call frame information of DWARF (.eh_frame; LSB
 * Core, "Exception Frames", and DWARF 4, section 6.4). Implements only what a walk from malloc to main needs.
 *
 * Only the stack pointer and the frame pointer are tracked, because compilers compute frames from these two. A walk
 * ends at code without information and at a rule that needs other registers: the stack is then shorter, but its frames
 * are right.
 */
#ifndef MALLOMETER_SAMPLE_FRAME_RULE_H
#define MALLOMETER_SAMPLE_FRAME_RULE_H

#include <stdbool.h>
#include <stdint.h>

#include "platform/loaded_objects.h"

/* The base from which the canonical frame address is computed. This address is the stack pointer's value before the
 * call. */
enum frame_base {
  /* The canonical frame address is this register plus `cfa_offset`. */
  BASE_STACK_POINTER,
  BASE_FRAME_POINTER,
  /* The canonical frame address is stored in memory, at the frame pointer plus `cfa_offset`. Functions that align
   * their stack need this. */
  BASE_AT_FRAME_POINTER
};

enum saved_frame_pointer {
  /* The caller's frame pointer is still in its register. */
  SAVED_NOWHERE,
  /* The caller's frame pointer is saved at the canonical frame address plus `saved_offset`. */
  SAVED_AT_FRAME,
  /* The caller's frame pointer is saved at the function's own frame pointer plus `saved_offset`. */
  SAVED_AT_FRAME_POINTER
};

struct frame_rule {
  enum frame_base base;
  enum saved_frame_pointer saved;
  int32_t cfa_offset;
  int32_t saved_offset;
  /* The offset of the return address from the canonical frame address; negative. */
  int32_t return_offset;
};

/* Finds the rule by which a stack is unwound from the instruction at `pc`. Returns false if there is none, or if the
 * stack ends at this function. */
bool frame_rule_at(uintptr_t pc, const struct loaded_object *object, struct frame_rule *rule);

#endif
