/*
 * Symbol versions of the C library that the built object may need.
 *
 * A preloaded object that needs a version the system lacks keeps every program in the container from starting.
 * glibc 2.34 moved the functions below into libc.so.6 under a new version; the old one is served by all releases
 * since 2002 (from libdl.so.2, which the object names as needed, and libpthread.so.0). Include this in every file
 * that calls one of them; the build checks the result (cmake/check_symbols.sh).
 *
 * musl loads an object that was built on glibc: it takes the names of glibc's libraries for its own and reads no
 * versions. But it ends a program before main if the preloaded object refers to a function that musl lacks. References
 * to such functions are weak, and none is called before it is known to be there; the test `musl` checks the result.
 */
#ifndef MALLOMETER_PLATFORM_GLIBC_VERSIONS_H
#define MALLOMETER_PLATFORM_GLIBC_VERSIONS_H

#include <dlfcn.h>
#include <gnu/libc-version.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>

#if defined(__GLIBC__) && defined(__x86_64__)
__asm__(".symver dlsym, dlsym@GLIBC_2.2.5");
__asm__(".symver dlvsym, dlvsym@GLIBC_2.2.5");
__asm__(".symver dlerror, dlerror@GLIBC_2.2.5");
__asm__(".symver dladdr, dladdr@GLIBC_2.2.5");
__asm__(".symver dladdr1, dladdr1@GLIBC_2.3.3");
__asm__(".symver pthread_key_create, pthread_key_create@GLIBC_2.2.5");
__asm__(".symver pthread_key_delete, pthread_key_delete@GLIBC_2.2.5");
__asm__(".symver pthread_setspecific, pthread_setspecific@GLIBC_2.2.5");
__asm__(".symver pthread_create, pthread_create@GLIBC_2.2.5");
__asm__(".symver pthread_attr_setstacksize, pthread_attr_setstacksize@GLIBC_2.2.5");
#endif

/* The versions under which programs ask the C library for malloc's family, and for aligned_alloc, which is younger. */
#if defined(__GLIBC__) && defined(__x86_64__)
#define VERSION_OF_MALLOC "GLIBC_2.2.5"
#define VERSION_OF_ALIGNED_ALLOC "GLIBC_2.16"
#elif defined(__GLIBC__) && defined(__aarch64__)
#define VERSION_OF_MALLOC "GLIBC_2.17"
#define VERSION_OF_ALIGNED_ALLOC "GLIBC_2.17"
#else
#define VERSION_OF_MALLOC NULL
#define VERSION_OF_ALIGNED_ALLOC NULL
#endif

/* Absent in a process of glibc before 2.34 that has not loaded libpthread. */
#pragma weak pthread_key_create
#pragma weak pthread_key_delete
#pragma weak pthread_setspecific
#pragma weak pthread_create
#pragma weak pthread_attr_setstacksize

/* Absent in musl. */
#pragma weak dlvsym
#pragma weak dladdr1
#pragma weak gnu_get_libc_version
#pragma weak on_exit

/* pthread_atfork, which is linked in statically, is this; the object is the one whose end removes the handlers. */
extern int __register_atfork(void (*prepare)(void), void (*parent)(void), void (*child)(void), void *object);
#pragma weak __register_atfork

static inline bool libc_is_glibc(void) { return gnu_get_libc_version != NULL; }

#endif
