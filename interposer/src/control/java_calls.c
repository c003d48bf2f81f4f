/*
 * The native methods of io.mallometer.internal.library.abi.DirectCalls, by which Java calls the functions of
 * mallometer.h. They replace JNA, which takes as long to load as the rest of the bridge takes to start. The JVM binds
 * them only for the class loader that loads the library by its path.
 *
 * Java names a function by its row in a table that is generated from mallometer.h. Row 0 returns the version of the
 * interface; Java must know this version to use the other rows.
 */
#include <dlfcn.h>
#include <errno.h>
#include <jni.h>
#include <stddef.h>
#include <stdint.h>

#include "mallometer.h"
/* This must follow mallometer.h, whose functions it lists. */
#include "abi_functions.h"
#include "jvm/loaded_classes.h"
#include "jvm/thread_stacks.h"
#include "leak/safety_test.h"
#include "platform/glibc_versions.h"
#include "platform/memory.h"
#include "platform/page_cache.h"
#include "platform/visibility.h"

#define METHOD(name) Java_io_mallometer_internal_library_abi_DirectCalls_##name

EXPORT jlong METHOD(function)(JNIEnv *, jclass, jint);
EXPORT jint METHOD(call)(JNIEnv *, jclass, jlong, jlong, jlong, jlong, jlong, jlong);
EXPORT jobject METHOD(allocate)(JNIEnv *, jclass, jint);
EXPORT jlong METHOD(address)(JNIEnv *, jclass, jobject);
EXPORT void METHOD(free)(JNIEnv *, jclass, jobject);
EXPORT jobjectArray METHOD(classes)(JNIEnv *, jclass, jobjectArray);
EXPORT jlongArray METHOD(stacks)(JNIEnv *, jclass, jobjectArray);
EXPORT jlong METHOD(cached)(JNIEnv *, jclass, jint, jlong, jlong);

/* Returns whether the program calls this copy of the library. If the library's file was replaced, loading it by its
 * path adds a second copy. */
static int is_counting_copy(void) { return dlsym(RTLD_DEFAULT, "mallometer_abi_version") == functions[0]; }

/* Returns the address of a function; 0 if the number is unknown or the program calls another copy of the library. */
EXPORT jlong METHOD(function)(JNIEnv *thread, jclass class, jint number) {
  (void)thread, (void)class;
  const int known = number >= 0 && (size_t)number < sizeof functions / sizeof *functions;
  return known && is_counting_copy() ? (jlong)(uintptr_t)functions[number] : 0;
}

/* Calls a function with up to five integers or pointers. All are passed in registers, so a function with fewer
 * parameters ignores the rest. */
EXPORT jint METHOD(call)(JNIEnv *thread, jclass class, jlong function, jlong a, jlong b, jlong c, jlong d, jlong e) {
  (void)thread, (void)class;
  return ((jint(*)(jlong, jlong, jlong, jlong, jlong))(uintptr_t)function)(a, b, c, d, e);
}

/* Returns zeroed memory as a direct buffer; NULL if there is none or `bytes` is not positive. Maps pages instead of
 * calling malloc, because a second copy of the library may not have found an allocator. */
EXPORT jobject METHOD(allocate)(JNIEnv *thread, jclass class, jint bytes) {
  (void)class;
  void *memory = bytes > 0 ? memory_map(NULL, (size_t)bytes) : NULL;
  if (!memory) return NULL;
  jobject buffer = (*thread)->NewDirectByteBuffer(thread, memory, bytes);
  if (!buffer) memory_unmap(memory, (size_t)bytes);
  return buffer;
}

EXPORT jlong METHOD(address)(JNIEnv *thread, jclass class, jobject buffer) {
  (void)class;
  return (jlong)(uintptr_t)(*thread)->GetDirectBufferAddress(thread, buffer);
}

EXPORT void METHOD(free)(JNIEnv *thread, jclass class, jobject buffer) {
  (void)class;
  size_t bytes = (size_t)(*thread)->GetDirectBufferCapacity(thread, buffer);
  memory_unmap((*thread)->GetDirectBufferAddress(thread, buffer), bytes);
}

/* Returns the initialized classes whose signature ends with one of `endings`; NULL if the JVM does not list them. */
EXPORT jobjectArray METHOD(classes)(JNIEnv *thread, jclass class, jobjectArray endings) {
  (void)class;
  return loaded_classes(thread, endings);
}

/* Returns the address ranges of the stacks of `threads`; NULL if the JVM does not report them. */
EXPORT jlongArray METHOD(stacks)(JNIEnv *thread, jclass class, jobjectArray threads) {
  (void)class;
  return thread_stacks(thread, threads);
}

/* Tests once, in a child process, whether the kernel reports the page cache. Not thread-safe. */
static int may_ask_for_page_cache(void) {
  static int tried, allowed;
  if (!tried) allowed = safety_test_page_cache() == NULL;
  tried = 1;
  return allowed;
}

/* Returns the number of bytes in the page cache. Examines the open file `file` or, if `file` is negative, the
 * mapping at `begin`. Returns a negative errno value if the kernel does not report the number
 * (platform/page_cache.h). */
EXPORT jlong METHOD(cached)(JNIEnv *thread, jclass class, jint file, jlong begin, jlong bytes) {
  (void)thread, (void)class;
  if (!may_ask_for_page_cache()) return -ENOSYS;
  return file >= 0 ? page_cache_of_file(file) : page_cache_of_mapping((uintptr_t)begin, (size_t)bytes);
}
