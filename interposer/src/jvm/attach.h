/*
 * Java frames for call stacks: finds the JVM of this process and gives src/sample access to it. Any thread of the JVM
 * can call jvm_attach(), so no agent is needed on the JVM's command line.
 *
 * AsyncGetCallTrace returns a thread's Java frames. It never waits and may be called at any point, while JVMTI's
 * GetStackTrace waits for safepoints. AsyncGetCallTrace requires that a JVMTI environment receives class load events,
 * and that all methods have ids. A method gets an id when JVMTI is asked for the methods of its class.
 */
#ifndef MALLOMETER_JVM_ATTACH_H
#define MALLOMETER_JVM_ATTACH_H

#include <jvmti.h>
#include <stddef.h>
#include <stdint.h>

#include "mallometer.h"

/* Attaches to the JVM, as mallometer_jvm_attach(): returns 0, -ESRCH, -ENOTSUP or -EBUSY. */
int jvm_attach(void);

/*
 * Finds the JVM of this process, even without jvm_attach(), and the JNI environment of the calling thread. `found`
 * may be NULL. Returns 0; -ESRCH if there is no JVM, it has ended, or the calling thread is not one of its threads.
 */
int jvm_find(JavaVM **found, JNIEnv **thread);

/* Returns whether Java frames are on, off, or gone with the JVM (enum mallometer_java_state). */
uint32_t jvm_state(void);

JavaVM *jvm_attached(void);

/* Returns the bytes of memory that the tables of methods and of foreign calls reserve. */
size_t jvm_footprint(void);

uint32_t jvm_method_count(void);

/* Returns the number of frames whose method had no room in the table. */
uint64_t jvm_frames_without_method(void);

/* Describes a method, like mallometer_method_name(). Returns 0, -EINVAL, -ESRCH or -ENODATA. `out` must be zeroed. */
int jvm_describe_method(uint32_t number, struct mallometer_method *out);

/* Corrects the Java frames of a stack whose native code was called through the foreign-function interface
 * (foreign_calls.h). `count` is the number of frames. Returns the new number. */
uint32_t jvm_correct_frames(uint64_t *frames, uint32_t count, uint32_t capacity);

/* Ends access to the JVM in the child of a fork, which has no running JVM. */
void jvm_forked(void);

#endif
