/*
 * Four native methods of the bridge's class io.mallometer.internal.interposer.DirectCalls, by which it calls the
 * functions of mallometer.h. They spare the bridge JNA, which takes a JVM as long to load as all the rest of the bridge's
 * start. Only the class loader that loads the library by its path can use them; the path leads to the copy that the
 * process has.
 *
 * A function's number is its row in a table that is generated from mallometer.h. The bridge has the same numbers. It
 * first calls row 0, which returns the version of the interface, and uses the table only if that is its own version.
 */
#include <dlfcn.h>
#include <jni.h>
#include <stddef.h>
#include <stdint.h>

#include "mallometer.h"
/* This must follow mallometer.h, whose functions it lists. */
#include "abi_functions.h"
#include "platform/glibc_versions.h"
#include "platform/memory.h"
#include "platform/visibility.h"

#define METHOD(name) Java_io_mallometer_internal_interposer_DirectCalls_##name

/* As javac's headers declare them. */
EXPORT jlong METHOD(function)(JNIEnv *, jclass, jint);
EXPORT jint METHOD(call)(JNIEnv *, jclass, jlong, jlong, jlong, jlong, jlong, jlong);
EXPORT jobject METHOD(allocate)(JNIEnv *, jclass, jint);
EXPORT jlong METHOD(address)(JNIEnv *, jclass, jobject);
EXPORT void METHOD(free)(JNIEnv *, jclass, jobject);

/* Another copy of the library, which a file that was replaced leads to, counts nothing. */
static int is_the_process_own(void) { return dlsym(RTLD_DEFAULT, "mallometer_abi_version") == functions[0]; }

/* The address of a function; 0 if this library has none of that number, or is not the one that counts. */
EXPORT jlong METHOD(function)(JNIEnv *thread, jclass class, jint number) {
  (void)thread, (void)class;
  const int known = number >= 0 && (size_t)number < sizeof functions / sizeof *functions;
  return known && is_the_process_own() ? (jlong)(uintptr_t)functions[number] : 0;
}

/* Calls a function of up to five integers or pointers: all are passed in registers, and those it has not are ignored.
 */
EXPORT jint METHOD(call)(JNIEnv *thread, jclass class, jlong function, jlong a, jlong b, jlong c, jlong d, jlong e) {
  (void)thread, (void)class;
  return ((jint(*)(jlong, jlong, jlong, jlong, jlong))(uintptr_t)function)(a, b, c, d, e);
}

/*
 * Zeroed memory as a direct buffer; NULL if there is none, or nothing is asked for. Whole pages of its own, since the
 * library may be loaded where another allocator serves, and knows none then.
 */
EXPORT jobject METHOD(allocate)(JNIEnv *thread, jclass class, jint bytes) {
  (void)class;
  void *memory = bytes > 0 ? memory_map(NULL, (size_t)bytes) : NULL;
  if (!memory) return NULL;
  jobject buffer = (*thread)->NewDirectByteBuffer(thread, memory, bytes);
  if (!buffer) memory_unmap(memory, (size_t)bytes);
  return buffer;
}

/* Where a direct buffer is. */
EXPORT jlong METHOD(address)(JNIEnv *thread, jclass class, jobject buffer) {
  (void)class;
  return (jlong)(uintptr_t)(*thread)->GetDirectBufferAddress(thread, buffer);
}

/* Gives back what `allocate` returned. */
EXPORT void METHOD(free)(JNIEnv *thread, jclass class, jobject buffer) {
  (void)class;
  size_t bytes = (size_t)(*thread)->GetDirectBufferCapacity(thread, buffer);
  memory_unmap((*thread)->GetDirectBufferAddress(thread, buffer), bytes);
}
