/* Reads the JVM's structure of each thread. The structure may be freed meanwhile. See thread_stacks.h. */
#include "jvm/thread_stacks.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "jvm/vm_structs.h"
#include "platform/readable_memory.h"

/* A larger size is implausible: the JVM's structure of a thread that ends may have arbitrary values. */
#define LARGEST_STACK ((uint64_t)1 << 32)

/* The smallest alignment of stacks that the C libraries guarantee. */
#define STACK_ALIGNMENT 16u

/* The most words that one read copies from the JVM's structure of a thread. The read must cover both fields that
 * describe the thread's stack: its end and its size. */
enum { MOST_WORDS = 16 };

/* Offsets in the JVM's structure of a thread. The field at offset `end` has the end of the thread's stack, and the
 * field at offset `bytes` has the size of the stack. One read of `length` bytes at offset `first` copies both
 * fields. */
static struct {
  bool is_sought, is_known;
  uint64_t end, bytes, first, length;
} at;

struct stack {
  uint64_t end, bytes;
};

static bool find_fields(void) {
  if (at.is_sought) return at.is_known;
  bool is_found = vm_structs_field("JavaThread", "_stack_base", false, &at.end) &&
                  vm_structs_field("JavaThread", "_stack_size", false, &at.bytes);
  at.first = at.end < at.bytes ? at.end : at.bytes;
  at.length = (at.end < at.bytes ? at.bytes - at.end : at.end - at.bytes) + sizeof(uint64_t);
  at.is_known = is_found && at.length <= MOST_WORDS * sizeof(uint64_t);
  at.is_sought = true;
  return at.is_known;
}

static bool stack_of(uintptr_t thread, struct stack *stack) {
  char words[MOST_WORDS * sizeof(uint64_t)];
  if (!thread || !own_memory_read(thread + at.first, words, at.length)) return false;
  memcpy(&stack->end, words + (at.end - at.first), sizeof stack->end);
  memcpy(&stack->bytes, words + (at.bytes - at.first), sizeof stack->bytes);
  return stack->bytes > 0 && stack->bytes <= LARGEST_STACK && stack->bytes <= stack->end &&
         stack->end % STACK_ALIGNMENT == 0;
}

static void fill(JNIEnv *env, jobjectArray threads, jfieldID structure, jlongArray ranges) {
  jsize count = (*env)->GetArrayLength(env, threads);
  for (jsize i = 0; i < count; i++) {
    struct stack stack;
    jobject thread = (*env)->GetObjectArrayElement(env, threads, i);
    if (!thread) continue;
    if (stack_of((uintptr_t)(*env)->GetLongField(env, thread, structure), &stack)) {
      const jlong range[] = {(jlong)(stack.end - stack.bytes), (jlong)stack.end};
      (*env)->SetLongArrayRegion(env, ranges, 2 * i, 2, range);
    }
    (*env)->DeleteLocalRef(env, thread);
  }
}

jlongArray thread_stacks(JNIEnv *env, jobjectArray threads) {
  bool known = find_fields();
  jclass class = known ? (*env)->FindClass(env, "java/lang/Thread") : NULL;
  jfieldID structure = class ? (*env)->GetFieldID(env, class, "eetop", "J") : NULL;
  jlongArray ranges = structure ? (*env)->NewLongArray(env, 2 * (*env)->GetArrayLength(env, threads)) : NULL;
  if (known) (*env)->ExceptionClear(env);
  if (!ranges || !own_memory_open()) return NULL;
  fill(env, threads, structure, ranges);
  own_memory_leave();
  return ranges;
}
