/*
 * The Java method that the calling compiler thread of the JVM is compiling. It is read from the JVM's structures
 * (vm_structs.h), and is unknown if a JDK lacks one of the needed fields.
 *
 * The method is looked up only when the compilation's samples stand for some 1.5 MiB, or after 254 samples. Nearly all
 * compilations take less memory, and their methods would only fill the table of call sites.
 */
#ifndef MALLOMETER_JVM_COMPILATIONS_H
#define MALLOMETER_JVM_COMPILATIONS_H

#include <jvmti.h>
#include <stdbool.h>
#include <stdint.h>

/*
 * Finds the needed fields of the JVM's structures. Unless names are switched off, also opens the process's own memory
 * for reading (readable_memory.h). If one of these fails, all methods are unknown. Must be called once, by a thread
 * of the JVM. May allocate.
 */
void compilations_start(jvmtiEnv *tools, JNIEnv *thread);

/*
 * Switches compilation_frame() on (the default) or off. While it is off, all methods are unknown, and the process's
 * memory is not open for reading. Returns 0, or -EBUSY if another thread is in this function, if the memory cannot be
 * opened, or if it cannot be closed because a thread reads or forks for longer than a second. May change errno.
 */
int compilations_switch(bool on);

/* Makes compilation_frame() treat every method as unknown. Must be called in the child of a fork, where the process's
 * memory is not open for reading. */
void compilations_forked(void);

/*
 * Returns the frame of the method (stack_tree.h) that the calling thread compiles; 0 if it compiles none or the method
 * is unknown. May be called inside of malloc. May change errno.
 *
 * A compiler thread, known by its name, makes two system calls of some 0.5 us in each sample, and a dozen in the sample
 * that looks the method up. Any other thread makes one system call, in its first sample only.
 */
uint64_t compilation_frame(const void *thread);

#endif
