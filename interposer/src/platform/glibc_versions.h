/*
 * The symbol versions of the C library that the built object may need.
 *
 * If a preloaded object needs a version that the system lacks, no program in the container can start. glibc 2.34
 * introduced new versions of the functions below. This library uses their old versions, which glibc still offers and
 * which depend on the processor (platform/arch.h). Each file that calls one of these functions must include this
 * header; the build checks the result (cmake/check_symbols.sh).
 *
 * musl ignores versions, but ends the program before main if the preloaded object refers to a function that musl lacks.
 * References to such functions are therefore weak, and are checked before each call (platform/libc.h). The test `musl`
 * verifies that.
 */
#ifndef MALLOMETER_PLATFORM_GLIBC_VERSIONS_H
#define MALLOMETER_PLATFORM_GLIBC_VERSIONS_H

#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>

#include "platform/arch.h"

#ifndef __APPLE__ /* macOS has only one version of each function */

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

/* The symbol versions of malloc's family. aligned_alloc() has a version of its own, because glibc added it later. */
#define VERSION_OF_MALLOC GLIBC_FIRST
#define VERSION_OF_ALIGNED_ALLOC GLIBC_OF_ALIGNED_ALLOC

/* A process with glibc before 2.34 and without libpthread lacks these functions. */
#pragma weak pthread_key_create
#pragma weak pthread_key_delete
#pragma weak pthread_setspecific
#pragma weak pthread_create
#pragma weak pthread_attr_setstacksize
#pragma weak pthread_getcpuclockid

/* musl lacks these functions. */
#pragma weak dlvsym
#pragma weak dladdr1
#pragma weak gnu_get_libc_version
#pragma weak on_exit

/* glibc's pthread_atfork(), which is statically linked, calls this function. glibc removes the handlers when
 * `object` is unloaded. */
extern int __register_atfork(void (*prepare)(void), void (*parent)(void), void (*child)(void), void *object);
#pragma weak __register_atfork

#endif

#endif
