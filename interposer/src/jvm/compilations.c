/* A chain of nine words, each tested to be readable. See compilations.h. */
#include "jvm/compilations.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "jvm/methods.h"
#include "jvm/vm_structs.h"
#include "platform/own_stack.h"
#include "platform/readable_memory.h"
#include "sample/stack_tree.h"

enum { THREADS = 16, SAMPLES_BEFORE = 3 };

static struct {
  uint64_t environment; /* the offset of the JNIEnv in a thread's structure */
  uint64_t of_compiler, task, method, constants_of_method, number, pool, holder, ids;
} at;

static bool is_known;

/* The task of a compiler thread, its samples so far, and its frame. Threads that share a place have no frames. */
static struct latest {
  uint64_t structure; /* the thread's structure once it was found to be readable */
  uint64_t task, frame;
  uint32_t samples;
} latest[THREADS];

static bool find(const char *type, const char *field, uint64_t *offset) {
  return vm_structs_field(type, field, false, offset);
}

/* The structure of the calling thread is noted in its Java object; its JNIEnv is a part of the structure. */
static bool find_environment(jvmtiEnv *tools, JNIEnv *thread) {
  jthread object = NULL;
  jclass class = (*thread)->FindClass(thread, "java/lang/Thread");
  jfieldID field = class ? (*thread)->GetFieldID(thread, class, "eetop", "J") : NULL;
  (*thread)->ExceptionClear(thread);
  if (!field || (*tools)->GetCurrentThread(tools, &object) != JVMTI_ERROR_NONE || !object) return false;
  uint64_t structure = (uint64_t)(*thread)->GetLongField(thread, object, field);
  at.environment = (uint64_t)(uintptr_t)thread - structure;
  (*thread)->DeleteLocalRef(thread, object);
  return structure != 0 && at.environment < 65536;
}

void compilations_start(jvmtiEnv *tools, JNIEnv *thread) {
  memset(latest, 0, sizeof latest);
  is_known = method_ids_are_addresses(tools) && find("CompilerThread", "_env", &at.of_compiler) &&
             find("ciEnv", "_task", &at.task) && find("CompileTask", "_method", &at.method) &&
             find("Method", "_constMethod", &at.constants_of_method) &&
             find("ConstMethod", "_method_idnum", &at.number) && find("ConstMethod", "_constants", &at.pool) &&
             find("ConstantPool", "_pool_holder", &at.holder) &&
             find("InstanceKlass", "_methods_jmethod_ids", &at.ids) && find_environment(tools, thread);
}

/* Reads the word at an offset of a structure. Returns 0 if it cannot be read. */
static uint64_t follow(uint64_t structure, uint64_t offset) {
  uint64_t address = structure + offset;
  return structure && address % sizeof(uint64_t) == 0 && is_readable((uintptr_t)address, sizeof address)
             ? *(const uint64_t *)(uintptr_t)address
             : 0;
}

/* Counts a sample of the task. Returns the number of those before it. */
static uint32_t count_sample(struct latest *thread, uint64_t task) {
  bool same = __atomic_exchange_n(&thread->task, task, __ATOMIC_RELAXED) == task;
  uint32_t before = same ? __atomic_load_n(&thread->samples, __ATOMIC_RELAXED) : 0;
  __atomic_store_n(&thread->samples, before + 1, __ATOMIC_RELAXED);
  return before;
}

/*
 * The ids of a class's methods follow their number, by the number of each method. An id is the address of the pointer to
 * its method, which tells it from any other word.
 */
static uint64_t id_of(uint64_t method) {
  uint64_t constants = follow(method, at.constants_of_method), ids;
  uint16_t number;
  uintptr_t place = (uintptr_t)(constants + at.number);
  if (!constants || !is_readable(place, sizeof number)) return 0;
  memcpy(&number, (const void *)place, sizeof number);
  ids = follow(follow(follow(constants, at.pool), at.holder), at.ids);
  uint64_t id = number < follow(ids, 0) ? follow(ids, sizeof ids * (number + 1u)) : 0;
  return follow(id, 0) == method ? id : 0;
}

static uint64_t frame_of(uint64_t task) {
  uint64_t id = id_of(follow(task, at.method));
  return id ? compiled_frame(method_number((jmethodID)(uintptr_t)id)) : 0;
}

/*
 * Reads the task of the calling thread, without a system call after the first: the thread's structure stays, and what
 * leads to the task is on its stack.
 */
static uint64_t task_of(struct latest *own, uint64_t structure) {
  struct own_stack stack;
  uintptr_t here = (uintptr_t)__builtin_frame_address(0);
  if (__atomic_load_n(&own->structure, __ATOMIC_RELAXED) != structure) {
    if (!follow(structure, at.of_compiler)) return 0;
    __atomic_store_n(&own->structure, structure, __ATOMIC_RELAXED);
  }
  uint64_t environment = *(const uint64_t *)(uintptr_t)(structure + at.of_compiler), place = environment + at.task;
  if (!environment) return 0;
  bool is_on_stack = place % sizeof place == 0 && place > here && own_stack_at(here, &stack) && place < stack.end;
  return is_on_stack ? *(const uint64_t *)(uintptr_t)place : follow(environment, at.task);
}

uint64_t compilation_frame(const void *thread) {
  if (!is_known) return 0;
  uint64_t structure = (uint64_t)(uintptr_t)thread - at.environment;
  struct latest *own = &latest[structure / 64 % THREADS];
  uint64_t task = task_of(own, structure);
  uint32_t before = task ? count_sample(own, task) : 0;
  if (before < SAMPLES_BEFORE) return 0;
  if (before == SAMPLES_BEFORE) __atomic_store_n(&own->frame, frame_of(task), __ATOMIC_RELAXED);
  return __atomic_load_n(&own->frame, __ATOMIC_RELAXED);
}
