/*
 * What C libraries do differently, as one built object meets glibc and musl: which one it is, and the services that
 * only one of them has. What one lacks is a weak reference (platform/glibc_versions.h) that is asked for here.
 */
#ifndef MALLOMETER_PLATFORM_LIBC_H
#define MALLOMETER_PLATFORM_LIBC_H

#include <stdbool.h>

#include "platform/visibility.h"

/*
 * Whether the process has glibc itself. False where another C library answers by glibc's names (gcompat). Enters the
 * loader.
 */
bool libc_is_glibc(void);

/*
 * Whether the process has musl. Not a matter of names: musl has glibc's, where gcompat brings them. Enters the loader.
 */
bool libc_is_musl(void);

/* NULL, or why nothing can be counted over this C library, in words. Enters the loader. */
const char *libc_objection(void);

/* The same for a process that runs already. */
const char *libc_objection_to_attach(void);

/* How the names of libraries' files end. */
extern HIDDEN const char library_suffix[];

/* The environment's variable that names libraries to be loaded before the program's. */
extern HIDDEN const char preload_variable[];

/* False in a process without threads: glibc before 2.34 has the functions for keys only beside libpthread. */
bool thread_keys_exist(void);

/* A function of glibc's own library; NULL if it is not glibc. */
const void *address_in_libc(void);

/*
 * Has functions called before each fork, and after it in the parent and in the child, as long as the library is loaded.
 * Not where the C library cannot. Allocates; enters the loader.
 */
void around_forks(void (*before)(void), void (*in_parent)(void), void (*in_child)(void));
void after_fork_in_child(void (*run)(void));

/*
 * Whether dlopen looks at its return address, to know whose search path and namespace apply. musl's does not. Enters
 * the loader.
 */
bool dlopen_knows_callers(void);

/* The status of a process whose C library does not tell it at exit. */
#define STATUS_NOT_TOLD (-1)

/* The recording's function and the report's. */
enum { MOST_AT_EXIT = 2 };

/* Has a function called when the process calls exit(), with the status or STATUS_NOT_TOLD: of several the latest first,
 * of more than MOST_AT_EXIT not all. Allocates. One thread at a time. */
void at_exit(void (*run)(int status));

#endif
