/*
 * Calls from compiled Java code to native code by the foreign-function interface.
 *
 * AsyncGetCallTrace finds the frames of inlined methods by a return address only in the last Java frame. Here this is
 * a stub, and for the stub's caller AsyncGetCallTrace returns the frames of the code after the call, which are wrong.
 * JVMTI knows the right frames of every return address in compiled code (jvmticmlr.h), but must not be called inside
 * of malloc.
 *
 * So the recorded stack has an extra frame after the native frames, the note, which stands for the return address.
 * The reader of a stack calls foreign_calls_correct(). If the JVM does not know the address, or its code is gone,
 * only the note is removed.
 */
#ifndef MALLOMETER_JVM_FOREIGN_CALLS_H
#define MALLOMETER_JVM_FOREIGN_CALLS_H

#include <jvmti.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "platform/arch.h"

/* Reserves memory, and requests the capability for compilation events. If either fails, no call is recorded. */
void foreign_calls_start(jvmtiEnv *tools, const void *in_jvm);

size_t foreign_calls_footprint(void);

/*
 * Returns the note, an extra frame that stands for the return address of the call; 0 if no call was found, or there
 * is no room. `caller` has the registers of the code that called native code. `outermost` is the frame of the native
 * function that Java called, 0 if Java called the hook itself. May be called inside of malloc.
 */
uint64_t foreign_calls_note(const struct registers *caller, uint64_t outermost);

/* Returns whether a frame came from foreign_calls_note(). */
bool is_foreign_call(uint64_t frame);

/*
 * Removes the first frame, which came from foreign_calls_note(), and corrects the frames after it. Returns the new
 * number of frames, at most `capacity`. Must be called by a thread of the JVM, outside of malloc. If `tools` is NULL,
 * because the JVM must not be called, only removes the frame.
 */
uint32_t foreign_calls_correct(jvmtiEnv *tools, uint64_t *frames, uint32_t count, uint32_t capacity);

/* Receives JVMTI's CompiledMethodLoad event. */
void JNICALL foreign_calls_compiled(jvmtiEnv *tools, jmethodID method, jint size, const void *code, jint locations,
                                    const jvmtiAddrLocationMap *map, const void *information);

#endif
