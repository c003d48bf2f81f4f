/*
 * The method that the calling compiler thread of the JVM compiles.
 *
 * The way from the thread to the method's id leads through fields that vm_structs.h finds. If a JDK lacks one of these
 * fields, the method is unknown. The method is looked up when the samples of a compilation stand for some 1.5 MiB: from
 * the fourth sample on at the default interval, and from the 255th on where every allocation is sampled. Nearly all
 * compilations take less memory than that, and their methods would only fill the table of call sites.
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
 * Switches names on, as they are at first, or off. While they are off, this file keeps no file open, also if
 * compilations_start() comes later. Returns 0; -EBUSY if the memory could not be opened, if a thread reads or forks for
 * a second, or if another thread is in this function. May change errno.
 */
int compilations_switch(bool on);

/* Ends names in the child of a fork, where the memory is closed. */
void compilations_forked(void);

/*
 * Returns the frame of the method (stack_tree.h) that the calling thread compiles; 0 if it compiles none, or the method
 * is unknown. May be called inside of malloc. A compiler thread, known by its name, makes two system calls in each
 * sample, and a dozen in the sample that looks the method up, some 0.5 us each. Other threads make one system call in
 * their first sample. May change errno.
 */
uint64_t compilation_frame(const void *thread);

#endif
