/* Follows pointers through the JVM's structures. A system call reads each pointer, so that an invalid address causes no
 * fault. See compilations.h. */
#include "jvm/compilations.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>

#include "jvm/methods.h"
#include "jvm/vm_structs.h"
#include "platform/clock.h"
#include "platform/own_stack.h"
#include "platform/readable_memory.h"
#include "platform/thread.h"
#include "platform/wait.h"
#include "sample/sampler.h"
#include "sample/stack_tree.h"

/* The lengths of `places` and `other_threads`, powers of two. `places` has more entries than a JVM has compiler
 * threads at a time, because the JVM ends and starts such threads. */
enum { PLACES = 64, OTHER_THREADS = 1024 };

static struct {
  uint64_t environment; /* the offset of the JNIEnv in a thread's structure */
  uint64_t of_compiler, task, number_of_task, method, constants_of_method, number, pool, holder, ids;
} at;

static bool is_known, ids_are_addresses;

/*
 * An entry for each compiler thread. `compilation` is one atomic word, because two threads may share an entry. It has
 * three fields: bits that identify the compilation, its number of samples, and 1 + the number of its method (0:
 * unknown).
 */
static struct place { uint64_t thread, compilation; } places[PLACES];

#define SAMPLE ((uint64_t)1 << 16)
#define MOST_SAMPLES UINT64_C(0xff)
/* A compilation's method is looked up after this number of samples, if the sampling interval is at least the default
 * (512 KiB). */
#define FEWEST_BEFORE 3
#define BITS_OF_METHOD (SAMPLE - 1)
#define BITS_OF_COMPILATION (~(BITS_OF_METHOD | MOST_SAMPLES * SAMPLE))

/* Threads that are not compiler threads. Their names are not read again. */
static uint64_t other_threads[OTHER_THREADS];

static bool find(const char *type, const char *field, uint64_t *offset) {
  return vm_structs_field(type, field, false, offset);
}

/*
 * Finds the offset of the JNIEnv in the JVM's structure of a thread. Thread.eetop has the address of this structure.
 */
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

/* ---- The open files ------------------------------------------------------------------------------------ */

static bool is_wanted = true; /* whether the names of compiled methods are switched on (compilations_switch()) */
static bool is_open;          /* whether the process's own memory is open for reading */
static bool is_switching;
static int readers; /* the number of threads between begin_reading() and end_reading() */

/* Returns whether the calling thread may read the memory. If it may, close_memory() waits for end_reading(). */
static bool begin_reading(void) {
  __atomic_add_fetch(&readers, 1, __ATOMIC_SEQ_CST);
  if (__atomic_load_n(&is_open, __ATOMIC_SEQ_CST)) return true;
  __atomic_sub_fetch(&readers, 1, __ATOMIC_RELEASE);
  return false;
}

static void end_reading(void) { __atomic_sub_fetch(&readers, 1, __ATOMIC_RELEASE); }

static int open_memory(void) {
  bool opened = own_memory_open();
  __atomic_store_n(&is_open, opened, __ATOMIC_SEQ_CST);
  return opened ? 0 : -EBUSY;
}

static bool await_readers(void) {
  const uint64_t pause_ns = 1000000, longest_ns = 1000000000, begin = monotonic_ns();
  while (__atomic_load_n(&readers, __ATOMIC_SEQ_CST) > 0) {
    if (monotonic_ns() - begin > longest_ns) return false;
    wait_until(monotonic_ns() + pause_ns);
  }
  return true;
}

static int close_memory(void) {
  __atomic_store_n(&is_open, false, __ATOMIC_SEQ_CST);
  if (await_readers() && own_memory_close()) return 0;
  __atomic_store_n(&is_open, true, __ATOMIC_SEQ_CST);
  return -EBUSY;
}

static bool should_be_open(void) {
  return __atomic_load_n(&is_wanted, __ATOMIC_SEQ_CST) && __atomic_load_n(&is_known, __ATOMIC_SEQ_CST);
}

/* Opens the process's own memory for reading, or closes it, as should_be_open() says. Returns -EBUSY if that fails,
 * or if another thread is in this function. The other thread calls should_be_open() again before it returns. */
static int apply(void) {
  bool opens;
  int result;
  do {
    if (__atomic_exchange_n(&is_switching, true, __ATOMIC_SEQ_CST)) return -EBUSY;
    opens = should_be_open();
    result = opens == is_open ? 0 : opens ? open_memory() : close_memory();
    __atomic_store_n(&is_switching, false, __ATOMIC_SEQ_CST);
  } while (should_be_open() != opens);
  return result;
}

int compilations_switch(bool on) {
  __atomic_store_n(&is_wanted, on, __ATOMIC_SEQ_CST);
  return apply();
}

void compilations_start(jvmtiEnv *tools, JNIEnv *thread) {
  memset(places, 0, sizeof places);
  memset(other_threads, 0, sizeof other_threads);
  ids_are_addresses = method_ids_are_addresses(tools);
  bool found = find("CompilerThread", "_env", &at.of_compiler) && find("ciEnv", "_task", &at.task) &&
               find("CompileTask", "_compile_id", &at.number_of_task) && find("CompileTask", "_method", &at.method) &&
               find("Method", "_constMethod", &at.constants_of_method) &&
               find("ConstMethod", "_method_idnum", &at.number) && find("ConstMethod", "_constants", &at.pool) &&
               find("ConstantPool", "_pool_holder", &at.holder) &&
               find("InstanceKlass", "_methods_jmethod_ids", &at.ids) && find_environment(tools, thread);
  __atomic_store_n(&is_known, found, __ATOMIC_SEQ_CST);
  apply();
}

void compilations_forked(void) {
  is_known = is_open = is_switching = false;
  readers = 0;
}

/* ---- Reading ------------------------------------------------------------------------------------------- */

static bool read_field(uint64_t structure, uint64_t offset, void *to, size_t bytes) {
  return structure && own_memory_read((uintptr_t)(structure + offset), to, bytes);
}

static uint64_t follow(uint64_t structure, uint64_t offset) {
  uint64_t word;
  return read_field(structure, offset, &word, sizeof word) ? word : 0;
}

/* Returns whether a word is the id of `method`. In some JVMs an id is the address of a pointer to the method, and
 * JVMTI does not check the address. In others it is a number from 1 on, which JVMTI looks up itself. */
static bool is_id(uint64_t word, uint64_t method) {
  return ids_are_addresses ? follow(word, 0) == method : word != 0 && word <= UINT32_MAX;
}

/* Returns the id of a method; 0 if it is unknown. A class has an array of ids, which begins with the number of ids. A
 * method's number is the index of its id. */
static uint64_t id_of(uint64_t method) {
  uint64_t constants = follow(method, at.constants_of_method), ids;
  uint16_t number;
  if (!read_field(constants, at.number, &number, sizeof number)) return 0;
  ids = follow(follow(follow(constants, at.pool), at.holder), at.ids);
  uint64_t id = number < follow(ids, 0) ? follow(ids, sizeof ids * (number + 1u)) : 0;
  return is_id(id, method) ? id : 0;
}

/* Returns 1 + the number of the method that the task compiles; 0 if it is unknown. */
static uint64_t method_of(uint64_t task) {
  uint64_t id = id_of(follow(task, at.method));
  uint32_t number = id ? method_number((jmethodID)(uintptr_t)id) : UNKNOWN_METHOD;
  return number < BITS_OF_METHOD ? number + UINT64_C(1) : 0;
}

/* Returns the task of the calling compiler thread; 0 if it compiles nothing. While the thread compiles, the structure
 * that points to the task is on its stack. */
static uint64_t task_of(uint64_t structure) {
  struct own_stack stack;
  uintptr_t here = (uintptr_t)&stack;
  uint64_t environment = follow(structure, at.of_compiler), place = environment + at.task;
  bool is_on_stack = environment > here && place > here && place % sizeof place == 0 && own_stack_at(here, &stack) &&
                     place < stack.end;
  return is_on_stack ? *(const uint64_t *)(uintptr_t)place : 0;
}

/* ---- Threads ------------------------------------------------------------------------------------------- */

static uint64_t mix(uint64_t one, uint64_t other) {
  const uint64_t factor = 0x9e3779b97f4a7c15u;
  uint64_t mixed = (one ^ other * factor) * factor;
  return (mixed ^ mixed >> 32) * factor;
}

/* Returns whether the calling thread has the name of a compiler thread. HotSpot's names are "C1 CompilerThread0" and
 * so on, and "C1 Comp..hread0" in newer versions, because the kernel keeps 15 characters of a name. */
static bool has_name_of_compiler(void) {
  static const char *const beginnings[] = {"C1 Comp", "C2 Comp", "JVMCI C"};
  char name[THREAD_NAME_BYTES];
  thread_name(name);
  for (size_t i = 0; i < sizeof beginnings / sizeof *beginnings; i++) {
    if (strncmp(name, beginnings[i], strlen(beginnings[i])) == 0) return true;
  }
  return false;
}

/*
 * Takes a free entry of `places` for a thread. If no entry is free, takes that of another thread, which may have ended.
 */
static struct place *take_place(uint64_t thread) {
  for (uint64_t i = 0; i < PLACES; i++) {
    struct place *place = &places[(thread + i) % PLACES];
    uint64_t found = 0;
    if (__atomic_compare_exchange_n(&place->thread, &found, thread, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
      return place;
  }
  struct place *place = &places[thread % PLACES];
  __atomic_store_n(&place->thread, thread, __ATOMIC_RELAXED);
  return place;
}

static struct place *place_of(uint64_t thread) {
  uint64_t *other = &other_threads[thread % OTHER_THREADS];
  if (__atomic_load_n(other, __ATOMIC_RELAXED) == thread) return NULL;
  for (uint64_t i = 0; i < PLACES; i++) {
    struct place *place = &places[(thread + i) % PLACES];
    if (__atomic_load_n(&place->thread, __ATOMIC_RELAXED) == thread) return place;
  }
  if (has_name_of_compiler()) return take_place(thread);
  __atomic_store_n(other, thread, __ATOMIC_RELAXED);
  return NULL;
}

/* Returns how many samples of a compilation come before its method is looked up: more with a shorter interval,
 * because each sample then stands for less memory. */
static uint64_t samples_before(void) {
  uint64_t samples = FEWEST_BEFORE * UINT64_C(524288) / (sampler_interval() | 1);
  return samples < FEWEST_BEFORE ? FEWEST_BEFORE : samples < MOST_SAMPLES ? samples : MOST_SAMPLES - 1;
}

/* Counts a sample of the thread's compilation. Looks up the compiled method once samples_before() samples are
 * already counted. Returns the new `place->compilation`. */
static uint64_t count_sample(struct place *place, uint64_t task, uint64_t bits) {
  uint64_t known = __atomic_load_n(&place->compilation, __ATOMIC_RELAXED);
  if ((known & BITS_OF_COMPILATION) != (bits & BITS_OF_COMPILATION)) known = bits & BITS_OF_COMPILATION;
  uint64_t before = known / SAMPLE & MOST_SAMPLES, needed = samples_before();
  if (before > needed) return known;
  if (before == needed) known |= method_of(task);
  known += SAMPLE;
  __atomic_store_n(&place->compilation, known, __ATOMIC_RELAXED);
  return known;
}

/* Returns 1 + the number of the method that the thread compiles; 0 if it compiles none, or the method is unknown. */
static uint64_t sampled_method(struct place *place, uint64_t structure, uint64_t own) {
  uint32_t number;
  uint64_t task = task_of(structure);
  if (!read_field(task, at.number_of_task, &number, sizeof number)) return 0;
  return count_sample(place, task, mix(mix(task, number), own)) & BITS_OF_METHOD;
}

uint64_t compilation_frame(const void *thread) {
  if (!__atomic_load_n(&is_known, __ATOMIC_ACQUIRE)) return 0;
  uint64_t structure = (uint64_t)(uintptr_t)thread - at.environment, own = mix(structure, thread_id_known()) | 1;
  struct place *place = place_of(own);
  if (!place || !begin_reading()) return 0;
  uint64_t method = sampled_method(place, structure, own);
  end_reading();
  return method ? compiled_frame((uint32_t)method - 1) : 0;
}
