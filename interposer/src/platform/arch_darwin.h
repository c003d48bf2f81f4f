/*
 * Definitions for x86-64 and arm64 on macOS. Every function of the system's libraries has a frame record: the
 * caller's frame pointer, then the return address. The frame pointer points to this record, which lies right below
 * the function's canonical frame address. Everything else is as in arch_portable.h.
 */
#ifndef MALLOMETER_PLATFORM_ARCH_DARWIN_H
#define MALLOMETER_PLATFORM_ARCH_DARWIN_H

#define FRAMES_ARE_KNOWN
#include "platform/arch_portable.h"

struct registers {
  uintptr_t pc, stack_pointer, frame_pointer;
};

/* Reads the program's frame pointer from the hook's frame record (-fno-omit-frame-pointer). */
static inline struct registers registers_of_caller(const void *caller, const void *stack) {
  return (struct registers){(uintptr_t)caller, (uintptr_t)stack, ((const uintptr_t *)stack)[-2]};
}

static inline __attribute__((always_inline)) struct registers registers_here(void) {
  const uintptr_t *record = __builtin_frame_address(0);
  return (struct registers){(uintptr_t)__builtin_return_address(0), (uintptr_t)(record + 2), record[0]};
}

/* Returns zeros, because only watchpoints need these registers, and Darwin has no watchpoints. */
static inline struct registers registers_of_context(const ucontext_t *context) {
  (void)context;
  return (struct registers){0, 0, 0};
}

static inline void registers_to_context(struct registers registers, ucontext_t *context) {
  context->uc_mcontext = &context->__mcontext_data;
  context->uc_mcsize = sizeof context->__mcontext_data;
  REGISTERS_TO_CONTEXT(registers.pc, registers.stack_pointer, registers.frame_pointer, context->uc_mcontext);
}

/* Clears the pointer authentication code that functions of the system's libraries (arm64e) put into their return
 * addresses. User-space addresses have 47 bits on macOS. */
static inline uintptr_t without_signature(uintptr_t return_address) {
  return return_address & (((uintptr_t)1 << 47) - 1);
}

#define UNWIND_TABLES_ARE_KNOWN false

#endif
