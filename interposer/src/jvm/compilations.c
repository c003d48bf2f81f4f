/* A chain of nine words, each tested to be readable. See compilations.h. */
#include "jvm/compilations.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "jvm/methods.h"
#include "jvm/vm_structs.h"
#include "platform/readable_memory.h"
#include "sample/stack_tree.h"

enum { THREADS = 16, SAMPLES_BEFORE = 3 };

static struct {
  uint64_t environment; /* of the thread's JNIEnv in its structure */
  uint64_t of_compiler, task, method, constants_of_method, number, pool, holder, ids;
} at;

static bool is_known;

/* The task of a compiler thread and its samples so far. Threads that share a place only ask later. */
static struct {
  uint64_t task;
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

/* Returns whether the task has enough samples, and counts this one. */
static bool is_large(uint64_t structure, uint64_t task) {
  uint64_t place = structure / 64 % THREADS;
  bool same = __atomic_exchange_n(&latest[place].task, task, __ATOMIC_RELAXED) == task;
  uint32_t before = same ? __atomic_load_n(&latest[place].samples, __ATOMIC_RELAXED) : 0;
  __atomic_store_n(&latest[place].samples, before + 1, __ATOMIC_RELAXED);
  return before >= SAMPLES_BEFORE;
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

uint64_t compilation_frame(const void *thread) {
  if (!is_known) return 0;
  uint64_t structure = (uint64_t)(uintptr_t)thread - at.environment;
  uint64_t task = follow(follow(structure, at.of_compiler), at.task);
  if (!task || !is_large(structure, task)) return 0;
  uint64_t id = id_of(follow(task, at.method));
  return id ? compiled_frame(method_number((jmethodID)(uintptr_t)id)) : 0;
}
