/*
 * Native methods of the bridge's class io.mallometer.internal.library.abi.DirectCalls, by which the bridge calls the
 * functions of mallometer.h. They replace JNA: loading JNA takes as long as the start of the rest of the bridge. The
 * JVM binds them to the class loader that loads the library by its path; other class loaders cannot use them. Loading
 * by the path returns the copy that the process already has, unless the file was replaced (is_counting_copy()).
 *
 * A function's number is its row in a table that is generated from mallometer.h. The bridge has the same numbers. It
 * first calls row 0, which returns the version of the interface, and uses the table only if the bridge has this
 * version.
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

/* Declares the native methods as the headers do that javac generates. */
EXPORT jlong METHOD(function)(JNIEnv *, jclass, jint);
EXPORT jint METHOD(call)(JNIEnv *, jclass, jlong, jlong, jlong, jlong, jlong, jlong);
EXPORT jobject METHOD(allocate)(JNIEnv *, jclass, jint);
EXPORT jlong METHOD(address)(JNIEnv *, jclass, jobject);
EXPORT void METHOD(free)(JNIEnv *, jclass, jobject);
EXPORT jobjectArray METHOD(classes)(JNIEnv *, jclass, jobjectArray);
EXPORT jlongArray METHOD(stacks)(JNIEnv *, jclass, jobjectArray);
EXPORT jlong METHOD(cached)(JNIEnv *, jclass, jint, jlong, jlong);

/* Returns whether this copy of the library is the one that the program calls. The path by which the bridge loads the
 * library may lead to a newer file, which is then loaded as a second copy. */
static int is_counting_copy(void) { return dlsym(RTLD_DEFAULT, "mallometer_abi_version") == functions[0]; }

/*
 * Returns the address of a function; 0 if no function has this number, or if this copy is not the one that the program
 * calls.
 */
EXPORT jlong METHOD(function)(JNIEnv *thread, jclass class, jint number) {
  (void)thread, (void)class;
  const int known = number >= 0 && (size_t)number < sizeof functions / sizeof *functions;
  return known && is_counting_copy() ? (jlong)(uintptr_t)functions[number] : 0;
}

/* Calls a function with up to five integers or pointers. All five are passed in registers, and the function does not
 * read registers beyond its own parameters. */
EXPORT jint METHOD(call)(JNIEnv *thread, jclass class, jlong function, jlong a, jlong b, jlong c, jlong d, jlong e) {
  (void)thread, (void)class;
  return ((jint(*)(jlong, jlong, jlong, jlong, jlong))(uintptr_t)function)(a, b, c, d, e);
}

/*
 * Returns zeroed memory as a direct buffer; NULL if there is none, or `bytes` is not positive. Maps pages instead of
 * calling malloc, because a library that does not serve the process may know no allocator.
 */
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

/* Unmaps a buffer that `allocate` returned. */
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

/* Tests once, in a child process, whether the kernel reports the page cache. Only one thread may call this at a
 * time. */
static int may_ask_for_page_cache(void) {
  static int tried, allowed;
  if (!tried) allowed = safety_test_page_cache() == NULL;
  tried = 1;
  return allowed;
}

/*
 * Returns how many bytes of an open file, or of a mapping if the descriptor `file` is negative, are in the page cache;
 * a negative errno value if the kernel does not report that. See platform/page_cache.h.
 */
EXPORT jlong METHOD(cached)(JNIEnv *thread, jclass class, jint file, jlong begin, jlong bytes) {
  (void)thread, (void)class;
  if (!may_ask_for_page_cache()) return -ENOSYS;
  return file >= 0 ? page_cache_of_file(file) : page_cache_of_mapping((uintptr_t)begin, (size_t)bytes);
}
