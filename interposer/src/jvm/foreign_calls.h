/*
 * Corrects the Java frames above a call that compiled Java code makes to native code by the foreign-function interface.
 *
 * AsyncGetCallTrace returns wrong frames for such a call: a stub as the last Java frame, and then the frames of the
 * code after the call. JVMTI knows the right frames of every return address in compiled code (jvmticmlr.h), but must
 * not be called inside of malloc.
 *
 * A recorded stack therefore gets an extra frame that stands for the return address: the note. It follows the native
 * frames. The reader of the stack calls foreign_calls_correct(), which asks JVMTI. If the JVM does not know the
 * address, or its code is gone, only the note is removed.
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
 * Returns an extra frame for a recorded stack, called a note. A note stands for the return address of a foreign call,
 * which is a call of native code by compiled Java code. Returns 0 if no foreign call was found, or if the table of
 * calls has no room. `caller` has the registers of the code that called native code. `outermost` is the frame of the
 * native function that Java called; 0 if Java called a function of this library directly. May be called inside of
 * malloc.
 */
uint64_t foreign_calls_note(const struct registers *caller, uint64_t outermost);

/* Returns whether a frame came from foreign_calls_note(). */
bool is_foreign_call(uint64_t frame);

/*
 * Removes the first frame, the one from foreign_calls_note(), and corrects the Java frames after it. Does not correct
 * them if `tools` is NULL, which means that the JVM must not be called. Returns the new number of frames, at most
 * `capacity`. Must be called by a thread of the JVM, outside of malloc.
 */
uint32_t foreign_calls_correct(jvmtiEnv *tools, uint64_t *frames, uint32_t count, uint32_t capacity);

/* Receives JVMTI's CompiledMethodLoad event. */
void JNICALL foreign_calls_compiled(jvmtiEnv *tools, jmethodID method, jint size, const void *code, jint locations,
                                    const jvmtiAddrLocationMap *map, const void *information);

#endif
