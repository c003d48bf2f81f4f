/*
 * The native call stack of the calling thread, read inside of malloc.
 *
 * The walk uses call frame information, or frame pointers if the tables or the loaded objects are unknown. Only
 * readable memory is read: the used part of the thread's own stack (platform/own_stack.h), and on other stacks the
 * pages that the kernel reports as readable. A damaged stack yields a short stack and never a fault.
 *
 * A walk needs room, and stacks of coroutines and signal handlers are small. Code that runs in the middle of an
 * allocation tests for room before it walks.
 *
 * The walk ends at the first return address outside of any loaded object, which belongs to Java code or other
 * generated code. If the loaded objects are unknown, the walk continues as far as frame pointers lead.
 */
#ifndef MALLOMETER_SAMPLE_NATIVE_STACK_H
#define MALLOMETER_SAMPLE_NATIVE_STACK_H

#include <stdbool.h>
#include <stdint.h>

#include "platform/arch.h"
#include "platform/own_stack.h"
#include "sample/origin.h"

enum unwinding { UNWIND_OFF, UNWIND_BY_TABLES, UNWIND_BY_FRAME_POINTERS };

/* Prepares walks. Returns the method that walks use: `wanted`, or frame pointers if the tables for `wanted` are not
 * available. Must be called at the start, where entering the loader is allowed. */
enum unwinding native_stack_start(enum unwinding wanted);

/* The bytes of stack that a walk needs below the program's call. The measured need is 2.9 KiB. */
#define ROOM_FOR_NATIVE_STACK 5120u

/* Returns whether the address is in the calling thread's own stack with at least this many bytes of the stack below
 * it. */
static inline bool stack_has_room(const void *stack, size_t bytes) { return own_stack_left((uintptr_t)stack) >= bytes; }

/*
 * Writes the return addresses of the stack, innermost first; the first is that of the program's call to the hook.
 * Returns their number, at most `capacity`; 0 if they are unknown. If the walk ends at code outside of any loaded
 * object, such as Java code, sets `caller` to the registers that this code had when it called native code. Otherwise
 * sets `caller` to zeros. `caller` may be NULL. Adds the work to `work` (sample/work.h). Does not allocate or lock;
 * preserves errno.
 */
uint32_t native_stack(struct origin origin, uint64_t *frames, uint32_t capacity, struct registers *caller,
                      uint32_t *work);

/* Walks like native_stack(), but from the given registers on. The first address is here.pc. */
uint32_t native_stack_at(struct registers here, uint64_t *frames, uint32_t capacity, struct registers *caller,
                         uint32_t *work);

/* Walks the calling thread's stack, for the caller to time. Removes one cached rule first, so that the walk includes
 * a search for a rule. Returns the walk's units of work (sample/work.h); 0 if no walk was possible. Must not be
 * called inside of malloc. */
uint32_t native_stack_rehearse(void);

#endif
