/* Lists the classes that the JVM has loaded, by a JVMTI environment that exists only during the call. The
 * environment costs the JVM nothing, because it requests no capabilities and no events. */
#include "jvm/loaded_classes.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "jvm/attach.h"

/* The most endings of class names that loaded_classes() compares. The function ignores further endings. */
#define MOST_ENDINGS 16

struct ending {
  jstring text;
  const char *bytes;
  size_t length;
};

static bool ends_with_one(const char *signature, const struct ending *endings, jsize count) {
  const size_t length = strlen(signature);
  for (jsize i = 0; i < count; i++) {
    const size_t tail = endings[i].length;
    if (length >= tail && memcmp(signature + length - tail, endings[i].bytes, tail) == 0) return true;
  }
  return false;
}

static bool is_wanted(jvmtiEnv *tools, jclass class, const struct ending *endings, jsize count) {
  char *signature = NULL;
  jint status = 0;
  if ((*tools)->GetClassSignature(tools, class, &signature, NULL) != JVMTI_ERROR_NONE) return false;
  const bool named = ends_with_one(signature, endings, count);
  (*tools)->Deallocate(tools, (unsigned char *)signature);
  return named && (*tools)->GetClassStatus(tools, class, &status) == JVMTI_ERROR_NONE &&
         (status & JVMTI_CLASS_STATUS_INITIALIZED) && !(status & JVMTI_CLASS_STATUS_ERROR);
}

static jsize select_classes(jvmtiEnv *tools, jclass *classes, jint all, const struct ending *endings, jsize count) {
  jsize wanted = 0;
  for (jint i = 0; i < all; i++) {
    if (is_wanted(tools, classes[i], endings, count)) classes[wanted++] = classes[i];
  }
  return wanted;
}

static jobjectArray array_of(JNIEnv *thread, const jclass *classes, jsize count) {
  jclass class = (*thread)->FindClass(thread, "java/lang/Class");
  jobjectArray array = class ? (*thread)->NewObjectArray(thread, count, class, NULL) : NULL;
  if (!array) (*thread)->ExceptionClear(thread);
  for (jsize i = 0; array && i < count; i++) (*thread)->SetObjectArrayElement(thread, array, i, classes[i]);
  return array;
}

static jobjectArray list(jvmtiEnv *tools, JNIEnv *thread, const struct ending *endings, jsize count) {
  jclass *classes = NULL;
  jint all = 0;
  if ((*tools)->GetLoadedClasses(tools, &all, &classes) != JVMTI_ERROR_NONE) return NULL;
  jobjectArray array = array_of(thread, classes, select_classes(tools, classes, all, endings, count));
  (*tools)->Deallocate(tools, (unsigned char *)classes);
  return array;
}

static jsize read_endings(JNIEnv *thread, jobjectArray texts, struct ending *endings) {
  jsize count = (*thread)->GetArrayLength(thread, texts), read = 0;
  if (count > MOST_ENDINGS) count = MOST_ENDINGS;
  for (; read < count; read++) {
    jstring text = (*thread)->GetObjectArrayElement(thread, texts, read);
    const char *bytes = text ? (*thread)->GetStringUTFChars(thread, text, NULL) : NULL;
    if (!bytes) {
      (*thread)->ExceptionClear(thread);
      break;
    }
    endings[read] = (struct ending){.text = text, .bytes = bytes, .length = strlen(bytes)};
  }
  return read;
}

jobjectArray loaded_classes(JNIEnv *thread, jobjectArray texts) {
  struct ending endings[MOST_ENDINGS];
  JavaVM *vm;
  JNIEnv *calling;
  void *environment;
  if (jvm_find(&vm, &calling) != 0 || (*vm)->GetEnv(vm, &environment, JVMTI_VERSION_1_2) != JNI_OK) return NULL;
  jvmtiEnv *tools = environment;
  const jsize count = read_endings(thread, texts, endings);
  jobjectArray array = list(tools, thread, endings, count);
  for (jsize i = 0; i < count; i++) {
    (*thread)->ReleaseStringUTFChars(thread, endings[i].text, endings[i].bytes);
  }
  (*tools)->DisposeEnvironment(tools);
  return array;
}
