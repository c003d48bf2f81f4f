/*
 * Where compiled Java code calls native code by the foreign-function interface.
 *
 * AsyncGetCallTrace tells the inlined frames of compiled code by a return address only where the thread's last Java
 * frame is that code itself. Calls of the foreign-function interface lead through a stub, which is the last Java frame,
 * so it looks one address further and tells the frames of what comes after the call: false ones, and others after each
 * compilation. The tools interface knows the true frames of every return address in compiled code (jvmticmlr.h), yet
 * must not be asked inside of malloc.
 *
 * So the return address is noted with the stack, as a frame of its own behind the native ones, and whoever reads the
 * stack has the frames mended. An address that the JVM does not know, or whose code is gone, is left out, and the
 * frames stay as they are.
 */
#ifndef MALLOMETER_JVM_FOREIGN_CALLS_H
#define MALLOMETER_JVM_FOREIGN_CALLS_H

#include <jvmti.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "platform/arch.h"

/* Reserves memory, and asks for what the tools interface must be allowed. Without it nothing is noted. */
void foreign_calls_start(jvmtiEnv *tools, const void *in_jvm);

size_t foreign_calls_footprint(void);

/*
 * The frame that notes the call; 0 if none was found, or if there is no room. `caller` is what called native code, and
 * `outermost` the return address into the outermost native function, 0 if Java called the hook itself. Runs inside of
 * malloc.
 */
uint64_t foreign_call(const struct registers *caller, uint64_t outermost);

/* Whether a frame is such a note. */
bool is_foreign_call(uint64_t frame);

/*
 * Mends frames that begin with such a note, which is taken out: returns how many there are then, at most `capacity`. By
 * a thread of the JVM, outside of malloc; where the JVM must not be asked `tools` is NULL.
 */
uint32_t foreign_calls_mend(jvmtiEnv *tools, uint64_t *frames, uint32_t count, uint32_t capacity);

/* The tools interface's event. */
void JNICALL foreign_calls_compiled(jvmtiEnv *tools, jmethodID method, jint size, const void *code, jint locations,
                                    const jvmtiAddrLocationMap *map, const void *information);

#endif
