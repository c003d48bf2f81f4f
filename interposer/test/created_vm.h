/* Makes a test program look like a JVM. Defines JNI_GetCreatedJavaVMs(), by which the library finds a JVM, and other
 * functions of the JVM. The test program defines get_env(). */
#ifndef MALLOMETER_TEST_CREATED_VM_H
#define MALLOMETER_TEST_CREATED_VM_H

#include <jvmti.h>
#include <stdlib.h>

#include "check.h"

static jint JNICALL get_env(JavaVM *vm, void **env, jint version);

static const struct JNIInvokeInterface_ vm_functions = {.GetEnv = get_env};
static JavaVM vm = &vm_functions;

jint JNICALL JNI_GetCreatedJavaVMs(JavaVM **vms, jsize capacity, jsize *count) {
  CHECK(capacity >= 1);
  vms[0] = &vm;
  *count = 1;
  return JNI_OK;
}

static jint JNICALL push_frame(JNIEnv *env, jint capacity) {
  (void)env, (void)capacity;
  return 0;
}

static jobject JNICALL pop_frame(JNIEnv *env, jobject result) {
  (void)env;
  return result;
}

static jvmtiError JNICALL deallocate(jvmtiEnv *env, unsigned char *memory) {
  (void)env;
  free(memory);
  return JVMTI_ERROR_NONE;
}

#endif
