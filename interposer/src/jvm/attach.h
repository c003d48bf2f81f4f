/*
 * Java frames for call stacks: finds the JVM of this process and lets src/sample ask it.
 *
 * No agent has to be named at start: any thread of the JVM can call jvm_attach() while it runs. The JVM tells a
 * thread's Java frames by AsyncGetCallTrace, which never waits and may be called in the middle of anything; for that it
 * wants a tools interface (JVMTI) environment that hears of classes, and ids for all methods, made beforehand by asking
 * each class for its methods. GetStackTrace of the tools interface would wait for safepoints, so it is not used.
 */
#ifndef MALLOMETER_JVM_ATTACH_H
#define MALLOMETER_JVM_ATTACH_H

#include <jvmti.h>
#include <stddef.h>
#include <stdint.h>

#include "mallometer.h"

/* See mallometer_jvm_attach(): 0, -ESRCH, -ENOTSUP, -EBUSY. */
int jvm_attach(void);

/* The JVM of this process (`found` may be NULL), attached or not, and what the calling thread is to it. -ESRCH: none,
 * or no thread of it. */
int jvm_find(JavaVM **found, JNIEnv **thread);

/* enum mallometer_java_state */
uint32_t jvm_state(void);

/* Bytes of memory reserved. */
size_t jvm_footprint(void);

uint32_t jvm_methods(void);

/* Frames whose method found no room. */
uint64_t jvm_frames_without_method(void);

/* See mallometer_method_name(): 0, -EINVAL, -ESRCH, -ENODATA. `out` is zeroed. */
int jvm_method(uint32_t number, struct mallometer_method *out);

/* Mends the Java frames of a stack that has `count` frames; returns how many it has then. See foreign_calls.h. */
uint32_t jvm_mend(uint64_t *frames, uint32_t count, uint32_t capacity);

/* In the child of a fork there is no JVM. */
void jvm_forked(void);

#endif
