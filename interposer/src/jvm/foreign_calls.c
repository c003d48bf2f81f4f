/* A table of return addresses. When a stack with a new address is read, the JVM is asked for the frames of all new
 * addresses. See foreign_calls.h. */
#include "jvm/foreign_calls.h"

#include <jvmticmlr.h>
#include <string.h>

#include "jvm/methods.h"
#include "platform/loaded_objects.h"
#include "platform/memory.h"
#include "platform/own_stack.h"
#include "sample/stack_tree.h"

enum { CALLS = 1024, PROBES = 16, MOST_INLINED = 48 };

/* A frame with both highest bits set is a note: it stands for the return address of a foreign call
 * (foreign_calls.h). A Java method's frame has only the highest bit set, because method numbers are too small to set
 * the second. */
#define NOTE (JAVA_FRAME | (uint64_t)1 << 62)

enum { NEW, ASKED, TAKING, KNOWN };

struct frames {
  uint32_t count;
  uint64_t frames[MOST_INLINED];
};

/* A call from Java code, identified by its return address. `here` has the inlined frames at the return address,
 * innermost first. `after` has the inlined frames at the next higher address that the JVM describes. */
static struct call {
  uintptr_t address; /* 0: free */
  int state;
  struct frames here, after;
} * calls;

static bool may_ask;
static uintptr_t jvm_begin, jvm_end;

/* Whether a thread is asking the JVM for the frames at new return addresses. Meanwhile foreign_calls_correct() in
 * other threads leaves stacks with a new address uncorrected. */
static bool is_asking;

void foreign_calls_start(jvmtiEnv *tools, const void *in_jvm) {
  const jvmtiCapabilities compiled = {.can_generate_compiled_method_load_events = 1};
  struct loaded_object jvm = {0};
  if (!loaded_object_at((uintptr_t)in_jvm, &jvm)) return;
  if ((*tools)->AddCapabilities(tools, &compiled) != JVMTI_ERROR_NONE) return;
  jvm_begin = jvm.begin;
  jvm_end = jvm.end;
  if (!calls) calls = memory_reserve(CALLS * sizeof *calls);
  may_ask = calls != NULL;
}

size_t foreign_calls_footprint(void) { return calls ? memory_whole_pages(CALLS * sizeof *calls) : 0; }

/* ---- Recording a call, inside of malloc ---------------------------------------------------------------- */

/* Returns the address in Java code to which the foreign call returns; 0 if it cannot be read. The stub of the call
 * pushes the frame pointer. The return address is above it on the stack. */
static uintptr_t return_address(const struct registers *caller) {
  struct own_stack own;
  uintptr_t frame = caller->frame_pointer;
  if (!caller->pc || frame % sizeof frame != 0 || frame < caller->stack_pointer) return 0;
  if (!own_stack_at(caller->stack_pointer, &own) || frame > own.end - 2 * sizeof frame) return 0;
  return without_signature(((const uintptr_t *)frame)[1]);
}

uint64_t foreign_calls_note(const struct registers *caller, uint64_t outermost) {
  if (!may_ask || (outermost >= jvm_begin && outermost < jvm_end)) return 0;
  uintptr_t address = return_address(caller);
  if (!address) return 0;
  uint64_t place = (uint64_t)address * 0x9e3779b97f4a7c15u >> 40;
  for (uint64_t i = 0; i < PROBES; i++) {
    uint32_t number = (uint32_t)((place + i) % CALLS);
    uintptr_t found = __atomic_load_n(&calls[number].address, __ATOMIC_ACQUIRE);
    if (!found && __atomic_compare_exchange_n(&calls[number].address, &found, address, false, __ATOMIC_ACQ_REL,
                                              __ATOMIC_ACQUIRE)) {
      return NOTE | number;
    }
    if (found == address) return NOTE | number;
  }
  return 0;
}

bool is_foreign_call(uint64_t frame) { return (frame & NOTE) == NOTE; }

/* ---- Reading ------------------------------------------------------------------------------------------- */

static void copy(const PCStackInfo *from, struct frames *to) {
  jint most = from->numstackframes < MOST_INLINED ? from->numstackframes : MOST_INLINED;
  to->count = 0;
  for (jint i = 0; i < most; i++) to->frames[to->count++] = java_frame(method_number(from->methods[i]), from->bcis[i]);
}

/* `record` lists addresses in the code of a compiled method, each with its inlined frames. Copies the frames of the
 * call's return address and of the address after it in the list. Returns false if the list does not contain the
 * return address, or ends with it. */
static bool take(struct call *call, const jvmtiCompiledMethodLoadInlineRecord *record) {
  for (jint i = 0; i + 1 < record->numpcs; i++) {
    if ((uintptr_t)record->pcinfo[i].pc != call->address) continue;
    copy(&record->pcinfo[i], &call->here);
    copy(&record->pcinfo[i + 1], &call->after);
    return true;
  }
  return false;
}

/* Stores the frames of the calls whose return addresses lie in this compiled method. The JVM calls this in the thread
 * that runs ask() and, while ask() has the event enabled, in threads that compile methods. */
void JNICALL foreign_calls_compiled(jvmtiEnv *tools, jmethodID method, jint size, const void *code, jint locations,
                                    const jvmtiAddrLocationMap *map, const void *information) {
  (void)tools, (void)method, (void)locations, (void)map;
  const jvmtiCompiledMethodLoadRecordHeader *header = information;
  uintptr_t begin = (uintptr_t)code;
  while (header && header->kind != JVMTI_CMLR_INLINE_INFO) header = header->next;
  if (!header || !calls) return;
  for (uint32_t i = 0; i < CALLS; i++) {
    struct call *call = &calls[i];
    uintptr_t address = __atomic_load_n(&call->address, __ATOMIC_ACQUIRE);
    if (address < begin || address - begin > (uintptr_t)size) continue;
    int state = ASKED;
    if (!__atomic_compare_exchange_n(&call->state, &state, TAKING, false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED)) continue;
    bool known = take(call, (const jvmtiCompiledMethodLoadInlineRecord *)header);
    __atomic_store_n(&call->state, known ? KNOWN : ASKED, __ATOMIC_RELEASE);
  }
}

/* Asks the JVM for the frames of all new return addresses, which takes some 10 ms, longer with more compiled code. */
static void ask(jvmtiEnv *tools) {
  for (uint32_t i = 0; i < CALLS; i++) {
    int state = NEW;
    if (!__atomic_load_n(&calls[i].address, __ATOMIC_ACQUIRE)) continue;
    (void)__atomic_compare_exchange_n(&calls[i].state, &state, ASKED, false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED);
  }
  if ((*tools)->SetEventNotificationMode(tools, JVMTI_ENABLE, JVMTI_EVENT_COMPILED_METHOD_LOAD, NULL) !=
      JVMTI_ERROR_NONE)
    return;
  (void)(*tools)->GenerateEvents(tools, JVMTI_EVENT_COMPILED_METHOD_LOAD);
  (void)(*tools)->SetEventNotificationMode(tools, JVMTI_DISABLE, JVMTI_EVENT_COMPILED_METHOD_LOAD, NULL);
}

static const struct call *known_call(jvmtiEnv *tools, uint64_t note) {
  struct call *call = &calls[note & (CALLS - 1)];
  if (__atomic_load_n(&call->state, __ATOMIC_ACQUIRE) == NEW && !__atomic_test_and_set(&is_asking, __ATOMIC_ACQUIRE)) {
    if (__atomic_load_n(&call->state, __ATOMIC_ACQUIRE) == NEW) ask(tools);
    __atomic_clear(&is_asking, __ATOMIC_RELEASE);
  }
  return __atomic_load_n(&call->state, __ATOMIC_ACQUIRE) == KNOWN ? call : NULL;
}

static bool begins_with(const uint64_t *frames, uint32_t count, const struct frames *wanted) {
  if (wanted->count == 0 || wanted->count > count) return false;
  for (uint32_t i = 0; i < wanted->count; i++) {
    if (frames[i] != wanted->frames[i]) return false;
  }
  return true;
}

uint32_t foreign_calls_correct(jvmtiEnv *tools, uint64_t *frames, uint32_t count, uint32_t capacity) {
  uint32_t left = count - 1;
  const struct call *call = tools ? known_call(tools, frames[0]) : NULL;
  bool corrected = call && begins_with(frames + 1, left, &call->after);
  uint32_t gone = corrected ? call->after.count : 0, fresh = corrected ? call->here.count : 0;
  if (fresh > capacity) fresh = capacity;
  left -= gone;
  if (fresh + left > capacity) left = capacity - fresh;
  memmove(frames + fresh, frames + 1 + gone, left * sizeof *frames);
  if (fresh) memcpy(frames, call->here.frames, fresh * sizeof *frames);
  return fresh + left;
}
