/*
 * Symbol versions of the C library that the built object may need.
 *
 * A preloaded object that needs a version the system lacks keeps every program in the container from starting.
 * glibc 2.34 moved the functions below into libc.so.6 under a new version; the old one, of which each processor has its
 * own (platform/arch.h), is served by all releases since (from libdl.so.2, which the object names as needed, and
 * libpthread.so.0). Include this in every file that calls one of them; the build checks the result
 * (cmake/check_symbols.sh).
 *
 * musl loads an object that was built on glibc: it takes the names of glibc's libraries for its own and reads no
 * versions. But it ends a program before main if the preloaded object refers to a function that musl lacks. References
 * to such functions are weak, and none is called before it is known to be there (platform/libc.h); the test `musl`
 * checks the result.
 */
#ifndef MALLOMETER_PLATFORM_GLIBC_VERSIONS_H
#define MALLOMETER_PLATFORM_GLIBC_VERSIONS_H

#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>

#include "platform/arch.h"

#ifndef __APPLE__ /* which has each of these in one version */

#include <gnu/libc-version.h>

OLD_SYMBOL(dlsym, GLIBC_FIRST);
OLD_SYMBOL(dlvsym, GLIBC_FIRST);
OLD_SYMBOL(dlerror, GLIBC_FIRST);
OLD_SYMBOL(dladdr, GLIBC_FIRST);
OLD_SYMBOL(dladdr1, GLIBC_OF_DLADDR1);
OLD_SYMBOL(pthread_key_create, GLIBC_FIRST);
OLD_SYMBOL(pthread_key_delete, GLIBC_FIRST);
OLD_SYMBOL(pthread_setspecific, GLIBC_FIRST);
OLD_SYMBOL(pthread_create, GLIBC_FIRST);
OLD_SYMBOL(pthread_attr_setstacksize, GLIBC_FIRST);
OLD_SYMBOL(pthread_getcpuclockid, GLIBC_FIRST);

/* The versions under which programs ask the C library for malloc's family, and for aligned_alloc, which is younger. */
#define VERSION_OF_MALLOC GLIBC_FIRST
#define VERSION_OF_ALIGNED_ALLOC GLIBC_OF_ALIGNED_ALLOC

/* Absent in a process of glibc before 2.34 that has not loaded libpthread. */
#pragma weak pthread_key_create
#pragma weak pthread_key_delete
#pragma weak pthread_setspecific
#pragma weak pthread_create
#pragma weak pthread_attr_setstacksize
#pragma weak pthread_getcpuclockid

/* Absent in musl. */
#pragma weak dlvsym
#pragma weak dladdr1
#pragma weak gnu_get_libc_version
#pragma weak on_exit

/* pthread_atfork, which is linked in statically, is this; the object is the one whose end removes the handlers. */
extern int __register_atfork(void (*prepare)(void), void (*parent)(void), void (*child)(void), void *object);
#pragma weak __register_atfork

#endif

#endif
