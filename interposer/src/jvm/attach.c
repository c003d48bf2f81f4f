/* Finds the JVM by its exported functions and gets frames from AsyncGetCallTrace. See attach.h. */
#include "jvm/attach.h"

#include <errno.h>
#include <jvmti.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <ucontext.h>

#include "jvm/compilations.h"
#include "jvm/foreign_calls.h"
#include "jvm/java_thread.h"
#include "jvm/jvm_symbol.h"
#include "jvm/methods.h"
#include "platform/arch.h"
#include "platform/keep_errno.h"
#include "platform/loaded_objects.h"
#include "sample/java_gate.h"
#include "sample/stack_tree.h"

static JavaVM *vm;
static jvmtiEnv *tools;

enum { NOT_ATTACHED, ATTACHING, ATTACHED, ENDED };
static int phase = NOT_ATTACHED;

/* ---- Walking ------------------------------------------------------------------------------------------ */

/* Types of HotSpot's forte.cpp, which no header declares. A negative number of frames is an error code. */
struct trace_frame {
  jint bytecode_index; /* negative in native methods */
  jmethodID method;
};

struct trace {
  JNIEnv *thread;
  jint frames;
  struct trace_frame *frame;
};

static void (*get_call_trace)(struct trace *trace, jint depth, void *context);

/*
 * Fills in the registers of the Java code that called native code. The JVM reads them only if it does not know where
 * the thread's Java frames are, as in critical calls (Linker.Option.critical). Unknown registers are replaced by those
 * of this C function, which the JVM does not take for Java code.
 */
static __attribute__((noinline)) void fill_context(ucontext_t *context, const struct registers *caller) {
  memset(context, 0, sizeof *context);
  registers_to_context(caller->pc ? *caller : registers_here(), context);
}

static void *thread_of_jvm(void) {
  void *thread = NULL;
  KEEP_ERRNO;
  bool attached = (*vm)->GetEnv(vm, &thread, JNI_VERSION_1_6) == JNI_OK;
  return attached ? thread : NULL;
}

/* The result of AsyncGetCallTrace for a thread that runs no Java code, such as a compiler thread. */
#define NO_JAVA_CODE (-3)

static int walk(void *thread, const struct registers *caller, uint64_t *frames, uint32_t capacity) {
  enum { MOST = MOST_JAVA_FRAMES + 1 };
  struct trace_frame found[MOST];
  ucontext_t context;
  KEEP_ERRNO;
  fill_context(&context, caller);
  struct trace trace = {thread, 0, found};
  get_call_trace(&trace, (jint)(capacity < MOST ? capacity : MOST), &context);
  for (jint i = 0; i < trace.frames; i++) {
    frames[i] = java_frame(method_number(found[i].method), found[i].bytecode_index);
  }
  if (trace.frames == NO_JAVA_CODE) {
    frames[0] = compilation_frame(thread);
    trace.frames = frames[0] != 0;
  }
  return trace.frames;
}

static struct java_stacks java_stacks = {thread_of_jvm, walk, foreign_calls_note, 0, 0};

/* ---- Events of the JVM --------------------------------------------------------------------------------- */

/*
 * The most methods that get ids when their classes are loaded. Methods of classes that are loaded after that have no
 * names.
 *
 * The limit applies to JVMs up to JDK 25. They never free an id, which takes some 30 bytes, so a program that generates
 * classes all the time would grow without the limit.
 */
#define MOST_IDS_OF_NEW_CLASSES 1000000u

static uint32_t ids_of_new_classes;

static uint32_t make_ids(jvmtiEnv *environment, jclass class) {
  jint count;
  jmethodID *methods;
  if ((*environment)->GetClassMethods(environment, class, &count, &methods) != JVMTI_ERROR_NONE) return 0;
  (*environment)->Deallocate(environment, (unsigned char *)methods);
  return (uint32_t)count;
}

static void JNICALL on_class_load(jvmtiEnv *environment, JNIEnv *thread, jthread object, jclass class) {
  (void)environment, (void)thread, (void)object,
      (void)class; /* Does nothing: AsyncGetCallTrace only requires that JVMTI's ClassLoad event is enabled. */
}

static bool may_make_more_ids(jvmtiEnv *environment) {
  return __atomic_load_n(&ids_of_new_classes, __ATOMIC_RELAXED) < MOST_IDS_OF_NEW_CLASSES ||
         !method_ids_are_addresses(environment);
}

static void JNICALL on_class_prepare(jvmtiEnv *environment, JNIEnv *thread, jthread object, jclass class) {
  (void)thread, (void)object;
  if (!may_make_more_ids(environment)) return;
  __atomic_fetch_add(&ids_of_new_classes, make_ids(environment, class), __ATOMIC_RELAXED);
}

/* Ends all calls into the JVM. A thread that calls the JVM after its shutdown would wait until the process ends, and
 * would hold its own locks meanwhile. */
static void JNICALL on_vm_death(jvmtiEnv *environment, JNIEnv *thread) {
  (void)environment, (void)thread;
  __atomic_store_n(&phase, ENDED, __ATOMIC_SEQ_CST);
  java_gate_close_and_wait();
  java_thread_close_and_wait();
}

static void make_ids_of_loaded_classes(JNIEnv *thread) {
  jint count;
  jclass *classes;
  if ((*tools)->GetLoadedClasses(tools, &count, &classes) != JVMTI_ERROR_NONE) return;
  for (jint i = 0; i < count; i++) {
    make_ids(tools, classes[i]);
    (*thread)->DeleteLocalRef(thread, classes[i]);
  }
  (*tools)->Deallocate(tools, (unsigned char *)classes);
}

static bool listen(void) {
  const jvmtiEventCallbacks callbacks = {.ClassLoad = on_class_load,
                                         .ClassPrepare = on_class_prepare,
                                         .VMDeath = on_vm_death,
                                         .CompiledMethodLoad = foreign_calls_compiled};
  const jvmtiEvent events[] = {JVMTI_EVENT_VM_DEATH, JVMTI_EVENT_CLASS_LOAD, JVMTI_EVENT_CLASS_PREPARE};
  const jvmtiCapabilities names = {.can_get_line_numbers = 1, .can_get_source_file_name = 1};
  (void)(*tools)->AddCapabilities(tools, &names); /* methods have no line numbers and no source files without these */
  if ((*tools)->SetEventCallbacks(tools, &callbacks, (jint)sizeof callbacks) != JVMTI_ERROR_NONE) return false;
  for (size_t i = 0; i < sizeof events / sizeof *events; i++) {
    if ((*tools)->SetEventNotificationMode(tools, JVMTI_ENABLE, events[i], NULL) != JVMTI_ERROR_NONE) return false;
  }
  return true;
}

/* ---- Attaching ----------------------------------------------------------------------------------------- */

static void note_library(const void *in_jvm) {
  struct loaded_object jvm = {0};
  if (!loaded_object_at((uintptr_t)in_jvm, &jvm) || !jvm.path || !*jvm.path) return;
  java_stacks.jvm_begin = jvm.begin;
  java_stacks.jvm_end = jvm.end;
}

static int created_vm(JavaVM **found) {
  jint (*created_vms)(JavaVM **, jsize, jsize *);
  void *created = jvm_symbol("JNI_GetCreatedJavaVMs");
  jsize count = 0;
  if (!created) return -ESRCH;
  memcpy(&created_vms, &created, sizeof created);
  return created_vms(found, 1, &count) == JNI_OK && count > 0 ? 0 : -ESRCH;
}

int jvm_find(JavaVM **found, JNIEnv **thread) {
  JavaVM *created;
  void *calling = NULL;
  if (__atomic_load_n(&phase, __ATOMIC_ACQUIRE) == ENDED || created_vm(&created) != 0) return -ESRCH;
  if ((*created)->GetEnv(created, &calling, JNI_VERSION_1_6) != JNI_OK) return -ESRCH;
  if (found) *found = created;
  *thread = calling;
  return 0;
}

static int attach(void) {
  void *trace = jvm_symbol("AsyncGetCallTrace");
  if (created_vm(&vm) != 0) return -ESRCH;
  if (!trace) return -ENOTSUP;
  memcpy(&get_call_trace, &trace, sizeof trace);
  void *thread = thread_of_jvm(), *environment;
  if (!thread) return -ESRCH;
  if ((*vm)->GetEnv(vm, &environment, JVMTI_VERSION_1_2) != JNI_OK) return -ENOTSUP;
  tools = environment;
  if (!methods_start() || !listen()) {
    (*tools)->DisposeEnvironment(tools);
    return -ENOTSUP;
  }
  foreign_calls_start(tools, trace);
  compilations_start(tools, thread);
  note_library(trace);
  make_ids_of_loaded_classes(thread);
  return 0;
}

int jvm_attach(void) {
  int expected = NOT_ATTACHED;
  if (!__atomic_compare_exchange_n(&phase, &expected, ATTACHING, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) {
    return expected == ATTACHING ? -EBUSY : 0;
  }
  int result = attach();
  if (result != 0) {
    __atomic_store_n(&phase, NOT_ATTACHED, __ATOMIC_RELEASE);
    return result;
  }
  /* If the JVM has ended meanwhile, the phase stays ENDED. */
  expected = ATTACHING;
  if (__atomic_compare_exchange_n(&phase, &expected, ATTACHED, false, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED)) {
    java_gate_open(&java_stacks);
    if (__atomic_load_n(&phase, __ATOMIC_SEQ_CST) == ENDED) java_gate_close_and_wait();
  }
  return 0;
}

uint32_t jvm_state(void) {
  switch (__atomic_load_n(&phase, __ATOMIC_ACQUIRE)) {
    case ATTACHED:
      return MALLOMETER_JAVA_ON;
    case ENDED:
      return MALLOMETER_JAVA_GONE;
    default:
      return MALLOMETER_JAVA_OFF;
  }
}

size_t jvm_footprint(void) { return methods_footprint() + foreign_calls_footprint(); }

uint32_t jvm_method_count(void) { return method_count(); }

uint64_t jvm_frames_without_method(void) { return methods_without_room(); }

int jvm_describe_method(uint32_t number, struct mallometer_method *out) {
  if (jvm_state() != MALLOMETER_JAVA_ON) return -ENODATA;
  void *thread = thread_of_jvm();
  return thread ? method_describe(tools, thread, number, out) : -ENODATA;
}

uint32_t jvm_correct_frames(uint64_t *frames, uint32_t count, uint32_t capacity) {
  uint32_t at = 0;
  while (at < count && !is_foreign_call(frames[at])) at++;
  if (at == count) return count;
  bool may_ask = jvm_state() == MALLOMETER_JAVA_ON && thread_of_jvm();
  return at + foreign_calls_correct(may_ask ? tools : NULL, frames + at, count - at, capacity - at);
}

JavaVM *jvm_attached(void) { return jvm_state() == MALLOMETER_JAVA_ON ? vm : NULL; }

void jvm_forked(void) {
  java_thread_forked();
  compilations_forked();
  java_gate_close();
  if (__atomic_load_n(&phase, __ATOMIC_RELAXED) != NOT_ATTACHED) phase = ENDED;
}
