/*
 * Tests features that could end the program in a child process, which may end (platform/child.h).
 *
 * Known releases of glibc free an object whose page looks like one that glibc has mapped; another release may abort. A
 * sandbox may end a process that reads memory by system calls. Kernels before 5.18 end a process in which a watchpoint
 * raises a blocked signal. The child has the same glibc, with the settings that the program started with, and nothing
 * of the program's.
 */
#ifndef MALLOMETER_LEAK_SAFETY_TEST_H
#define MALLOMETER_LEAK_SAFETY_TEST_H

#include "platform/resident_memory.h"

/* Stores the settings of glibc when the process starts, before the program changes the environment. */
void safety_test_store_environment(char *const environment[]);

/*
 * Returns NULL if glibc frees slots without the hook; else why not, or why that is unknown. Block all signals before.
 */
const char *safety_test_slots(void);

/*
 * Returns NULL if memory can be copied this way (platform/resident_memory.h); else why not. Block all signals before.
 */
const char *safety_test_copying(enum memory_copying by);

/* Returns NULL if mincore reports which pages are in memory; else why not. Block all signals before. */
const char *safety_test_mincore(void);

/* Returns NULL if the kernel reports cached pages of files (platform/page_cache.h); else why not. Block all signals
 * before. */
const char *safety_test_page_cache(void);

/* Returns NULL if watchpoints (watch.h) work and do not end the process; else why not. Block all signals before. */
const char *safety_test_watchpoints(void);

#endif
