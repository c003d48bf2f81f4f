/*
 * Tests the reading of gHotSpotVMStructs, a table by which a JVM describes its structures. The test supplies the
 * table and the structures, and damages them word by word. No access may fault. A search must return the intact
 * table's answer, the damaged value, or nothing.
 */
#include "jvm/vm_structs.h"

#include <errno.h>
#include <jvmti.h>
#include <pthread.h>
#include <sched.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"
#include "jvm/compilations.h"
#include "jvm/jvm_symbol.h"
#include "jvm/methods.h"
#include "jvm/thread_stacks.h"
#include "sample/stack_tree.h"
#include "platform/libc.h"
#include "platform/own_stack.h"
#include "platform/readable_memory.h"
#include "platform/thread.h"

/* An entry of the description, with the members in the order of HotSpot's VMStructEntry. */
struct entry {
  const char *type, *field, *type_of_field;
  int32_t is_static;
  uint64_t offset;
  void *address;
};

enum { ENTRIES = 13, WORDS = sizeof(struct entry) / sizeof(uint64_t) };

static uint64_t a_static_word = 7;
static const struct entry intact[ENTRIES] = {{"JavaThread", "_stack_base", "address", 0, 8, NULL},
                                             {"JavaThread", "_stack_size", "size_t", 0, 16, NULL},
                                             {"CompilerThread", "_env", "ciEnv*", 0, 24, NULL},
                                             {"ciEnv", "_task", "CompileTask*", 0, 8, NULL},
                                             {"CompileTask", "_method", "Method*", 0, 16, NULL},
                                             {"CompileTask", "_compile_id", "int", 0, 32, NULL},
                                             {"Method", "_constMethod", "ConstMethod*", 0, 8, NULL},
                                             {"ConstMethod", "_method_idnum", "u2", 0, 38, NULL},
                                             {"ConstMethod", "_constants", "ConstantPool*", 0, 8, NULL},
                                             {"ConstantPool", "_pool_holder", "InstanceKlass*", 0, 24, NULL},
                                             {"InstanceKlass", "_methods_jmethod_ids", "jmethodID*", 0, 32, NULL},
                                             {"Universe", "_collectedHeap", "CollectedHeap*", 1, 0, &a_static_word},
                                             {0}};

/* The copy of `intact` that the library reads and the test damages. An inaccessible page follows the copy. */
static struct entry *copy;
static uint64_t stride = sizeof(struct entry), type_at, field_at, static_at, offset_at, address_at;

void *jvm_symbol(const char *name) {
  static const struct {
    const char *name;
    void *value;
  } symbols[] = {{"gHotSpotVMStructs", &copy},
                 {"gHotSpotVMStructEntryArrayStride", &stride},
                 {"gHotSpotVMStructEntryTypeNameOffset", &type_at},
                 {"gHotSpotVMStructEntryFieldNameOffset", &field_at},
                 {"gHotSpotVMStructEntryIsStaticOffset", &static_at},
                 {"gHotSpotVMStructEntryOffsetOffset", &offset_at},
                 {"gHotSpotVMStructEntryAddressOffset", &address_at}};
  for (size_t i = 0; i < sizeof symbols / sizeof *symbols; i++) {
    if (strcmp(symbols[i].name, name) == 0) return symbols[i].value;
  }
  return NULL;
}

/* ---- Functions of the library for reading memory ------------------------------------------------------- */

static int memory_users;
static bool stops_in_read, reader_is_stopped, is_refused, switches_meanwhile;

bool own_memory_open(void) {
  if (!is_refused) memory_users++;
  return !is_refused;
}

bool own_memory_close(void) {
  if (switches_meanwhile) {
    switches_meanwhile = false;
    CHECK(compilations_switch(true) == -EBUSY);
  }
  if (!is_refused) memory_users--;
  return !is_refused;
}

void own_memory_leave(void) { (void)own_memory_close(); }

static int reads;

static bool copy_if_mapped(uintptr_t from, void *to, size_t bytes) {
  const struct iovec there = {(void *)from, bytes}, here = {to, bytes};
  return process_vm_readv(getpid(), &here, 1, &there, 1, 0) == (ssize_t)bytes;
}

bool own_memory_read(uintptr_t from, void *to, size_t bytes) {
  CHECK(memory_users > 0);
  reads++;
  while (__atomic_load_n(&stops_in_read, __ATOMIC_ACQUIRE)) {
    __atomic_store_n(&reader_is_stopped, true, __ATOMIC_RELEASE);
    sched_yield();
  }
  return copy_if_mapped(from, to, bytes);
}

bool is_readable(uintptr_t begin, size_t bytes) {
  char byte;
  if (bytes == 0 || bytes > UINTPTR_MAX - begin) return false;
  for (uintptr_t page = page_of(begin); page < begin + bytes; page += SMALLEST_PAGE) {
    if (!copy_if_mapped(page, &byte, 1)) return false;
  }
  return true;
}

bool libc_is_glibc(void) { return true; }

bool libc_is_musl(void) { return false; }

static void repair(void) {
  memcpy(copy, intact, sizeof intact);
  stride = sizeof(struct entry);
  type_at = offsetof(struct entry, type);
  field_at = offsetof(struct entry, field);
  static_at = offsetof(struct entry, is_static);
  offset_at = offsetof(struct entry, offset);
  address_at = offsetof(struct entry, address);
}

/* ---- The structure of a JVM's thread ------------------------------------------------------------------- */

static struct {
  uint64_t words[64];
} structure;

static jlong written[2];
static int known_threads;

static jclass JNICALL find_class(JNIEnv *env, const char *name) {
  (void)env, (void)name;
  return (jclass)&structure;
}
static jfieldID JNICALL field_id(JNIEnv *env, jclass class, const char *name, const char *type) {
  (void)env, (void)class;
  CHECK(strcmp(name, "eetop") == 0 && strcmp(type, "J") == 0);
  return (jfieldID)&structure;
}
static void JNICALL clear(JNIEnv *env) { (void)env; }
static jsize JNICALL length(JNIEnv *env, jarray array) {
  (void)env, (void)array;
  return 1;
}
static jlongArray JNICALL new_array(JNIEnv *env, jsize count) {
  (void)env;
  CHECK(count == 2);
  return (jlongArray)&written;
}
static jobject JNICALL element(JNIEnv *env, jobjectArray array, jsize i) {
  (void)env, (void)array, (void)i;
  return (jobject)&structure;
}
static uintptr_t structure_at;
static jlong JNICALL long_field(JNIEnv *env, jobject object, jfieldID field) {
  (void)env, (void)object, (void)field;
  return (jlong)structure_at;
}
static void JNICALL set_region(JNIEnv *env, jlongArray array, jsize at, jsize count, const jlong *values) {
  (void)env, (void)array, (void)at;
  CHECK(count == 2);
  memcpy(written, values, sizeof written);
  known_threads++;
}
static void JNICALL forget(JNIEnv *env, jobject object) { (void)env, (void)object; }

static const struct JNINativeInterface_ functions = {.FindClass = find_class,
                                                     .GetFieldID = field_id,
                                                     .ExceptionClear = clear,
                                                     .GetArrayLength = length,
                                                     .NewLongArray = new_array,
                                                     .GetObjectArrayElement = element,
                                                     .GetLongField = long_field,
                                                     .SetLongArrayRegion = set_region,
                                                     .DeleteLocalRef = forget};
static JNIEnv env = &functions;

/* ---- Compilations -------------------------------------------------------------------------------------- */

enum { TASK, METHOD, OTHER_METHOD, CONSTANTS, POOL, HOLDER, IDS, STRUCTURES, WORDS_OF_EACH = 8 };
enum { METHOD_NUMBER = 3, KNOWN_METHOD = 77, ANOTHER_METHOD = 78, NO_METHOD = 1, ID_BY_NUMBER = 4711 };

/* `chain` holds the JVM's structures that lead from a compilation's task to the id of its method. If method ids are
 * addresses, each id is the address of an element of `pointers`, and the element points to a method. */
static uint64_t chain[STRUCTURES][WORDS_OF_EACH], pointers[2];

static const char *name_of_thread = "C2 CompilerThre";
static uint32_t number_of_thread = 1;
static int names_asked;

void thread_name(char name[THREAD_NAME_BYTES]) {
  names_asked++;
  strncpy(name, name_of_thread, THREAD_NAME_BYTES);
}

uint32_t thread_id_known(void) { return number_of_thread; }

static bool ids_are_addresses = true;

bool method_ids_are_addresses(jvmtiEnv *tools) { return tools && ids_are_addresses; }

uint32_t method_number(jmethodID id) {
  if (!ids_are_addresses) return (uintptr_t)id == ID_BY_NUMBER ? KNOWN_METHOD : NO_METHOD;
  if ((void *)id == (void *)&pointers[1]) return ANOTHER_METHOD;
  return (void *)id == (void *)&pointers[0] ? KNOWN_METHOD : NO_METHOD;
}

static jvmtiError JNICALL current_thread(jvmtiEnv *tools, jthread *thread) {
  (void)tools;
  *thread = (jthread)&structure;
  return JVMTI_ERROR_NONE;
}

static size_t interval = 512 << 10;

size_t sampler_interval(void) { return interval; }

static const struct jvmtiInterface_1_ tool_functions = {.GetCurrentThread = current_thread};
static jvmtiEnv tools = &tool_functions;

static uint64_t at(int structure_number) { return (uintptr_t)chain[structure_number]; }

static void set_number_of_task(uint32_t number) { memcpy(&chain[TASK][4], &number, sizeof number); }

static void link_chain(void) {
  chain[TASK][2] = at(METHOD);
  chain[METHOD][1] = chain[OTHER_METHOD][1] = at(CONSTANTS);
  chain[CONSTANTS][1] = at(POOL);
  chain[CONSTANTS][4] = (uint64_t)METHOD_NUMBER << 48; /* stores the number in the bytes at 38 and 39 */
  chain[POOL][3] = at(HOLDER);
  chain[HOLDER][4] = at(IDS);
  chain[IDS][0] = 5;
  chain[IDS][METHOD_NUMBER + 1] = (uintptr_t)&pointers[0];
  pointers[0] = at(METHOD);
  pointers[1] = at(OTHER_METHOD);
}

/* Links the structures. From JDK 26 on, the id of the method is a number, not an address. */
static void number_ids(void) {
  link_chain();
  if (!ids_are_addresses) chain[IDS][METHOD_NUMBER + 1] = ID_BY_NUMBER;
}

static const void *environment_of_thread(void) { return &structure.words[63]; }

/* Simulates a compilation: the compiler's environment lies on the thread's stack and points to `task`. Takes
 * `samples` samples. Returns the frame that the last sample has for the compiled method; 0 if it has none. */
static __attribute__((noinline)) uint64_t frame_of_samples(int samples, uint64_t task) {
  volatile uint64_t environment[2] = {0, task};
  uint64_t frame = 0;
  structure.words[3] = (uintptr_t)environment;
  for (int i = 0; i < samples; i++) frame = compilation_frame(environment_of_thread());
  structure.words[3] = 0;
  return frame;
}

/* Takes four samples of a new compilation, whose task has the old address but a new number. Returns the fourth
 * sample's frame. */
static uint64_t sampled_frame(void) {
  static uint32_t number;
  set_number_of_task(++number);
  return frame_of_samples(4, at(TASK));
}

static void start_compilations(void) {
  JNIEnv *environment = (JNIEnv *)(void *)&structure.words[63];
  memcpy(environment, &env, sizeof env);
  repair();
  number_ids();
  compilations_start(&tools, environment);
}

static void check_samples(void) {
  start_compilations();
  CHECK(sampled_frame() == compiled_frame(KNOWN_METHOD));
  CHECK(frame_of_samples(3, at(TASK)) == compiled_frame(KNOWN_METHOD)); /* the compilation has not changed */
  CHECK(compilation_frame(environment_of_thread()) == 0);
  set_number_of_task(1000);
  CHECK(frame_of_samples(3, at(TASK)) == 0 && frame_of_samples(1, at(TASK)) == compiled_frame(KNOWN_METHOD));
  CHECK(names_asked == 1);
}

/* The library looks a compiled method up only after several samples in the same compilation. A shorter interval
 * requires more samples, because each of them stands for less memory. */
static void check_shorter_intervals(void) {
  static const struct { size_t interval; int before; } cases[] = {{1 << 20, 3}, {8192, 191}, {1, 254}};
  start_compilations();
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    interval = cases[i].interval;
    set_number_of_task(3000 + (uint32_t)i);
    CHECK(frame_of_samples(cases[i].before, at(TASK)) == 0);
    CHECK(frame_of_samples(1, at(TASK)) == compiled_frame(KNOWN_METHOD));
    CHECK(frame_of_samples(300, at(TASK)) == compiled_frame(KNOWN_METHOD));
  }
  interval = 512 << 10;
}

static void check_reused_task(void) {
  start_compilations();
  CHECK(sampled_frame() == compiled_frame(KNOWN_METHOD));
  set_number_of_task(2000);
  chain[TASK][2] = at(OTHER_METHOD);
  chain[IDS][METHOD_NUMBER + 1] = (uintptr_t)&pointers[1];
  CHECK(frame_of_samples(1, at(TASK)) == 0);
  CHECK(frame_of_samples(3, at(TASK)) == compiled_frame(ANOTHER_METHOD));
}

/* A thread that is not a compiler thread has a smaller structure. The library must not read the memory behind it. */
static void check_other_threads(void) {
  start_compilations();
  name_of_thread = "http-nio-8080-e";
  names_asked = 0;
  number_of_thread = 2;
  reads = 0;
  for (int i = 0; i < 10; i++) CHECK(sampled_frame() == 0);
  CHECK(names_asked == 1 && reads == 0);
  /* A compiler thread now starts. Its structure is at the address of the previous thread's structure. */
  name_of_thread = "C1 CompilerThre";
  number_of_thread = 3;
  CHECK(sampled_frame() == compiled_frame(KNOWN_METHOD));
  /* Newer JVMs shorten a thread's name in the middle. */
  name_of_thread = "C2 Comp..hread0";
  number_of_thread = 4;
  CHECK(sampled_frame() == compiled_frame(KNOWN_METHOD));
}

/* The library must report no compilation if the compiler's environment is not on the thread's stack. */
static void check_environment_elsewhere(void *unreadable) {
  static uint64_t elsewhere[2];
  elsewhere[1] = at(TASK);
  start_compilations();
  const uint64_t places[] = {(uintptr_t)elsewhere, (uintptr_t)unreadable, 1, UINT64_MAX, UINT64_MAX - 7};
  for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
    structure.words[3] = places[i];
    for (int sample = 0; sample < 5; sample++) CHECK(compilation_frame(environment_of_thread()) == 0);
  }
}

/* Samples more compiler threads than the library has room for. No thread may get another thread's method. */
static void check_many_threads(void) {
  start_compilations();
  for (uint32_t round = 0; round < 3; round++) {
    for (uint32_t i = 0; i < 200; i++) {
      number_of_thread = 10 + i;
      CHECK(sampled_frame() == compiled_frame(KNOWN_METHOD));
    }
  }
  for (uint32_t sample = 0; sample < 4; sample++) {
    for (uint32_t i = 0; i < 32; i++) {
      number_of_thread = 1000 + i;
      set_number_of_task(3000 + i);
      bool is_odd = i % 2;
      chain[TASK][2] = at(is_odd ? OTHER_METHOD : METHOD);
      chain[IDS][METHOD_NUMBER + 1] = (uintptr_t)&pointers[is_odd];
      uint64_t frame = frame_of_samples(1, at(TASK));
      CHECK(frame == 0 || frame == compiled_frame(is_odd ? ANOTHER_METHOD : KNOWN_METHOD));
    }
  }
  number_of_thread = 1;
}

/* Returns whether a frame is allowed after structures were damaged. The frame may be missing or be that of the known
 * method. If method ids are numbers, it may also have a wrong id, because the JVM itself refuses a wrong number. */
static bool is_frame_after_damage(uint64_t frame) {
  return frame == 0 || frame == compiled_frame(KNOWN_METHOD) ||
         (!ids_are_addresses && frame == compiled_frame(NO_METHOD));
}

static void check_damage(const uint64_t *damage, size_t count) {
  start_compilations();
  for (size_t d = 0; d < count; d++) {
    for (int i = 0; i < STRUCTURES; i++) {
      for (int word = 0; word < WORDS_OF_EACH; word++) {
        number_ids();
        chain[i][word] = damage[d];
        CHECK(is_frame_after_damage(sampled_frame()));
      }
    }
    number_ids();
    CHECK(frame_of_samples(5, damage[d]) == 0);
    for (size_t word = 0; word < (size_t)ENTRIES * WORDS; word++) {
      repair();
      number_ids();
      memcpy((char *)copy + word * sizeof(uint64_t), &damage[d], sizeof damage[d]);
      compilations_start(&tools, (JNIEnv *)(void *)&structure.words[63]);
      CHECK(is_frame_after_damage(sampled_frame()));
    }
  }
}

static void check_numbers(void) {
  start_compilations();
  CHECK(sampled_frame() == compiled_frame(KNOWN_METHOD));
  const uint64_t no_numbers[] = {0, (uint64_t)UINT32_MAX + 1, UINT64_MAX};
  for (size_t i = 0; i < sizeof no_numbers / sizeof *no_numbers; i++) {
    chain[IDS][METHOD_NUMBER + 1] = no_numbers[i];
    CHECK(sampled_frame() == 0);
  }
}

static void *sample(void *frame) {
  *(uint64_t *)frame = sampled_frame();
  return NULL;
}

/* Forks, and checks the child: it must name no compiled methods until it calls start_compilations() and
 * compilations_switch(true). In check_switch(), another thread is stopped in the middle of a read during the fork. */
static void check_child(void) {
  pid_t child = fork();
  CHECK(child >= 0);
  if (child == 0) {
    stops_in_read = false;
    compilations_forked();
    bool is_off = sampled_frame() == 0 && compilations_switch(false) == 0 && memory_users == 1;
    memory_users = 0;
    start_compilations();
    bool is_on = compilations_switch(true) == 0 && sampled_frame() == compiled_frame(KNOWN_METHOD);
    _exit(is_off && is_on && compilations_switch(false) == 0 && memory_users == 0 ? 0 : 1);
  }
  int status;
  CHECK(waitpid(child, &status, 0) == child && status == 0);
}

static void check_switch_meanwhile(void) {
  switches_meanwhile = true;
  CHECK(compilations_switch(false) == 0 && memory_users == 1 && sampled_frame() == compiled_frame(KNOWN_METHOD));
}

static void check_switch(void) {
  uint64_t frame = 0;
  pthread_t reader;
  start_compilations();
  CHECK(memory_users == 1 && compilations_switch(false) == 0 && memory_users == 0);
  CHECK(sampled_frame() == 0 && compilations_switch(false) == 0);
  start_compilations(); /* must not switch the names of compiled methods on again */
  CHECK(memory_users == 0 && sampled_frame() == 0);
  CHECK(compilations_switch(true) == 0 && memory_users == 1 && sampled_frame() == compiled_frame(KNOWN_METHOD));
  stops_in_read = true;
  CHECK(pthread_create(&reader, NULL, sample, &frame) == 0);
  while (!__atomic_load_n(&reader_is_stopped, __ATOMIC_ACQUIRE)) sched_yield();
  check_child();
  CHECK(compilations_switch(false) == -EBUSY && memory_users == 1);
  __atomic_store_n(&stops_in_read, false, __ATOMIC_RELEASE);
  CHECK(compilations_switch(false) == 0 && memory_users == 0);
  CHECK(pthread_join(reader, NULL) == 0);
  /* 0 if the reader took its last samples after the names of compiled methods were switched off */
  CHECK(frame == 0 || frame == compiled_frame(KNOWN_METHOD));
}

static void check_refused_switch(void) {
  is_refused = true;
  CHECK(compilations_switch(true) == -EBUSY && memory_users == 0 && sampled_frame() == 0);
  is_refused = false;
  CHECK(compilations_switch(true) == 0 && sampled_frame() == compiled_frame(KNOWN_METHOD));
  is_refused = true;
  CHECK(compilations_switch(false) == -EBUSY && memory_users == 1);
  is_refused = false;
  CHECK(compilations_switch(false) == 0 && compilations_switch(true) == 0 && memory_users == 1);
}

static void check_compilations(const uint64_t *damage, size_t count, void *unreadable) {
  check_samples();
  check_switch();
  check_refused_switch();
  check_child();
  check_switch_meanwhile();
  check_shorter_intervals();
  check_reused_task();
  check_other_threads();
  check_environment_elsewhere(unreadable);
  check_many_threads();
  check_damage(damage, count);
  ids_are_addresses = false;
  check_numbers();
  check_damage(damage, count);
}

/* ---- Checks of intact and damaged structures ----------------------------------------------------------- */

static void search_all(void) {
  uint64_t where;
  (void)vm_structs_field("JavaThread", "_stack_base", false, &where);
  (void)vm_structs_field("JavaThread", "_stack_size", false, &where);
  (void)vm_structs_field("Universe", "_collectedHeap", true, &where);
  CHECK(!vm_structs_field("JavaThread", "_no_such_field", false, &where));
  CHECK(vm_structs_size("JavaThread") == 0);
  (void)thread_stacks(&env, NULL);
}

static void check_intact(void) {
  uint64_t where = 0;
  repair();
  CHECK(vm_structs_field("JavaThread", "_stack_size", false, &where) && where == 16);
  CHECK(vm_structs_field("Universe", "_collectedHeap", true, &where) && where == (uintptr_t)&a_static_word);
  CHECK(!vm_structs_field("Universe", "_collectedHeap", false, &where));
  structure_at = (uintptr_t)&structure;
  structure.words[1] = 0x7f0000200000;
  structure.words[2] = 0x100000;
  CHECK(thread_stacks(&env, NULL) && known_threads == 1);
  CHECK(written[0] == 0x7f0000100000 && written[1] == 0x7f0000200000);
  structure.words[1] = 0x7f0000200010; /* a stack from malloc need not end at a page's end */
  reads = 0;
  CHECK(thread_stacks(&env, NULL) && written[1] == 0x7f0000200010 && reads == 1);
  structure.words[1] = 0x7f0000200008;
  known_threads = 0;
  CHECK(thread_stacks(&env, NULL) && known_threads == 0);
}

/* Reads the structure of a thread that has ended: memory with other contents, or unmapped memory. No thread may be
 * found. */
static void check_threads_that_ended(void *unreadable) {
  const uint64_t sizes[] = {0, UINT64_MAX, (uint64_t)1 << 40};
  known_threads = 0;
  for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
    structure.words[2] = sizes[i];
    CHECK(thread_stacks(&env, NULL) && known_threads == 0);
  }
  structure_at = (uintptr_t)unreadable;
  CHECK(thread_stacks(&env, NULL) && known_threads == 0);
  structure_at = 0;
  CHECK(thread_stacks(&env, NULL) && known_threads == 0);
  structure_at = (uintptr_t)&structure;
}

int main(void) {
  own_stacks_start();
  const size_t page = 65536;
  char *pages = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  CHECK(pages != MAP_FAILED && mprotect(pages + page, page, PROT_NONE) == 0);
  copy = (struct entry *)(void *)(pages + page - sizeof intact);
  check_intact();
  check_threads_that_ended(pages + page);
  const uint64_t damage[] = {0,
                             1,
                             8,
                             UINT64_MAX,
                             (uintptr_t)pages + page,
                             (uintptr_t)pages + page - 1,
                             (uint64_t)1 << 62};
  for (size_t d = 0; d < sizeof damage / sizeof *damage; d++) {
    for (size_t word = 0; word < (size_t)ENTRIES * WORDS; word++) {
      repair();
      memcpy((char *)copy + word * sizeof(uint64_t), &damage[d], sizeof damage[d]);
      search_all();
    }
    uint64_t *const numbers[] = {&stride, &type_at, &field_at, &static_at, &offset_at, &address_at};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
      repair();
      *numbers[i] = damage[d];
      search_all();
    }
  }
  check_compilations(damage, sizeof damage / sizeof *damage, pages + page);
  return 0;
}
