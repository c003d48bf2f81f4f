/*
 * The method that the calling compiler thread of the JVM compiles.
 *
 * The fields on the way from the thread to the id of the method are those of vm_structs.h; JDKs lack some of them, and
 * the method is then unknown. Only the fourth sample of a compilation and later ones ask: nearly all compilations take
 * less memory than that, and their methods would only fill the table of call sites.
 */
#ifndef MALLOMETER_JVM_COMPILATIONS_H
#define MALLOMETER_JVM_COMPILATIONS_H

#include <jvmti.h>
#include <stdint.h>

/* Looks the fields up. To be called once, by a thread of the JVM. May allocate. */
void compilations_start(jvmtiEnv *tools, JNIEnv *thread);

/*
 * Returns the frame of the method (stack_tree.h) that the calling thread compiles; 0 if it compiles none, or the method
 * is unknown. May be called inside of malloc. Only the first and the fourth sample of a compilation take system calls, a
 * dozen of some 0.2 us each. May change errno.
 */
uint64_t compilation_frame(const void *thread);

#endif
