/*
 * The native call stack of the calling thread, from inside of malloc.
 *
 * Frames are followed by call frame information if the kernel reports which memory is readable, or the C library which
 * objects are loaded; else by frame pointers. Only readable memory is read: the used part of the thread's own stack
 * (platform/own_stack.h); for other stacks the kernel tests each page. A smashed stack, or code without information,
 * therefore yields a short stack and never a fault.
 *
 * A walk needs room on the stack that the program may not have left: coroutines and handlers have small stacks, and at
 * the end of any stack there is little. In the middle of an allocation, callers test for room first.
 *
 * The stack ends at the first return address outside any loaded object: there Java begins, or code that a program
 * generated. If loaded objects are unknown it continues as far as frame pointers lead.
 */
#ifndef MALLOMETER_SAMPLE_NATIVE_STACK_H
#define MALLOMETER_SAMPLE_NATIVE_STACK_H

#include <stdbool.h>
#include <stdint.h>

#include "platform/arch.h"
#include "platform/own_stack.h"
#include "sample/origin.h"

enum unwinding { UNWIND_OFF, UNWIND_BY_TABLES, UNWIND_BY_FRAME_POINTERS };

/* Prepares walks and returns their method, which may differ from the wanted one because tables may be impossible. Call
 * it at the start, where entering the loader is allowed. */
enum unwinding native_stack_start(enum unwinding wanted);

/* The bytes of stack that a walk needs below the program's call. The measured need is 2.9 KiB. */
#define ROOM_FOR_NATIVE_STACK 5120u

/* Returns whether the address is in the thread's own stack, with at least this many bytes left below it. */
static inline bool stack_has_room(const void *stack, size_t bytes) { return own_stack_left((uintptr_t)stack) >= bytes; }

/*
 * Writes return addresses, innermost first, beginning with the one into the code that called the hook. Returns their
 * number, at most `capacity`; 0 if unknown. Sets `caller`, unless NULL, to the registers of the code outside any loaded
 * object that called the outermost frame; all 0 if the walk did not get there. Adds the work to `work` (sample/work.h).
 * Does not allocate or lock; preserves errno.
 */
uint32_t native_stack(struct origin origin, uint64_t *frames, uint32_t capacity, struct registers *caller,
                      uint32_t *work);

/* Walks from given registers on; the first address written is theirs. */
uint32_t native_stack_at(struct registers here, uint64_t *frames, uint32_t capacity, struct registers *caller,
                         uint32_t *work);

/*
 * Walks the calling thread's stack as a sample does, after it has removed one rule from the cache. Returns the work; 0
 * if no walk was possible. Not for use inside of malloc.
 */
uint32_t native_stack_rehearse(void);

#endif
