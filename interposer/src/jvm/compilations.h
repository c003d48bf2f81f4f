/*
 * The method that the calling compiler thread of the JVM compiles. It is found through fields that vm_structs.h
 * finds, and unknown if a JDK lacks one of them.
 *
 * The method is looked up when the samples of a compilation stand for some 1.5 MiB: from the fourth sample on at the
 * default interval, and from the 255th on where every allocation is sampled. Nearly all compilations take less
 * memory, and their methods would only fill the table of call sites.
 */
#ifndef MALLOMETER_JVM_COMPILATIONS_H
#define MALLOMETER_JVM_COMPILATIONS_H

#include <jvmti.h>
#include <stdbool.h>
#include <stdint.h>

/* Looks up the fields of the JVM's structures and, unless names are switched off, opens the process's own memory for
 * reading (readable_memory.h). If that fails, all methods are unknown. Must be called once, by a thread of the JVM. May
 * allocate. */
void compilations_start(jvmtiEnv *tools, JNIEnv *thread);

/*
 * Switches the names of compiled methods on (the default) or off. While they are off, no file is kept open. Returns
 * 0; -EBUSY if the memory could not be opened, if a thread reads or forks for a second, or if another thread is in
 * this function. May change errno.
 */
int compilations_switch(bool on);

/* Makes all methods unknown in the child of a fork, where the memory is closed. */
void compilations_forked(void);

/*
 * Returns the frame of the method (stack_tree.h) that the calling thread compiles; 0 if it compiles none or the
 * method is unknown. May be called inside of malloc. May change errno.
 *
 * A compiler thread, known by its name, makes two system calls of some 0.5 us in each sample, and a dozen when it
 * looks the method up. Other threads make one in their first sample.
 */
uint64_t compilation_frame(const void *thread);

#endif
