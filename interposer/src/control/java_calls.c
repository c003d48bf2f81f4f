/*
 * How the Java bridge calls the functions of mallometer.h without a library for native calls in between, which would
 * take a JVM most of the bridge's start: four native methods of its class
 * io.mallometer.internal.interposer.DirectCalls. The class loader that loads the library by its path has them; the path
 * leads to the copy that the process has.
 *
 * A function has the number of its row below. Numbers never change: a bridge may be older or newer than the library.
 */
#include <dlfcn.h>
#include <jni.h>
#include <stdint.h>

#include "mallometer.h"
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

static void *const functions[] = {
    mallometer_abi_version,
    mallometer_snapshot,
    mallometer_thread_snapshot,
    mallometer_self,
    mallometer_events,
    mallometer_allocator,
    mallometer_jvm_attach,
    mallometer_method_name,
    mallometer_sites,
    mallometer_site_stack,
    mallometer_modules,
    mallometer_objects,
    mallometer_leaks_start,
    mallometer_leaks_stop,
    mallometer_leaks,
    mallometer_evidence,
    mallometer_watch,
    mallometer_accesses,
    mallometer_search_start,
    mallometer_search,
    mallometer_configure,
    mallometer_record,
    mallometer_recording,
    mallometer_trim,
    mallometer_attach,
    mallometer_attach_check,
    mallometer_detach,
    mallometer_scope_open,
    mallometer_scope_read,
    mallometer_scope_close,
    mallometer_scope_objects,
    mallometer_owners_begin,
    mallometer_owners_step,
    mallometer_owners_rows,
    mallometer_owners_name,
    mallometer_owners_end,
    mallometer_neighbours,
    mallometer_threshold_open,
    mallometer_threshold_read,
    mallometer_threshold_close,
    mallometer_monitor_register,
    mallometer_monitor_unregister,
    mallometer_count_actual,
};

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
