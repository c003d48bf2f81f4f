/* Looks up the counters of collections, and gets the stacks of threads from JVMTI. See cleaners.h. */
#include "jvm/cleaners.h"

#include <errno.h>
#include <jvmti.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "account/thread_block.h"
#include "jvm/attach.h"
#include "jvm/perf_memory.h"
#include "jvm/vm_structs.h"
#include "platform/readable_memory.h"
#include "sample/collections.h"

/* ---- Counters ----------------------------------------------------------------------------------------- */

static struct collection_counters counters;
static bool searched, generational;
static const char *reason = "";

static uintptr_t perf_memory_word(const char *field) {
  uint64_t address;
  uintptr_t word = 0;
  if (vm_structs_field("PerfMemory", field, true, &address))
    memcpy(&word, (const void *)(uintptr_t)address, sizeof word);
  return word;
}

static const char *find_counters(void) {
  uintptr_t start = perf_memory_word("_start"), end = perf_memory_word("_end");
  if (start == 0 || end <= start) {
    return "the JVM has no counters of collections (-XX:-UsePerfData, or another JVM than HotSpot)";
  }
  if (!is_readable(start, end - start)) return "the JVM's counters of collections cannot be read";
  const char *failure = perf_memory_find((const char *)start, end - start, &counters, &generational);
  if (!*failure) collections_set(&counters);
  return failure;
}

/* ---- Cleaners ----------------------------------------------------------------------------------------- */

enum { MOST_CANDIDATES = 256, WAITING_METHODS = 3, FRAMES = 12 };

static struct {
  jvmtiEnv *tools;
  jfieldID native_thread; /* java.lang.Thread.eetop, the address of the JVM's structure of the thread */
  jmethodID waiting[WAITING_METHODS];
} jvm;

static jmethodID method_of(JNIEnv *thread, jclass class, const char *name, const char *signature, bool is_static) {
  if (!class) return NULL;
  jmethodID found = is_static ? (*thread)->GetStaticMethodID(thread, class, name, signature)
                              : (*thread)->GetMethodID(thread, class, name, signature);
  if (!found) (*thread)->ExceptionClear(thread);
  return found;
}

static bool prepare(JavaVM *vm, JNIEnv *thread) {
  void *environment;
  if (jvm.tools) return true;
  if ((*vm)->GetEnv(vm, &environment, JVMTI_VERSION_1_2) != JNI_OK) return false;
  jclass of_threads = (*thread)->FindClass(thread, "java/lang/Thread");
  jclass queue = (*thread)->FindClass(thread, "java/lang/ref/ReferenceQueue");
  jclass reference = (*thread)->FindClass(thread, "java/lang/ref/Reference");
  jvm.native_thread = of_threads ? (*thread)->GetFieldID(thread, of_threads, "eetop", "J") : NULL;
  if ((*thread)->ExceptionCheck(thread)) (*thread)->ExceptionClear(thread);
  jvm.waiting[0] = method_of(thread, queue, "remove", "()Ljava/lang/ref/Reference;", false);
  jvm.waiting[1] = method_of(thread, queue, "remove", "(J)Ljava/lang/ref/Reference;", false);
  jvm.waiting[2] = method_of(thread, reference, "waitForReferencePendingList", "()V", true);
  if (!jvm.native_thread) {
    (*(jvmtiEnv *)environment)->DisposeEnvironment(environment);
    return false;
  }
  jvm.tools = environment;
  return true;
}

static bool waits_for_references(jthread one) {
  jvmtiFrameInfo frames[FRAMES];
  jint count = 0;
  if ((*jvm.tools)->GetStackTrace(jvm.tools, one, 0, FRAMES, frames, &count) != JVMTI_ERROR_NONE) return false;
  for (jint i = 0; i < count; i++) {
    for (int j = 0; j < WAITING_METHODS; j++) {
      if (jvm.waiting[j] && frames[i].method == jvm.waiting[j]) return true;
    }
  }
  return false;
}

struct candidate {
  struct thread_block *block;
  void *handle;
  bool is_listed;
};

static uint32_t find_candidates(struct candidate *candidates) {
  uint32_t count = 0;
  for (uint32_t i = 0; i < thread_block_count() && count < MOST_CANDIDATES; i++) {
    struct thread_block *block = thread_block_at(i);
    void *handle = block ? cleaner_candidate(block) : NULL;
    if (handle) candidates[count++] = (struct candidate){block, handle, false};
  }
  return count;
}

/* Records whether the Java thread `one` waits as cleaners do, if it is among the candidates. A candidate is
 * identified by its JNIEnv, which is `distance` bytes after the start of the JVM's structure of the thread. */
static void look_at(JNIEnv *thread, jthread one, int64_t distance, struct candidate *candidates, uint32_t count) {
  int64_t handle = (*thread)->GetLongField(thread, one, jvm.native_thread) + distance;
  for (uint32_t i = 0; i < count; i++) {
    if ((int64_t)(uintptr_t)candidates[i].handle != handle) continue;
    candidates[i].is_listed = true;
    cleaner_seen(candidates[i].block, candidates[i].handle, waits_for_references(one));
  }
}

/*
 * Records for each candidate whether it is a cleaner, a thread that frees the native memory of unreachable Java
 * objects. Candidates that GetAllThreads does not return are internal or ended threads, so they are no cleaners.
 *
 * The offset of the JNIEnv in the JVM's structure of a thread is the same for all threads. It is measured in the
 * calling thread.
 */
static void look_at_candidates(JavaVM *vm, JNIEnv *thread) {
  struct candidate candidates[MOST_CANDIDATES];
  uint32_t count = find_candidates(candidates);
  jthread self = NULL, *threads = NULL;
  jint all = 0;
  if (count == 0 || !prepare(vm, thread)) return;
  if ((*jvm.tools)->GetCurrentThread(jvm.tools, &self) != JVMTI_ERROR_NONE) return;
  int64_t of_self = (*thread)->GetLongField(thread, self, jvm.native_thread);
  (*thread)->DeleteLocalRef(thread, self);
  if (of_self == 0 || (*jvm.tools)->GetAllThreads(jvm.tools, &all, &threads) != JVMTI_ERROR_NONE) return;
  for (jint i = 0; i < all; i++) {
    look_at(thread, threads[i], (int64_t)(uintptr_t)thread - of_self, candidates, count);
    (*thread)->DeleteLocalRef(thread, threads[i]);
  }
  (*jvm.tools)->Deallocate(jvm.tools, (unsigned char *)threads);
  for (uint32_t i = 0; i < count; i++) {
    if (!candidates[i].is_listed) cleaner_seen(candidates[i].block, candidates[i].handle, false);
  }
}

/* ---- Reading the counters and finding the cleaners ---------------------------------------------------- */

int cleaners_look(struct mallometer_collection_counts *out, bool looks) {
  JNIEnv *thread;
  JavaVM *vm = jvm_attached();
  if (!vm || jvm_find(NULL, &thread) != 0) {
    snprintf(out->reason, sizeof out->reason, "Java frames are off");
    return -ENODATA;
  }
  if (!searched) {
    reason = find_counters();
    searched = true;
  }
  snprintf(out->reason, sizeof out->reason, "%s", reason);
  if (*reason) return -ENODATA;
  if (looks) look_at_candidates(vm, thread);
  struct collections now = collections_now();
  out->young = now.all - now.old;
  out->old = now.old;
  for (uint32_t i = 0; i < 3; i++) out->old_began_ns[i] = now.old >= i ? collection_seen_ns(now.old - i) : 0;
  out->generational_zgc = generational;
  out->marks_first = collections_mark_first();
  return 0;
}

void cleaners_forked(void) {
  collections_set(NULL);
  jvm.tools = NULL;
}
