/*
 * Tests, in a child process that may crash (platform/child.h), features that could end the program.
 *
 * An unknown release of glibc may abort when an object in a slot (pages of a single object, slots.h) is freed. A
 * sandbox may end a process that reads memory by system calls. Kernels before 5.18 end a process in which a watchpoint
 * raises a blocked signal. The child runs with the program's glibc and its settings, but without code or data of the
 * program.
 */
#ifndef MALLOMETER_LEAK_SAFETY_TEST_H
#define MALLOMETER_LEAK_SAFETY_TEST_H

#include "platform/resident_memory.h"

/* Stores the settings of glibc at the start of the process, before the program changes the environment. */
void safety_test_store_environment(char *const environment[]);

/* Returns NULL if glibc's own free() can free objects in slots (slots.h). Otherwise returns the reason: free()
 * cannot, or the test could not be run. */
const char *safety_test_slots(void);

const char *safety_test_copying(enum memory_copying by);

const char *safety_test_mincore(void);

const char *safety_test_page_cache(void);

const char *safety_test_watchpoints(void);

#endif
