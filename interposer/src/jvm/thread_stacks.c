/* Reads the JVM's structure of each thread, which may be freed meanwhile. See thread_stacks.h. */
#include "jvm/thread_stacks.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "jvm/vm_structs.h"
#include "platform/readable_memory.h"

/* The largest stack that counts as plausible: a thread that ends leaves arbitrary words behind. */
#define LARGEST_STACK ((uint64_t)1 << 32)

struct stack {
  uint64_t end, bytes;
};

static bool stack_of(uintptr_t thread, uint64_t end_at, uint64_t bytes_at, struct stack *stack) {
  return thread && own_memory_read(thread + end_at, &stack->end, sizeof stack->end) &&
         own_memory_read(thread + bytes_at, &stack->bytes, sizeof stack->bytes) && stack->bytes > 0 &&
         stack->bytes <= LARGEST_STACK && stack->bytes <= stack->end && stack->end % SMALLEST_PAGE == 0;
}

static void fill(JNIEnv *env, jobjectArray threads, jfieldID structure, const uint64_t at[2], jlongArray ranges) {
  jsize count = (*env)->GetArrayLength(env, threads);
  for (jsize i = 0; i < count; i++) {
    struct stack stack;
    jobject thread = (*env)->GetObjectArrayElement(env, threads, i);
    if (!thread) continue;
    if (stack_of((uintptr_t)(*env)->GetLongField(env, thread, structure), at[0], at[1], &stack)) {
      const jlong range[] = {(jlong)(stack.end - stack.bytes), (jlong)stack.end};
      (*env)->SetLongArrayRegion(env, ranges, 2 * i, 2, range);
    }
    (*env)->DeleteLocalRef(env, thread);
  }
}

jlongArray thread_stacks(JNIEnv *env, jobjectArray threads) {
  uint64_t at[2];
  bool known = vm_structs_field("JavaThread", "_stack_base", false, &at[0]) &&
               vm_structs_field("JavaThread", "_stack_size", false, &at[1]);
  jclass class = known ? (*env)->FindClass(env, "java/lang/Thread") : NULL;
  jfieldID structure = class ? (*env)->GetFieldID(env, class, "eetop", "J") : NULL;
  jlongArray ranges = structure ? (*env)->NewLongArray(env, 2 * (*env)->GetArrayLength(env, threads)) : NULL;
  if (known) (*env)->ExceptionClear(env);
  if (!ranges || !own_memory_open()) return NULL;
  fill(env, threads, structure, at, ranges);
  own_memory_close();
  return ranges;
}
