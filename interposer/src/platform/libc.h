/*
 * The differences between the C libraries glibc and musl. The same built library runs with both, so these functions
 * find out which one the process has. Functions that only one of them has are called through weak references
 * (platform/glibc_versions.h).
 */
#ifndef MALLOMETER_PLATFORM_LIBC_H
#define MALLOMETER_PLATFORM_LIBC_H

#include <stdbool.h>

#include "platform/visibility.h"

/* Returns whether the process has glibc; false for a C library that only offers glibc's names (gcompat). Enters the
 * loader. */
bool libc_is_glibc(void);

/* Returns whether the process has musl, even if gcompat adds glibc's names. Enters the loader. */
bool libc_is_musl(void);

/* Returns why allocations cannot be counted with this C library; NULL if they can. Enters the loader. */
const char *libc_objection(void);

/* Returns why the library cannot attach to a running process with this C library; NULL if it can. */
const char *libc_objection_to_attach(void);

extern HIDDEN const char library_suffix[];

extern HIDDEN const char preload_variable[];

/* Returns whether pthread_key_create(3) exists. Before version 2.34, glibc has it only in libpthread, which a program
 * without threads does not load. */
bool thread_keys_exist(void);

/* Returns some address in glibc's libc.so.6; NULL if the process does not have glibc. */
const void *address_in_libc(void);

/* Registers handlers that run before each fork, and after each fork in the parent and in the child. The handlers
 * stay registered while the library is loaded. Does nothing if the C library has no such service. Allocates; enters
 * the loader. */
void around_forks(void (*before)(void), void (*in_parent)(void), void (*in_child)(void));
void after_fork_in_child(void (*run)(void));

/* Returns whether dlopen uses the search path and the namespace of its caller; false with musl. Enters the loader. */
bool dlopen_depends_on_caller(void);

/* The status that at_exit() passes if the C library does not report the exit status. */
#define STATUS_NOT_TOLD (-1)

/* The recording, the termination message and the exit report register one function each. */
enum { MOST_AT_EXIT = 3 };

/*
 * Registers a function that exit() calls, with the exit status or STATUS_NOT_TOLD. The function that was registered
 * last is called first. At most MOST_AT_EXIT may be registered. Allocates. Only one thread may call this at a time.
 */
void at_exit(void (*run)(int status));

#endif
