/*
 * The native call stack of the calling thread, from inside of malloc.
 *
 * Frames are followed by call frame information, where the kernel tells what is readable or the C library which objects
 * are loaded, else by frame pointers. Nothing is read that is not known to be readable: of the thread's own stack
 * (platform/own_stack.h) all that is in use is; for other stacks the kernel is asked page by page. So a stack that is
 * smashed, or code without information, makes a short stack and never a fault.
 *
 * Following takes room on the stack that the program may not have left: little is given to coroutines and handlers, and
 * at the end of any stack there is little. Whoever follows one in the middle of an allocation asks before whether there
 * is room.
 *
 * The stack ends at the first return address outside any loaded object: there Java begins, or code that a
 * program generated. Where loaded objects are not known it goes on as far as frame pointers lead.
 */
#ifndef MALLOMETER_SAMPLE_NATIVE_STACK_H
#define MALLOMETER_SAMPLE_NATIVE_STACK_H

#include <stdbool.h>
#include <stdint.h>

#include "platform/arch.h"
#include "platform/own_stack.h"
#include "sample/origin.h"

enum unwinding { UNWIND_OFF, UNWIND_BY_TABLES, UNWIND_BY_FRAME_POINTERS };

/* Called at start, where entering the loader is allowed. Returns what will be done; tables may not be possible. */
enum unwinding native_stack_start(enum unwinding wanted);

/* Bytes that following one takes below where the program called the hook, on every path there; 2.9 KiB were measured.
 */
#define ROOM_FOR_NATIVE_STACK 5120u

/* Whether the thread is on its own stack at this address, and so much of it is left. */
static inline bool has_room(const void *stack, size_t bytes) { return own_stack_left((uintptr_t)stack) >= bytes; }

/*
 * Writes return addresses, innermost first, beginning with the one into the code that called the hook. Returns how
 * many, at most `capacity`; 0 if nothing is known. Sets `caller`, unless NULL, to what called the outermost of them:
 * code outside any loaded object; all 0 if the stack was not followed up to there. Adds what it did to `work`
 * (sample/work.h). Allocates nothing, locks nothing, keeps errno.
 */
uint32_t native_stack(struct origin origin, uint64_t *frames, uint32_t capacity, struct registers *caller,
                      uint32_t *work);

/* The same from given registers on; the first address written is theirs. */
uint32_t native_stack_at(struct registers here, uint64_t *frames, uint32_t capacity, struct registers *caller,
                         uint32_t *work);

/*
 * Follows the calling thread's stack as a sample does, one rule of it as if that was not known. Returns what it did, 0
 * if nothing. Not inside of malloc.
 */
uint32_t native_stack_rehearse(void);

#endif
