/* A table of method ids without a lock, and queries to the JVM about one id. See methods.h. */
#include "jvm/methods.h"

#include <errno.h>
#include <string.h>

#include "platform/memory.h"
#include "platform/readable_memory.h"
#include "platform/shared_words.h"
#include "sample/stack_tree.h"

enum { METHODS = 16384, SLOTS = 32768, PROBES = 64, LOCAL_REFERENCES = 4 };

static struct tables {
  jmethodID ids[METHODS]; /* NULL while it is written */
  uint32_t slots[SLOTS];  /* 1 + the number of a method; 0: free */
} * tables;
static uint32_t taken;
static uint64_t without_room;

bool methods_start(void) {
  if (!tables) tables = memory_reserve(sizeof *tables);
  return tables != NULL;
}

size_t methods_footprint(void) { return tables ? memory_whole_pages(sizeof *tables) : 0; }

static uint32_t new_number(jmethodID id) {
  uint32_t number = reserve_numbers(&taken, 1, METHODS);
  if (number == METHODS) return UNKNOWN_METHOD;
  __atomic_store_n(&tables->ids[number], id, __ATOMIC_RELEASE);
  return number;
}

/* Returns the library's number for a method; UNKNOWN_METHOD if there is no room. Two threads that record a new method
 * at the same time each reserve a number, but only one of these numbers is used. */
static uint32_t number_of(jmethodID id) {
  uint64_t place = (uint64_t)(uintptr_t)id * 0x9e3779b97f4a7c15u >> 40;
  uint32_t fresh = UNKNOWN_METHOD;
  for (uint64_t i = 0; i < PROBES; i++) {
    uint32_t *slot = &tables->slots[(place + i) % SLOTS];
    uint32_t found = __atomic_load_n(slot, __ATOMIC_ACQUIRE);
    if (found == 0) {
      if (fresh == UNKNOWN_METHOD) fresh = new_number(id);
      if (fresh == UNKNOWN_METHOD) return UNKNOWN_METHOD;
      if (__atomic_compare_exchange_n(slot, &found, fresh + 1, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) return fresh;
    }
    if (__atomic_load_n(&tables->ids[found - 1], __ATOMIC_ACQUIRE) == id) return found - 1;
  }
  return UNKNOWN_METHOD;
}

uint32_t method_number(jmethodID id) {
  if (!id) return UNKNOWN_METHOD;
  uint32_t number = number_of(id);
  if (number == UNKNOWN_METHOD) __atomic_fetch_add(&without_room, 1, __ATOMIC_RELAXED);
  return number;
}

uint64_t methods_without_room(void) { return __atomic_load_n(&without_room, __ATOMIC_RELAXED); }

uint32_t method_count(void) { return __atomic_load_n(&taken, __ATOMIC_ACQUIRE); }

/* ---- Names -------------------------------------------------------------------------------------------- */

static void copy_text(jvmtiEnv *tools, char *from, char *to, size_t capacity) {
  if (!from) return;
  strncpy(to, from, capacity - 1);
  (*tools)->Deallocate(tools, (unsigned char *)from);
}

static void describe_lines(jvmtiEnv *tools, jmethodID id, struct mallometer_method *out) {
  jint count = 0;
  jvmtiLineNumberEntry *lines = NULL;
  if ((*tools)->GetLineNumberTable(tools, id, &count, &lines) != JVMTI_ERROR_NONE) return;
  if (count > MALLOMETER_METHOD_LINES) count = MALLOMETER_METHOD_LINES;
  for (jint i = 0; i < count; i++) {
    out->lines[i][0] = (uint32_t)lines[i].start_location;
    out->lines[i][1] = (uint32_t)lines[i].line_number;
  }
  out->line_count = (uint32_t)count;
  (*tools)->Deallocate(tools, (unsigned char *)lines);
}

static bool describe(jvmtiEnv *tools, jmethodID id, struct mallometer_method *out) {
  jclass owner = NULL; /* this reference keeps the class loaded */
  char *name = NULL, *signature = NULL, *source = NULL;
  if ((*tools)->GetMethodDeclaringClass(tools, id, &owner) != JVMTI_ERROR_NONE || !owner) return false;
  if ((*tools)->GetMethodName(tools, id, &name, NULL, NULL) != JVMTI_ERROR_NONE) return false;
  copy_text(tools, name, out->name, sizeof out->name);
  if ((*tools)->GetClassSignature(tools, owner, &signature, NULL) == JVMTI_ERROR_NONE) {
    copy_text(tools, signature, out->class_signature, sizeof out->class_signature);
  }
  if ((*tools)->GetSourceFileName(tools, owner, &source) == JVMTI_ERROR_NONE) {
    copy_text(tools, source, out->source, sizeof out->source);
  }
  describe_lines(tools, id, out);
  return true;
}

/* Tests the version of JVMTI, which is always that of the JDK. The version of JNI does not change with each JDK. */
bool method_ids_are_addresses(jvmtiEnv *tools) {
  enum { FIRST_WITH_NUMBERS = 26 };
  jint version = 0;
  (void)(*tools)->GetVersionNumber(tools, &version);
  return (version & JVMTI_VERSION_MASK_MAJOR) >> JVMTI_VERSION_SHIFT_MAJOR < FIRST_WITH_NUMBERS;
}

/* Returns whether the method's class is unloaded. Tests the id itself instead of asking JVMTI, which before JDK 18
 * may follow the pointer of an unloaded class. */
static bool is_gone(jvmtiEnv *tools, jmethodID id) {
  if (!method_ids_are_addresses(tools)) return false;
  return !is_readable((uintptr_t)id, sizeof(void *)) || !*(void *const *)id;
}

int method_describe(jvmtiEnv *tools, JNIEnv *thread, uint32_t number, struct mallometer_method *out) {
  if (number >= method_count()) return -EINVAL;
  jmethodID id = __atomic_load_n(&tables->ids[number], __ATOMIC_ACQUIRE);
  if (!id) return -EINVAL;
  if (is_gone(tools, id) || (*thread)->PushLocalFrame(thread, LOCAL_REFERENCES) != 0) return -ESRCH;
  bool known = describe(tools, id, out);
  (*thread)->PopLocalFrame(thread, NULL);
  return known ? 0 : -ESRCH;
}
