/*
 * Tests, in a child process that may crash (platform/child.h), features that could end the program.
 *
 * Known releases of glibc free an object in a slot like an object that glibc has mapped itself; an unknown release may
 * abort. A sandbox may end a process that reads memory by system calls. Kernels before 5.18 end a process in which a
 * watchpoint raises a blocked signal. The child runs with the same glibc and the settings of glibc with which the
 * program started, but without code or data of the program.
 */
#ifndef MALLOMETER_LEAK_SAFETY_TEST_H
#define MALLOMETER_LEAK_SAFETY_TEST_H

#include "platform/resident_memory.h"

/* Stores the settings of glibc when the process starts, before the program changes the environment. */
void safety_test_store_environment(char *const environment[]);

/* Returns NULL if glibc's own free() can free objects in slots (slots.h); otherwise why not, or why that is unknown. */
const char *safety_test_slots(void);

/* Returns NULL if memory can be copied in this way (platform/resident_memory.h); otherwise why not. */
const char *safety_test_copying(enum memory_copying by);

/* Returns NULL if mincore reports which pages are in memory; otherwise why not. */
const char *safety_test_mincore(void);

/* Returns NULL if the kernel reports cached pages of files (platform/page_cache.h); otherwise why not. */
const char *safety_test_page_cache(void);

/* Returns NULL if watchpoints (watch.h) work and do not end the process; otherwise why not. */
const char *safety_test_watchpoints(void);

#endif
